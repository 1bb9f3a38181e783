import { expect, it } from 'vitest';
import { withAnswers } from '../../../src/mcp/server/answers.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { otherTasks } from '../../wait-for.ts';

const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Allow?' } };
const questions = { kind: 'input' as const, requests: { approval: question }, state: 'state-1' };

/** A session whose user answers when told to. `meta`: of the request. */
async function asked(meta: Record<string, unknown>) {
  const clock = fakeClock();
  const sent: unknown[] = [];
  const user = Promise.withResolvers<Record<string, unknown>>();
  const exchange = {
    era: 'session' as const,
    ask: () => user.promise,
    notify: (method: string, params?: object) => void sent.push({ method, params }),
    deps: { clock },
  };
  const result = withAnswers(exchange, { _meta: meta }, async (given) => ('state' in given ? { kind: 'result', given } : questions));
  // The question is asked.
  await otherTasks();
  return { clock, sent, user, result };
}

it('A call in a session reports progress while its user is asked', async () => {
  const { clock, sent, user, result } = await asked({ progressToken: 7 });
  for (let waits = 0; waits < 4; waits += 1) await clock.advance(15_000);
  expect(sent).toEqual(
    [15, 30, 45, 60].map((progress) => ({
      method: 'notifications/progress',
      params: { progressToken: 7, progress, message: 'Waiting for the answer of the user.' },
    })),
  );
  user.resolve({ action: 'accept' });
  expect(await result).toEqual({ kind: 'result', given: { responses: { approval: { action: 'accept' } }, state: 'state-1' } });
});

it('A call without a progress token reports nothing', async () => {
  const { clock, sent, user, result } = await asked({});
  await clock.advance(60_000);
  user.resolve({ action: 'accept' });
  await result;
  expect(sent).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createTranscript } from '../../../src/core/turn/transcript.ts';
import { compactIfLong } from '../../../src/engine/turn/compact.ts';
import type { StepDeps } from '../../../src/engine/turn/run-step.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { maxSummaryTokens } from '../../../src/core/turn/compaction.ts';
import { summaryTimeoutMs } from '../../../src/engine/turn/compact.ts';

const usage = { inputTokens: 900, outputTokens: 20 };
const say = (text: string): ChatEvent[] => [
  { type: 'text', text },
  { type: 'usage', usage },
  { type: 'finish', reason: 'stop', raw: 'stop' },
];
type Answer = readonly ChatEvent[] | Problem | 'silence';

/** Turns t1 to t3 exceed the budget; t4 is the current one. `answers`: those of the models, in the order of requests. */
async function compact(answers: readonly Answer[], own: { plan?: Partial<Plan>; abort?: boolean; size?: number } = {}) {
  const clock = fakeClock();
  const transcript = createTranscript();
  const appended: SessionEventBody[] = [];
  const requests: ChatRequest[] = [];
  const left = [...answers];
  for (const turn of ['t1', 't2', 't3', 't4']) {
    const size = own.size ?? 1_000;
    const text = `${turn} ${'x'.repeat(turn === 't4' ? 4 * size : size)}`;
    transcript.apply({ type: 'turn-start', turn, input: [{ type: 'text', text }], model: 'a/b' });
    if (turn !== 't4')
      transcript.apply({ type: 'turn-end', turn, status: 'completed', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } });
  }
  const deps = {
    clock,
    ids: countedIds(),
    log: keptLog(),
    directory: { provider: async (_workspace: string, name: string) => ({ name, profile: {} }) },
    model: {
      async *stream(request: ChatRequest, signal: AbortSignal) {
        requests.push(request);
        const next = left.shift() ?? 'silence';
        if (next instanceof Problem) throw next;
        if (next === 'silence') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        else yield next;
      },
    },
    // Nothing else of them is used.
  } as unknown as StepDeps;
  const plan: Plan = {
    model: 'a/b',
    fallbacks: [],
    instructions: 'Be brief.',
    allow: null,
    aliases: true,
    limits: { maxContextTokens: 1_500 },
    settings: { temperature: 1, toolChoice: 'required' },
    ...own.plan,
  };
  const append = (event: SessionEventBody): void => {
    appended.push(event);
    transcript.apply(event);
  };
  const abort = new AbortController();
  const work = compactIfLong(deps, { workspace: 'w', turn: 't4', plan, append, conversation: transcript }, 3, abort.signal);
  const settled = work.then(
    () => null,
    (error: unknown) => error,
  );
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  if (own.abort === true) abort.abort(new Error('cancelled'));
  else await clock.advance(summaryTimeoutMs);
  return { appended, requests, transcript, failure: await settled };
}

describe('a conversation over its budget', () => {
  it("has its older turns summarized by the turn's own model, and the turn's usage includes the summary", async () => {
    const { appended, requests, transcript } = await compact([say('  They counted.  ')]);
    expect(appended).toEqual([
      { type: 'usage', turn: 't4', step: 3, usage, model: 'a/b' },
      { type: 'compaction', turn: 't4', through: 't3', summary: 'They counted.' },
    ]);
    expect(requests).toMatchObject([{ model: 'b', tools: [], toolChoice: 'none', settings: { maxOutputTokens: maxSummaryTokens } }]);
    expect(JSON.stringify(requests[0]?.messages)).toMatch(/User: t1 xxx.*User: t3 xxx/);
    expect(JSON.stringify(requests[0]?.messages)).not.toContain('t4');
    expect(transcript.messages()).toMatchObject([
      { role: 'user', parts: [{ text: expect.stringContaining('They counted.') }, { text: expect.stringMatching(/^t4/) }] },
    ]);
  });

  it('is unchanged while it fits', async () => {
    const { appended, requests } = await compact([say('no')], { size: 100 });
    expect([appended, requests]).toEqual([[], []]);
  });

  it('uses the fallback when the model fails', async () => {
    const { appended } = await compact([new Problem('upstream_error', 'down'), say('from the other')], { plan: { fallbacks: ['c/d'] } });
    expect(appended).toMatchObject([{ model: 'c/d' }, { type: 'compaction', summary: 'from the other' }]);
  });

  it.each<[string, Answer[]]>([
    ['is refused', [new Problem('upstream_error', 'down')]],
    ['is empty', [say(' ')]],
    ['is not whole', [[{ type: 'text', text: 'half' }]]],
    [
      'breaks off',
      [
        [
          { type: 'text', text: 'half' },
          { type: 'error', problem: new Problem('upstream_error', 'cut').toBody(), retryable: true },
        ],
      ],
    ],
    ['does not come in time', ['silence']],
  ])('drops its oldest turns, and notes that, when the summary %s', async (_how, answers) => {
    const { appended, failure } = await compact(answers);
    expect(failure).toBeNull();
    expect(appended.at(-1)).toMatchObject({
      type: 'compaction',
      through: 't3',
      summary: expect.stringMatching(/^\[3 turns are left out here/),
    });
  });

  it('is unchanged when the turn is cancelled meanwhile', async () => {
    const { appended, failure } = await compact(['silence'], { abort: true });
    expect(failure).toMatchObject({ message: 'cancelled' });
    expect(appended).toEqual([]);
  });
});

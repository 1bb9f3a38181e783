import { expect, it } from 'vitest';
import { countedIds } from '../../fakes/runtime.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { markedDataNote } from '../../../src/core/triggers/templates/marked-data.ts';
import { dispatchRun, type DispatchDeps, type TriggeredRun } from '../../../src/engine/triggers/dispatch-run.ts';
import type { SessionPort, SessionView, SubmittedTurn, SubmitTurn } from '../../../src/ports/session.ts';

const run: TriggeredRun = {
  workspace: 'default',
  trigger: { kind: 'webhook', name: 'hook', delivery: 'd1', run: 2 },
  agent: 'doer',
  sessionKey: 'key',
  turn: 'turn-1',
  input: 'Do it.',
  isRetry: false,
};

/** One session that is created at the first request, and records what it was given. */
function world({ hasAgent = true } = {}) {
  const submitted: { caller: Principal; request: SubmitTurn }[] = [];
  const asked: { principal: Principal; request: object }[] = [];
  let made = false;
  const session = {
    submit: async (caller: Principal, request: SubmitTurn) => {
      submitted.push({ caller, request });
      return { turn: request.turn } as SubmittedTurn;
    },
    hasTurn: async (_caller: Principal, turn: string) => {
      if (!made) throw new Problem('not_found', 'There is no such session.');
      return submitted.some(({ request }) => request.turn === turn);
    },
  } as unknown as SessionPort;
  const deps: DispatchDeps = {
    planTurn: async (principal, request) => {
      asked.push({ principal, request });
      if (!hasAgent) throw new Problem('not_found', 'There is no agent "doer".');
      return { model: 'rehearsal/default' } as unknown as Plan;
    },
    limiter: null as never,
    ids: countedIds(),
    sessions: {
      create: async () => {
        made = true;
        return { id: 's1' } as SessionView;
      },
      get: () => session,
      idOf: async () => 's1',
    },
  };
  return { deps, submitted, asked };
}

it('starts the named turn, as a key that may only use its agent, in an untrusted conversation', async () => {
  const { deps, submitted, asked } = world();
  await dispatchRun(deps, run);
  const principal = { workspace: 'default', keyId: 'webhook:hook', scopes: ['chat', 'tools'], agents: ['doer'] };
  expect(asked).toEqual([{ principal, request: { agent: 'doer', instructions: markedDataNote } }]);
  expect(submitted).toMatchObject([
    {
      caller: principal,
      request: {
        turn: 'turn-1',
        input: [{ type: 'text', text: 'Do it.' }],
        plan: { trigger: run.trigger },
        taint: { untrusted: 'a delivery to the webhook hook' },
      },
    },
  ]);
});

it('trusts the text of a schedule, and adds no note about data', async () => {
  const { deps, submitted, asked } = world();
  await dispatchRun(deps, { ...run, trigger: { ...run.trigger, kind: 'schedule' } });
  expect(submitted[0]?.request.taint).toBeUndefined();
  expect(asked[0]?.request).toEqual({ agent: 'doer', instructions: undefined });
});

it('does not plan again a turn that its session has already started, even if the agent was removed', async () => {
  const { deps, submitted } = world();
  await dispatchRun(deps, run);
  const gone = { ...deps, planTurn: world({ hasAgent: false }).deps.planTurn };
  await dispatchRun(gone, { ...run, isRetry: true });
  expect(submitted).toHaveLength(1);
  // Another run of it is another turn.
  await expect(dispatchRun(gone, { ...run, turn: 'turn-2', isRetry: true })).rejects.toThrow('no agent');
});

it('starts a turn that was attempted and never arrived, even if its session was never created', async () => {
  const { deps, submitted } = world();
  await dispatchRun(deps, { ...run, isRetry: true });
  expect(submitted).toHaveLength(1);
});

it('fails retryably if the session is deleted between its creation and its turn', async () => {
  const { deps, submitted } = world();
  const submit = async (): Promise<never> => {
    throw new Problem('not_found', 'There is no such session.');
  };
  const deleted = { ...deps.sessions.get('s1'), submit };
  await expect(dispatchRun({ ...deps, sessions: { ...deps.sessions, get: () => deleted } }, run)).rejects.toMatchObject({
    code: 'internal',
  });
  await dispatchRun(deps, { ...run, isRetry: true });
  expect(submitted).toHaveLength(1);
});

import { expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type { Principal } from '../../../src/core/principal.ts';
import { markedDataNote } from '../../../src/core/triggers/templates/marked-data.ts';
import { dispatchRun, type DispatchDeps, type TriggeredRun } from '../../../src/engine/triggers/dispatch-run.ts';
import type { Session, SessionView, SubmittedTurn, SubmitTurn } from '../../../src/ports/session.ts';

const run: TriggeredRun = {
  workspace: 'default',
  trigger: { kind: 'webhook', name: 'hook', delivery: 'd1', run: 2 },
  agent: 'doer',
  sessionKey: 'key',
  turn: 'turn-1',
  input: 'Do it.',
  isRepeat: false,
};

/** One session that is made when it is first asked for, and knows what it was given. */
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
  } as unknown as Session;
  const deps: DispatchDeps = {
    planTurn: async (principal, request) => {
      asked.push({ principal, request });
      if (!hasAgent) throw new Problem('not_found', 'There is no agent "doer".');
      return { model: 'rehearsal/default' } as unknown as Plan;
    },
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

it('begins the turn that was named, as a key that may use its agent only, in a conversation that is not trusted', async () => {
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

it('what a schedule says is its administrator’s word: trusted, and without a note about data', async () => {
  const { deps, submitted, asked } = world();
  await dispatchRun(deps, { ...run, trigger: { ...run.trigger, kind: 'schedule' } });
  expect(submitted[0]?.request.taint).toBeUndefined();
  expect(asked[0]?.request).toEqual({ agent: 'doer', instructions: undefined });
});

it('what its session has already begun is not planned again, though its agent is gone', async () => {
  const { deps, submitted } = world();
  await dispatchRun(deps, run);
  const gone = { ...deps, planTurn: world({ hasAgent: false }).deps.planTurn };
  await dispatchRun(gone, { ...run, isRepeat: true });
  expect(submitted).toHaveLength(1);
  // Another run of it is another turn.
  await expect(dispatchRun(gone, { ...run, turn: 'turn-2', isRepeat: true })).rejects.toThrow('no agent');
});

it('what was tried and never arrived is begun, also where its session was never made', async () => {
  const { deps, submitted } = world();
  await dispatchRun(deps, { ...run, isRepeat: true });
  expect(submitted).toHaveLength(1);
});

it('a session that is deleted between its making and its turn is a fault that another attempt mends', async () => {
  const { deps, submitted } = world();
  const submit = async (): Promise<never> => {
    throw new Problem('not_found', 'There is no such session.');
  };
  const deleted = { ...deps.sessions.get('s1'), submit };
  await expect(dispatchRun({ ...deps, sessions: { ...deps.sessions, get: () => deleted } }, run)).rejects.toMatchObject({
    code: 'internal',
  });
  await dispatchRun(deps, { ...run, isRepeat: true });
  expect(submitted).toHaveLength(1);
});

/**
 * One turn over a log in memory, without stored results, rules, or a client that can be asked. For tests that supply their own model and
 * executor; tests with scripted replies use `one-turn.ts`.
 */
import type { AliasMap } from '../../src/core/toolset/alias-map.ts';
import type { InputPart } from '../../src/core/model/message.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import type { SessionEventBody } from '../../src/core/turn/session-event.ts';
import type { Transcript } from '../../src/core/turn/transcript.ts';
import { applyEvent } from '../../src/core/turn/fold-turn.ts';
import { beginTurn } from '../../src/core/turn/turn-state.ts';
import { runTurn, type TurnDeps, type TurnScope } from '../../src/engine/turn/run-turn.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';

export type BareTurn = {
  turn: string;
  plan: Plan;
  names: AliasMap | null;
  input: InputPart[];
  /** Both have the events of earlier turns; this turn's are appended. */
  events: SessionEventBody[];
  transcript: Transcript;
};

export async function runBareTurn(deps: TurnDeps, { turn, plan, names, input, events, transcript }: BareTurn): Promise<void> {
  const state = beginTurn(turn);
  const append = (...added: readonly SessionEventBody[]): void => {
    for (const event of added) {
      events.push(event);
      applyEvent(state, { ...event, id: events.length });
      transcript.apply(event);
    }
  };
  append({ type: 'turn-start', turn, input, model: plan.model });
  const scope: TurnScope = {
    ...{ workspace: 'default', turn, plan, names: () => names, state, append },
    messages: () => transcript.messages(),
    newest: () => events.length,
    inputs: { store: () => undefined, given: () => null },
    flushBeforeEnd: async () => undefined,
    call: {
      ...{ keyId: 'root', session: 's', turn, names: () => names, rules: [], canWait: true, results: null, timeoutMs: 30_000 },
      started: (callId, attempt) => append({ type: 'tool-start', turn, step: state.step, callId, attempt }),
      edition: { toolset: 'demo', version: 1, revision: 1, hash: 'h' },
      files: createMemoryFiles(() => 0),
      audit: () => undefined,
    },
  };
  await runTurn(deps, scope, new AbortController().signal);
}

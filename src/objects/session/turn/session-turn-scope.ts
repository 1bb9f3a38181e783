/** What a run of a turn works with in a session: its log, files, waits and journals. */
import type { InputRequired } from '../../../core/tools/mcp-input.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import type { TurnDeps, TurnScope } from '../../../engine/turn/run-turn.ts';
import { createTurnScope, type TurnScopeParts } from '../../../engine/turn/turn-scope.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import { withSkillFiles } from '../../../storage/files/skill-files.ts';
import type { CallJournals } from '../log/call-journal.ts';
import type { EventLog } from '../log/event-log.ts';
import type { AdmitWork } from '../object/admit-work.ts';
import type { WaitStore } from '../pending/wait-store.ts';
import type { TurnRun } from './turn-run.ts';

/** A client follows the turn that it submitted within this time. */
const followDelayMs = 1_000;

export type SessionTurnParts = Omit<TurnScopeParts, 'filesWith' | 'session'> & {
  deps: TurnDeps;
  session: string;
  log: EventLog;
  files: FileSystem;
  waits: WaitStore;
  journals: CallJournals;
  admitWork: AdmitWork;
};

/** Builds the scope. `append` writes events of the run, or nothing when a newer run exists. Waits while the Catalog cannot be read. */
export async function createSessionTurnScope(
  parts: SessionTurnParts,
  run: TurnRun,
  append: (...events: readonly SessionEventBody[]) => void,
): Promise<TurnScope> {
  const { deps, log, waits } = parts;
  const { plan } = run;
  const mayFollow = !run.awaitsAnswer && plan.trigger === undefined;
  return await createTurnScope({ ...parts, filesWith: (skills) => withSkillFiles(parts.files, skills) }, run, {
    append,
    newest: () => log.newest,
    // The client that submitted the turn may be about to follow it.
    isFollowed: () => log.isFollowed() || (mayFollow && deps.clock.now() - run.startedAt < followDelayMs),
    inputs: {
      store: (callId: string, input: InputRequired) => {
        // A newer run may have started before the question was stored.
        if (!run.sealed) waits.addQuestion(callId, input);
      },
      given: (callId: string) => waits.given(callId),
    },
    admitQuestions: (more: number) => parts.admitWork('pendingQuestions', more, plan.limited),
    call: { journal: parts.journals.open({ turn: run.turn, step: () => run.state.step, append, isSealed: () => run.sealed }) },
  });
}

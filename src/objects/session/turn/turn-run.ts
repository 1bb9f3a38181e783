/**
 * One run of a turn: its state in memory. A turn may have several runs, one after another (after a crash or a wait). Each is folded
 * from the log, and only the newest may write.
 */
import type { Plan } from '../../../core/turn/plan.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { Limiter } from '../../../ports/limiter.ts';
import type { SessionEvent, SessionEventBody } from '../../../core/turn/session-event.ts';
import { applyEvent } from '../../../core/turn/fold-turn.ts';
import { beginTurn, pendingQuestions, type TurnState } from '../../../core/turn/turn-state.ts';
import type { AuditedRun, UnauditedResult } from '../../../engine/turn/turn-audit.ts';
import { eventsOfTurn } from '../pending/pending.ts';
import type { OpenTurnRow, WaitReason } from './turn-store.ts';

export type TurnRun = AuditedRun & {
  plan: Plan;
  epoch: number;
  abort: AbortController;
  sealed: boolean;
  /** Milliseconds that earlier runs worked, and when this run started. */
  earlierMs: number;
  startedAt: number;
  /** As in `SubmitTurn`. */
  awaitsAnswer: boolean;
  unaudited: UnauditedResult[];
};

export function toRun({ id, plan, spentMs }: Pick<OpenTurnRow, 'id' | 'plan' | 'spentMs'>, epoch: number, now: number): TurnRun {
  return {
    turn: id,
    plan,
    epoch,
    state: beginTurn(id),
    abort: new AbortController(),
    sealed: false,
    earlierMs: spentMs,
    startedAt: now,
    awaitsAnswer: false,
    audited: new Set(),
    unaudited: [],
  };
}

/** Folds the turn from its log. Events of other turns, appended while it waited, may lie between its own. */
export function foldTurn(state: TurnState, events: Iterable<SessionEvent>): void {
  for (const event of eventsOfTurn(state.turn, events)) applyEvent(state, event);
}

export function spentMs(run: TurnRun, now: number): number {
  return run.earlierMs + Math.max(0, now - run.startedAt);
}

/** Returns the fields of the log line about an ended turn. */
export function turnLine(
  { session, keyId }: { session: string; keyId: string },
  { turn, plan, state }: TurnRun,
  { status, reason, usage }: Extract<SessionEventBody, { type: 'turn-end' }>,
): Record<string, unknown> {
  const { agent, model } = plan;
  return {
    session,
    turn,
    keyId,
    ...(agent !== undefined && { agent }),
    model,
    status,
    reason,
    steps: state.step,
    calls: state.callsSoFar,
    usage,
  };
}

type CountParts = {
  deps: { limiter?: Limiter };
  workspace: string;
  session: string;
  files: Pick<FileSystem, 'usage'>;
  waitUntil(work: Promise<void>): void;
};

/** Counts the turn for its limits while it runs, and the files that it leaves. A count that is lost expires. */
export function countTurn(
  { deps: { limiter }, workspace, session, files, waitUntil }: CountParts,
  { turn, plan: { limited } }: TurnRun,
  now: 'runs' | 'rests',
): void {
  if (limiter === undefined || limited === undefined) return;
  if (now === 'rests') waitUntil(limiter.reportStorage(workspace, limited, session, files.usage?.().bytes ?? 0));
  waitUntil(now === 'runs' ? limiter.startTurn(workspace, limited, turn, { resumes: true }) : limiter.endTurn(workspace, limited, turn));
}

export function waitReason(state: TurnState): WaitReason {
  return pendingQuestions(state).some(({ asked }) => asked !== 'client') ? 'approval_required' : 'client_tool_required';
}

/** Stores a turn and its idempotency key in one transaction, before the response. Used by `submit.ts` and `submit-chat.ts`. */
import type { ShareShortage } from '../../../core/limits/fair-share.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { HistoryJudge } from '../../../engine/policy/client-history-taint.ts';
import { shortageProblem } from '../../../engine/fair-pool.ts';
import type { Ids } from '../../../ports/runtime.ts';
import type { Sessions, SubmittedTurn, SubmitTurn } from '../../../ports/session.ts';
import type { OpenSession } from '../object/open-session.ts';
import { turnRetryMs } from './turn-place.ts';

export type SubmitContext = {
  openSession: OpenSession;
  /** The id of this session. */
  session: string;
  now(): number;
  ids: Ids;
  sessions: Sessions;
  /** Forks in progress, by idempotency key: a concurrent repeat of the request joins the same fork. */
  forks: Map<string, Promise<SubmittedTurn>>;
  /** The last request that the Catalog is asked about. */
  admissions: { last: Promise<unknown> | null };
  judgeHistory: HistoryJudge;
  /** Returns the plan with the made tools that this session has made since. Never throws. */
  withNewestMade(caller: Principal, plan: Plan): Promise<Plan>;
  /** True once the deletion of the session has begun. */
  isEnding(): boolean;
};

/** `queueShortage`: why the turn may not be queued. */
export type AcceptTurn = SubmitTurn & { queueShortage: ShareShortage | null };

/** Stores the turn and starts it if nothing else runs. `note` stores the completion record of the turn and returns its id, which is passed on. */
export function acceptTurn(context: SubmitContext, request: AcceptTurn, note: (turn: string) => string | null): SubmittedTurn {
  const { openSession, session, ids } = context;
  const turn = request.turn ?? ids.next('turn');
  const edition = request.plan.edition ?? null;
  openSession.turns.requireAcceptable();
  if (request.queueShortage !== null && !openSession.turns.isIdle()) throw shortageProblem(request.queueShortage, turnRetryMs);
  openSession.runner.requirePlace(request.plan);
  const completion = note(turn);
  if (request.idempotencyKey !== undefined)
    openSession.turns.rememberKey(request.idempotencyKey, request.bodyHash ?? '', { turn, session: null, edition, completion });
  const position = openSession.runner.accept(turn, request.plan, request.input, request.awaitsAnswer);
  return { turn, position, session, edition, completion };
}

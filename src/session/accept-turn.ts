/** Storing a turn with its idempotency key, in one block, so that whoever is answered can rely on it. Used by `submit.ts` and `submit-chat.ts`. */
import type { Message } from '../core/message.ts';
import type { Plan } from '../core/plan.ts';
import type { Principal } from '../core/principal.ts';
import type { Taint } from '../core/taint.ts';
import type { Ids } from '../ports/runtime.ts';
import type { Sessions, SubmittedTurn, SubmitTurn } from '../ports/session.ts';
import type { Room } from './room.ts';

export type SubmitDoor = {
  room: Room;
  /** Id of this session. */
  session: string;
  now(): number;
  ids: Ids;
  sessions: Sessions;
  /** Forks being made, by idempotency key: a repeat that comes meanwhile joins them. */
  forks: Map<string, Promise<SubmittedTurn>>;
  /** Marks of a history that a client brought. Never throws. */
  judge(caller: Principal, plan: Plan, history: readonly Message[]): Promise<Taint>;
  /** True once the session was deleted. */
  gone(): boolean;
};

/** `note`: what is stored of the answer beside it; its id is in what is returned. */
export function acceptTurn(door: SubmitDoor, request: SubmitTurn, note: (turn: string) => string | null): SubmittedTurn {
  const { room, session, ids } = door;
  const turn = request.turn ?? ids.next('turn');
  const edition = request.plan.edition ?? null;
  room.turns.accept(turn, request.plan, request.input);
  const completion = note(turn);
  if (request.idempotencyKey !== undefined)
    room.turns.rememberKey(request.idempotencyKey, request.bodyHash ?? '', { turn, session: null, edition, completion });
  const position = room.runner.active || room.turns.isWaiting() ? room.turns.queued() : 0;
  room.runner.pump();
  return { turn, position, session, edition, completion };
}

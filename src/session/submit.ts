/**
 * Taking in what a caller says: a turn is stored with its key before anyone is answered. A client that resends its history
 * has it matched first, and another conversation goes to a session of its own. Used by `session.ts`, which checked who asks.
 */
import type { Principal } from '../core/principal.ts';
import type { Ids } from '../ports/runtime.ts';
import type { Sessions, SubmittedTurn, SubmitTurn } from '../ports/session.ts';
import { matchHistory } from './history.ts';
import type { Room } from './room.ts';

export type SubmitDoor = {
  room: Room;
  /** Id of this session. */
  session: string;
  ids: Ids;
  sessions: Sessions;
  /** Forks being made, by idempotency key: a repeat that comes meanwhile joins them. */
  forks: Map<string, Promise<SubmittedTurn>>;
  /** True once the session was deleted. */
  gone(): boolean;
};

export async function submit(door: SubmitDoor, caller: Principal, request: SubmitTurn): Promise<SubmittedTurn> {
  const { room } = door;
  const repeated = request.idempotencyKey === undefined ? null : room.turns.findByKey(request.idempotencyKey, request.bodyHash ?? '');
  if (repeated !== null) return { position: 0, completion: null, ...repeated, session: repeated.session ?? door.session };
  // A session that is not sent a history needs none of its own here: thousands of messages stay where they are.
  const { history = [] } = request;
  const match = history.length === 0 ? 'none' : matchHistory(room.transcript.everything(), history);
  if (match === 'fork') return await fork(door, caller, request);
  if (match === 'import') {
    const event = room.log.append({ type: 'history', messages: history });
    room.transcript.apply(event);
  }
  return accept(door, request);
}

function accept({ room, session, ids }: SubmitDoor, request: SubmitTurn): SubmittedTurn {
  const turn = ids.next('turn');
  room.turns.accept(turn, request.plan, request.input);
  if (request.idempotencyKey !== undefined)
    room.turns.rememberKey(request.idempotencyKey, request.bodyHash ?? '', {
      turn,
      session: null,
      edition: request.plan.edition ?? null,
    });
  const position = room.runner.active ? room.turns.queued() : 0;
  room.runner.pump();
  return { turn, position, session, edition: request.plan.edition ?? null, completion: null };
}

/** The conversation as the client has it, in a session of its own. The key is remembered here too: repeats ask here again. */
async function fork(door: SubmitDoor, caller: Principal, request: SubmitTurn): Promise<SubmittedTurn> {
  const { room, sessions, forks } = door;
  const { idempotencyKey: key, bodyHash = '' } = request;
  const make = async (): Promise<SubmittedTurn> => {
    const made = await sessions.create(caller, room.meta.setup);
    const submitted = await sessions.get(made.id).submit(caller, request);
    if (key !== undefined && !door.gone()) room.turns.rememberKey(key, bodyHash, submitted);
    return submitted;
  };
  if (key === undefined) return await make();
  const joint = `${key} ${bodyHash}`;
  const begun = forks.get(joint) ?? make().finally(() => forks.delete(joint));
  forks.set(joint, begun);
  return await begun;
}

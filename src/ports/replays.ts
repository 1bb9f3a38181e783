/** A replay as its callers see it: implemented by a `Session` object, whose setup says that it is one. */
import type { Principal } from '../core/people/principal.ts';
import type { Replay, ReplayCase, ReplayCaseDetail, ReplayCaseStatus, ReplayRequest } from '../core/replay/replay.ts';
import type { ReplayRule } from '../core/replay/suite.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import type { Page, PageRequest } from './catalog.ts';

/** Of a turn of a session, or of a request. `reason`: why it cannot be replayed; null: it is. `rules`: those of the case itself. */
export type CaseOfReplay = {
  session: string | null;
  turn: string | null;
  request: string | null;
  rules: readonly ReplayRule[];
  reason: string | null;
};

/** `of`: hash of the request, compared when its idempotency key repeats. `left`: as in `Replay.cases`. `rules`: of all cases. */
export type StartReplay = Pick<ReplayRequest, 'with' | 'unmatched' | 'concurrency' | 'maxCost'> & {
  of: string;
  suite: Replay['suite'];
  rules: readonly ReplayRule[];
  cases: readonly CaseOfReplay[];
  left: number;
};

/** Every method throws `not_found` for other keys than that of the replay and unbound administrators. */
export interface ReplayPort {
  /** Stores the cases and starts. Repeating it has no effect; throws `idempotency_mismatch` for another request. */
  start(caller: Principal, request: StartReplay): Promise<Replay>;
  view(caller: Principal): Promise<Replay>;
  /** In the order of their numbers. */
  cases(caller: Principal, query: PageRequest & { status?: ReplayCaseStatus }): Promise<Page<ReplayCase>>;
  /** With both sides; without their contents if the recording is gone. Throws `not_found` for an unknown number. */
  readCase(caller: Principal, number: number): Promise<ReplayCaseDetail>;
  /** As `SessionPort.eventsAfter`. */
  eventsAfter(caller: Principal, after: number, waitMs: number): Promise<SessionEvent[]>;
  /** Ends it, with the cases that run; has no effect on one that has ended. */
  cancel(caller: Principal): Promise<Replay>;
  remove(caller: Principal): Promise<void>;
}

export interface Replays {
  /** `key`: as in `Sessions.create`. Returns the id of the object, in which `start` begins the replay. */
  create(owner: Principal, key?: string): Promise<string>;
  /** Throws `not_found` for an invalid id. */
  get(id: string): ReplayPort;
}

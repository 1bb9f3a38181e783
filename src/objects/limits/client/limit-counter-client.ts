/** The counters of limits: the interface of their objects, one for each key, agent and workspace with limits, and how they are found. */
import type { LimitHolder, PeriodicLimit } from '../../../core/usage-limits.ts';
import type { WaitUntil } from '../../../platform/background.ts';
import type { Clock, Logger } from '../../../ports/runtime.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { type MethodTable, objectClient, type ObjectPlace } from '../../shared/object-client.ts';
import { objectPlace } from '../../shared/object-place.ts';
import type { NoteObject } from '../../shared/workspace-objects.ts';

/** A counter sets each lease free after this: longer than a turn. Leases with calls in flight are renewed before. */
export const leaseMs = 15 * 60_000;

/** `noteObject`: so that the deletion of a workspace finds its counters. Absent: only `default` has any. */
export type LimiterDeps = {
  bindings: Pick<Bindings, 'LIMITS'>;
  clock: Clock;
  log: Logger;
  background: WaitUntil;
  noteObject?: NoteObject;
};

/**
 * `needs`: of the requests that wait, oldest first; the same number in all rows. `held`: reserved for calls in flight. `spent`: to be counted
 * as used in `period`.
 */
export type LeaseRow = { limit: PeriodicLimit; max: number; needs: readonly number[]; held: number; spent: number; period: string | null };
/** `remaining`: what is left for all after this grant. `leased`: by other isolates. */
export type LeaseGrant = {
  limit: PeriodicLimit;
  granted: number;
  remaining: number;
  used: number;
  leased: number;
  period: string;
  endsInMs: number;
};
/** `admitted`: for each request that waits, whether its needs are part of all grants. */
export type LeaseGrants = { grants: readonly LeaseGrant[]; admitted: readonly boolean[] };
/** A part of a cost that is held until the counter has counted the cost. */
export type Charging = readonly { limit: PeriodicLimit; amount: number }[];

/** `holder`: of the leases, an isolate. */
export type LeaseExchange = { holder: string; rows: readonly LeaseRow[] };
export type CostCharge = { id: string; part: number; costs: readonly { day: string; cost: number }[] };
/** `max`: null for a turn that continues, which is never refused. */
export type TurnStart = { turn: string; max: number | null };
export type CounterState = {
  used: readonly { limit: PeriodicLimit; used: number; resetsAt: number }[];
  running: number;
  storedBytes: number;
};

export interface LimitCounterPort {
  lease(exchange: LeaseExchange): Promise<LeaseGrants>;
  /** `released`: cost that the holder has reserved for them. A report that was charged before is not charged again. */
  charge(charges: readonly CostCharge[], holder: string, released: Charging): Promise<void>;
  startTurn(start: TurnStart): Promise<{ isTaken: boolean; running: number }>;
  endTurn(turn: string): Promise<void>;
  /** Replaces what a session stores, and returns the sum of all sessions. */
  storeBytes(session: string, bytes: number): Promise<number>;
  state(limits: readonly PeriodicLimit[]): Promise<CounterState>;
  /** Forgets everything. */
  erase(): Promise<void>;
}

const counterTimeoutMs = 2_000;

const safe = { retry: true } as const;

const methods: MethodTable<LimitCounterPort> = {
  // What was spent would be counted twice.
  lease: { retry: false },
  ...{ charge: safe, startTurn: safe, endTurn: safe, storeBytes: safe, state: safe, erase: safe },
};

export function limitCounter(
  { LIMITS }: Pick<Bindings, 'LIMITS'>,
  workspace: string,
  holder: LimitHolder,
  note?: NoteObject,
): LimitCounterPort {
  const { of, name } = holder;
  return counterAt(objectPlace(LIMITS, workspace, 'limits', `${of}:${name}`, async (id) => await note?.(workspace, 'limits', id)));
}

/** Erases a counter, by the name of its object. */
export async function eraseCounter({ LIMITS }: Pick<Bindings, 'LIMITS'>, name: string): Promise<void> {
  await counterAt({ namespace: LIMITS, id: () => LIMITS.idFromName(name) }).erase();
}

function counterAt(place: ObjectPlace): LimitCounterPort {
  return objectClient({ ...place, what: 'The counter of limits', timeoutMs: counterTimeoutMs }, methods);
}

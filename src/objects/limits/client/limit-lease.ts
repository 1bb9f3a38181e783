/**
 * What an isolate may still spend of one holder's periodic limits: leases of its counter, in memory. Most requests take from a lease
 * without a call; requests that find too little wait for one exchange together, in which the counter decides who of them is admitted. An
 * isolate that dies has spent at most its leases. A lease is an amount; work that one holder has for a time is claimed (`due-job.ts`).
 */
import { withTimeout } from '../../../engine/timeout.ts';
import { systemClock } from '../../../platform/clock.ts';
import { countsAtAdmission, isBudget, type PeriodicLimit } from '../../../core/usage-limits.ts';
import { type Charging, type LeaseGrant, type LeaseGrants, leaseMs, type LeaseRow } from './limit-counter-client.ts';

/** One exchange. The counter uses its own SQLite, so a longer delay is an error. */
const exchangeMs = 2_000;
/** A holder without anything left asks again after this, since other isolates return what they do not use. */
const refusedMs = 1_000;
/** Calls in flight usually return a part of what they have reserved within this. */
const inFlightRetryMs = 5_000;
/** Requests that one exchange decides on; others wait for the next one. */
const maxNeeds = 500;

/** `need`: what is taken now: the most that will be used. */
export type LeaseWant = { limit: PeriodicLimit; max: number; need: number };
/** `reserved`: for calls in flight, which return what they do not use. */
export type Shortage = { limit: PeriodicLimit; max: number; used: number; reserved: number; retryAfterMs: number };
export type Taken = { limit: PeriodicLimit; amount: number; period: string | null };
type TakeOutcome = { taken: readonly Taken[] } | { short: Shortage };
export type LeaseStatus = { limit: PeriodicLimit; max: number; remaining: number; resetsInMs: number };

/**
 * Of one limit. `reserved`: for calls in flight; `spent`: not reported yet; `uncharged`: cost that usage reports will count, of which
 * `charging` is on its way.
 */
type Lease = {
  period: string | null;
  granted: number;
  reserved: number;
  spent: number;
  uncharged: number;
  charging: number;
  since: number;
  endsAt: number;
  resetsAt: number;
  /** As of the last exchange, of all isolates. */
  left: number;
  used: number;
  leased: number;
  refusedUntil: number;
};

/** `outcome`: null until an exchange has decided. `isOver`: nothing waits for it any more. */
type Waiter = { wants: readonly LeaseWant[]; outcome: TakeOutcome | null; isOver: boolean };

export class HolderLease {
  readonly #exchange: (rows: readonly LeaseRow[]) => Promise<LeaseGrants>;
  readonly #now: () => number;
  readonly #leases = new Map<PeriodicLimit, Lease>();
  readonly #maxima = new Map<PeriodicLimit, number>();
  #waiting: Waiter[] = [];
  #flushes = false;
  #runs = 0;
  #current: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(exchange: (rows: readonly LeaseRow[]) => Promise<LeaseGrants>, now: () => number) {
    this.#exchange = exchange;
    this.#now = now;
  }

  /** Takes all of it, or returns the limit that is short. Throws if the counter cannot be reached. */
  async take(wants: readonly LeaseWant[]): Promise<TakeOutcome> {
    for (const { limit, max } of wants) this.#maxima.set(limit, max);
    const missing = wants.find((want) => !this.#has(want));
    if (missing === undefined) return { taken: this.#reserve(wants) };
    if (this.#now() < this.#of(missing.limit).refusedUntil) return { short: this.#shortage(missing) };
    const waiter: Waiter = { wants, outcome: null, isOver: false };
    this.#waiting.push(waiter);
    try {
      while (waiter.outcome === null) await this.#renew();
      return waiter.outcome;
    } finally {
      waiter.isOver = true;
    }
  }

  /**
   * Replaces what was taken by what was used. Cost stays reserved until it is charged, unless no report will have it (`isUnreported`). What a
   * limit counts at admission is forgotten with the minute of the admission.
   */
  settle(taken: readonly Taken[], used: (limit: PeriodicLimit) => number, isUnreported = false): void {
    for (const { limit, amount, period } of taken) {
      const lease = this.#of(limit);
      if (countsAtAdmission(limit) && lease.period !== period) continue;
      lease.reserved = Math.max(0, lease.reserved - amount);
      if (isBudget(limit) && !isUnreported) lease.uncharged += used(limit);
      else lease.spent += used(limit);
    }
  }

  /** For limits of which nothing is reserved. */
  spend(limit: PeriodicLimit, max: number, amount: number): void {
    this.#maxima.set(limit, max);
    this.#of(limit).spent += amount;
  }

  /** Returns what this isolate holds of a cost that is sent to the counter. Call `endCharge` with it afterwards. */
  startCharge(cost: number): Charging {
    return (['dailyCost', 'monthlyCost'] as const).flatMap((limit) => {
      const lease = this.#leases.get(limit);
      const amount = lease === undefined ? 0 : Math.min(cost, lease.uncharged - lease.charging);
      if (lease === undefined || amount <= 0) return [];
      lease.charging += amount;
      return [{ limit, amount }];
    });
  }

  /** `isCounted`: the counter counts it as used from now on. */
  endCharge(charging: Charging, isCounted: boolean): void {
    for (const { limit, amount } of charging) {
      const lease = this.#of(limit);
      lease.charging -= amount;
      if (!isCounted) continue;
      lease.uncharged -= amount;
      lease.granted -= amount;
    }
  }

  /** Reports what was spent, renews what is reserved, and returns what is left over of leases of tokens, seconds and cost. */
  async flush(): Promise<void> {
    if (![...this.#leases.keys()].some((limit) => limit !== 'requestsPerMinute')) return;
    this.#flushes = true;
    await this.#renew();
  }

  status(): LeaseStatus[] {
    const now = this.#now();
    return [...this.#leases].flatMap(([limit, { left, resetsAt }]) => {
      const max = this.#maxima.get(limit);
      if (max === undefined) return [];
      return [{ limit, max, remaining: Math.max(0, left + this.#available(limit)), resetsInMs: Math.max(0, resetsAt - now) }];
    });
  }

  get isIdle(): boolean {
    return [...this.#leases.values()].every(({ reserved, spent, uncharged }) => reserved === 0 && spent === 0 && uncharged === 0);
  }

  #has({ limit, need }: LeaseWant): boolean {
    return this.#available(limit) >= need;
  }

  #reserve(wants: readonly LeaseWant[]): Taken[] {
    return wants.map(({ limit, need }) => {
      const lease = this.#of(limit);
      lease.reserved += need;
      return { limit, amount: need, period: lease.period };
    });
  }

  #shortage({ limit, max }: Pick<LeaseWant, 'limit' | 'max'>): Shortage {
    const { used, leased, reserved: own, spent, uncharged, resetsAt } = this.#of(limit);
    // The counter does not know yet what was taken since the last exchange. A request is used when it is admitted.
    const known = used + spent + uncharged + (limit === 'requestsPerMinute' ? own : 0);
    const reserved = limit === 'requestsPerMinute' ? 0 : leased + own;
    const untilReset = Math.max(refusedMs, resetsAt - this.#now());
    return {
      limit,
      max,
      used: known,
      reserved,
      retryAfterMs: known < max && reserved > 0 ? Math.min(inFlightRetryMs, untilReset) : untilReset,
    };
  }

  /** The lease. When its time is over, only what is held is left of it; also if the clock was set back. */
  #of(limit: PeriodicLimit): Lease {
    const known = this.#leases.get(limit);
    const now = this.#now();
    if (known !== undefined && now >= known.since && now < known.endsAt) return known;
    const { reserved = 0, spent = 0, uncharged = 0, charging = 0, period = null } = known ?? {};
    const lease = known ?? ({} as Lease);
    Object.assign(lease, {
      ...{ period, reserved, spent, uncharged, charging, granted: reserved + spent + uncharged },
      ...{ since: now, endsAt: now + leaseMs / 2, resetsAt: now, left: 0, used: 0, leased: 0, refusedUntil: 0 },
    } satisfies Lease);
    this.#leases.set(limit, lease);
    return lease;
  }

  #available(limit: PeriodicLimit): number {
    const { granted, reserved, spent, uncharged } = this.#of(limit);
    return granted - reserved - spent - uncharged;
  }

  /** Waits for the next exchange, which begins when the current one has ended and serves all who wait by then. */
  async #renew(): Promise<void> {
    this.#next ??= this.#begin(this.#current);
    const joined = this.#next;
    await withTimeout(systemClock, joined, exchangeMs, () => {
      // The platform may have ended the request that began it.
      if (this.#next === joined) this.#next = null;
      this.#current = null;
      throw new Error('a counter of limits did not respond in time');
    });
  }

  async #begin(current: Promise<void> | null): Promise<void> {
    await current?.catch(() => undefined);
    const running = this.#run();
    this.#current = running;
    this.#next = null;
    await running;
  }

  async #run(): Promise<void> {
    const run = ++this.#runs;
    const open = this.#waiting.filter(({ isOver }) => !isOver);
    const waiting = open.slice(0, maxNeeds);
    this.#waiting = open.slice(maxNeeds);
    const askedAt = this.#now();
    const rows = this.#rows(waiting);
    const { grants, admitted } = await this.#exchange(rows);
    // A later exchange has returned what this one has granted.
    if (run !== this.#runs) throw new Error('an exchange with a counter of limits was overtaken');
    for (const grant of grants) {
      const row = rows.find(({ limit }) => limit === grant.limit);
      if (row !== undefined) this.#apply(row, grant, askedAt);
    }
    for (const [index, waiter] of waiting.entries()) {
      if (admitted[index] === true && waiter.isOver) this.#giveUp(waiter.wants);
      if (waiter.isOver) continue;
      const missing = admitted[index] === true ? undefined : waiter.wants.find((want) => !this.#has(want));
      waiter.outcome = missing === undefined ? { taken: this.#reserve(waiter.wants) } : { short: this.#shortage(missing) };
    }
  }

  #rows(waiting: readonly Waiter[]): LeaseRow[] {
    const limits = new Set(waiting.flatMap(({ wants }) => wants.map(({ limit }) => limit)));
    if (this.#flushes) for (const limit of this.#leases.keys()) if (limit !== 'requestsPerMinute') limits.add(limit);
    this.#flushes = false;
    return [...limits].map((limit) => {
      const lease = this.#of(limit);
      const { reserved, spent, uncharged, period } = lease;
      // The rest goes back to the counter with this exchange.
      lease.granted = reserved + spent + uncharged;
      const needs = waiting.map(({ wants }) => wants.find((want) => want.limit === limit)?.need ?? 0);
      return { limit, max: this.#maxima.get(limit) ?? 0, needs, held: reserved + uncharged, spent, period };
    });
  }

  #apply(row: LeaseRow, { limit, granted, remaining, used, leased, period, endsInMs }: LeaseGrant, askedAt: number): void {
    const lease = this.#of(limit);
    lease.spent -= row.spent;
    lease.granted += granted - row.spent;
    if (countsAtAdmission(limit) && lease.period !== period) {
      lease.granted -= lease.reserved + lease.spent;
      lease.reserved = 0;
      lease.spent = 0;
    }
    const ownEndsAt = askedAt + Math.min(endsInMs, leaseMs / 2);
    const refusedUntil = granted <= 0 && row.needs.some((need) => need > 0) ? askedAt + refusedMs : 0;
    Object.assign(lease, {
      period,
      since: askedAt,
      endsAt: ownEndsAt,
      resetsAt: askedAt + endsInMs,
      left: remaining,
      used,
      leased,
      refusedUntil,
    });
  }

  /** What was granted for a request that no longer waits is used by no other, since it may exceed what is left. */
  #giveUp(wants: readonly LeaseWant[]): void {
    for (const { limit, need } of wants) this.#of(limit).granted -= need;
  }
}

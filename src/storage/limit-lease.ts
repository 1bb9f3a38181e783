/**
 * What one isolate may still spend of one holder's periodic limits: leases of its counter, in memory. Most requests take from a lease
 * without a call; requests that find too little wait for one exchange together. An isolate that dies has spent at most its leases.
 */
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import { isBudget, type PeriodicLimit } from '../core/usage-limits.ts';

/** A counter sets each lease free after this: longer than a turn, and than any request to a provider. */
export const leaseMs = 15 * 60_000;
/** One exchange. The counter uses its own SQLite, so a longer delay is an error. */
const exchangeMs = 2_000;
/** A holder without anything left asks again after this, since other isolates return what they do not use. */
const refusedMs = 1_000;

/** `held`: reserved for calls in flight. `spent`: to be counted as used. */
export type LeaseRow = { limit: PeriodicLimit; max: number; need: number; held: number; spent: number };
/** `remaining`: what is left for all after this grant. */
export type LeaseGrant = { limit: PeriodicLimit; granted: number; remaining: number; used: number; endsInMs: number };
/** `need`: what is taken now. More is settled later. */
export type LeaseWant = { limit: PeriodicLimit; max: number; need: number };
export type Shortage = { limit: PeriodicLimit; max: number; used: number; retryAfterMs: number };
export type Taken = { limit: PeriodicLimit; amount: number };
export type LeaseStatus = { limit: PeriodicLimit; max: number; remaining: number; resetsInMs: number };

/** Of one limit. `reserved`: for calls in flight; `spent`: not reported yet; `uncharged`: cost that usage reports will count. */
type Lease = {
  granted: number;
  reserved: number;
  spent: number;
  uncharged: number;
  since: number;
  endsAt: number;
  resetsAt: number;
  /** As of the last exchange, of all isolates. */
  left: number;
  used: number;
  refusedUntil: number;
};

export class HolderLease {
  readonly #exchange: (rows: readonly LeaseRow[]) => Promise<readonly LeaseGrant[]>;
  readonly #now: () => number;
  readonly #leases = new Map<PeriodicLimit, Lease>();
  readonly #maxima = new Map<PeriodicLimit, number>();
  readonly #needs = new Map<PeriodicLimit, number>();
  #current: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(exchange: (rows: readonly LeaseRow[]) => Promise<readonly LeaseGrant[]>, now: () => number) {
    this.#exchange = exchange;
    this.#now = now;
  }

  /** Takes all of it, or returns the limit that is short. Throws if the counter cannot be reached. */
  async take(wants: readonly LeaseWant[]): Promise<{ taken: readonly Taken[] } | { short: Shortage }> {
    for (const { limit, max } of wants) this.#maxima.set(limit, max);
    let missing = wants.filter(({ limit, need }) => this.#available(limit) < need);
    if (missing.length > 0) {
      const refused = missing.find(({ limit }) => this.#isRefused(limit));
      if (refused !== undefined) return { short: this.#shortage(refused) };
      await this.#renew(missing);
      // A call may need more than is left: it is the last one.
      missing = wants.filter(({ limit }) => this.#available(limit) < (limit === 'requestsPerMinute' ? 1 : Number.MIN_VALUE));
    }
    const [short] = missing;
    if (short !== undefined) return { short: this.#shortage(short) };
    const taken = wants.map(({ limit, need }) => ({ limit, amount: Math.min(need, this.#available(limit)) }));
    for (const { limit, amount } of taken) this.#of(limit).reserved += amount;
    return { taken };
  }

  /** Replaces what was taken by what was used. Cost stays reserved until it is charged. */
  settle(taken: readonly Taken[], used: (limit: PeriodicLimit) => number): void {
    for (const { limit, amount } of taken) {
      const lease = this.#of(limit);
      lease.reserved = Math.max(0, lease.reserved - amount);
      if (isBudget(limit)) lease.uncharged += used(limit);
      else lease.spent += used(limit);
    }
  }

  /** For limits of which nothing is reserved. */
  spend(limit: PeriodicLimit, max: number, amount: number): void {
    this.#maxima.set(limit, max);
    this.#of(limit).spent += amount;
  }

  /** Returns the part of a cost that this isolate has reserved: the counter counts it as used from now on. */
  release(cost: number): number {
    const amounts = (['dailyCost', 'monthlyCost'] as const).map((limit) => {
      const lease = this.#leases.get(limit);
      if (lease === undefined) return 0;
      const amount = Math.min(cost, lease.uncharged);
      lease.uncharged -= amount;
      lease.granted -= amount;
      return amount;
    });
    return Math.max(...amounts);
  }

  /** Reports what was spent, and returns what is left over of leases of tokens, seconds and cost. */
  async flush(): Promise<void> {
    const limits = [...this.#leases.keys()].filter((limit) => limit !== 'requestsPerMinute');
    if (limits.length > 0) await this.#renew(limits.map((limit) => ({ limit, need: 0 })));
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

  #shortage({ limit, max }: Pick<LeaseWant, 'limit' | 'max'>): Shortage {
    const { used, reserved, spent, uncharged, resetsAt } = this.#of(limit);
    // The counter does not know yet what was taken since the last exchange.
    return { limit, max, used: used + reserved + spent + uncharged, retryAfterMs: Math.max(1_000, resetsAt - this.#now()) };
  }

  #of(limit: PeriodicLimit): Lease {
    const known = this.#leases.get(limit);
    const now = this.#now();
    // Also replaced if the clock was set back.
    if (known !== undefined && now >= known.since && now < known.endsAt) return known;
    const { reserved = 0, spent = 0, uncharged = 0 } = known ?? {};
    const held = reserved + uncharged;
    const fresh: Lease = {
      ...{ granted: held, reserved, uncharged, since: now, endsAt: now + leaseMs / 2, resetsAt: now, left: 0, used: 0, refusedUntil: 0 },
      // Requests belong to the minute in which they were admitted.
      spent: limit === 'requestsPerMinute' ? 0 : spent,
    };
    this.#leases.set(limit, fresh);
    return fresh;
  }

  #available(limit: PeriodicLimit): number {
    const { granted, reserved, spent, uncharged } = this.#of(limit);
    return granted - reserved - spent - uncharged;
  }

  #isRefused(limit: PeriodicLimit): boolean {
    return this.#now() < this.#of(limit).refusedUntil;
  }

  /** Waits for the next exchange, which begins when the current one has ended and serves all who wait by then. */
  async #renew(needs: readonly { limit: PeriodicLimit; need: number }[]): Promise<void> {
    for (const { limit, need } of needs) this.#needs.set(limit, (this.#needs.get(limit) ?? 0) + need);
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
    const needs = [...this.#needs];
    this.#needs.clear();
    const askedAt = this.#now();
    const rows = needs.map(([limit, need]) => {
      const { reserved, spent, uncharged } = this.#of(limit);
      return { limit, max: this.#maxima.get(limit) ?? 0, need, held: reserved + uncharged, spent };
    });
    for (const grant of await this.#exchange(rows)) {
      const row = rows.find(({ limit }) => limit === grant.limit);
      if (row === undefined) continue;
      const lease = this.#of(grant.limit);
      lease.spent = Math.max(0, lease.spent - row.spent);
      lease.granted = row.held + grant.granted;
      lease.since = askedAt;
      lease.resetsAt = askedAt + grant.endsInMs;
      lease.endsAt = askedAt + Math.min(grant.endsInMs, leaseMs / 2);
      lease.left = grant.remaining;
      lease.used = grant.used;
      lease.refusedUntil = row.need > 0 && grant.granted <= 0 ? askedAt + refusedMs : 0;
    }
  }
}

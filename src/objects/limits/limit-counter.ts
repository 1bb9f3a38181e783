/**
 * The `LimitCounter` Durable Object: counts what one key, agent or workspace has used of its limits. Isolates take leases of what is left and
 * spend them without asking (`objects/limits/client/limit-counters.ts`). It knows no limits: requests carry them. Its own clock decides on periods.
 *
 * - `used(limit_name, period, amount)`: what was used in a period. Of minutes, only the newest period is stored; days and months for 62 days.
 * - `leases(holder, limit_name, period, amount, expires_at)`: what an isolate may still spend, or has reserved for calls in flight.
 * - `turns(turn, expires_at)`: turns that run or are queued.
 * - `counted(id, part, at)`: reports whose cost was counted. Deleted after 3 days.
 * - `stored(session, bytes)`: what each session stores; a row is deleted with its session.
 */
import { DurableObject } from 'cloudflare:workers';
import { countsAtAdmission, endOfPeriod, isBudget, type PeriodicLimit, periodOf } from '../../core/usage-limits.ts';
import { type Outcome, toOutcome } from '../../core/problem.ts';
import { isClockSettled } from '../../platform/settled-clock.ts';
import type { ArgumentsOf, Handlers, RemotePort, ResultOf } from '../../ports/remote.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { type LeaseGrant, leaseMs, type LimitCounterPort } from './client/limit-counter-client.ts';
import { migrate, schemaSteps } from '../shared/migrate.ts';

const dayMs = 86_400_000;
const sweepMs = dayMs / 4;
const usedMs = 62 * dayMs;
const countedMs = 3 * dayMs;
/** An isolate gets this part of what is left, so that it can admit many requests with one lease, and few are lost with it. */
const leaseShare = 16;

export const limitMigrations = schemaSteps(
  `
  CREATE TABLE used (limit_name TEXT!, period TEXT!, amount REAL!, at INTEGER!, PRIMARY KEY (limit_name, period)) WITHOUT ROWID;
  CREATE TABLE leases (holder TEXT!, limit_name TEXT!, period TEXT!, amount REAL!, expires_at INTEGER!, PRIMARY KEY (holder, limit_name)) WITHOUT ROWID;
  CREATE TABLE turns (turn TEXT PRIMARY KEY, expires_at INTEGER!) WITHOUT ROWID;
  CREATE TABLE counted (id TEXT PRIMARY KEY, part INTEGER!, at INTEGER!) WITHOUT ROWID;
  CREATE INDEX counted_by_time ON counted (at);
  CREATE TABLE stored (session TEXT PRIMARY KEY, bytes INTEGER!) WITHOUT ROWID;
  `,
);

export class LimitCounter extends DurableObject<Bindings> implements RemotePort<LimitCounterPort> {
  readonly #sql: SqlStorage;
  #isArmed = false;
  #isMigrated = false;

  readonly #port: Handlers<LimitCounterPort> = {
    lease: async ({ holder, rows }) => {
      await this.#arm();
      const now = Date.now();
      return this.ctx.storage.transactionSync(() => {
        this.#dropExpired(now);
        const found = rows.map((row) => {
          const { limit, max, held, spent, period: spentIn } = row;
          const period = periodOf(limit, now);
          const isLate = spentIn !== null && spentIn !== period && countsAtAdmission(limit);
          if (spent > 0 && !isLate) this.#add(limit, period, spent, now);
          const used = this.#used(limit, period);
          const leased = this.#leasedByOthers(holder, limit, period);
          return { ...row, period, used, leased, free: max - used - leased - held };
        });
        const { admitted, needed } = admit(found);
        const grants = found.map(({ limit, held, period, used, leased, free, needs }, index): LeaseGrant => {
          const least = needed[index] ?? 0;
          const granted = needs.some((need) => need > 0) ? Math.max(least, shareOf(limit, free)) : 0;
          this.#setLease(holder, limit, period, held + granted, now);
          return { limit, granted, remaining: Math.max(0, free - granted), used, leased, period, endsInMs: endOfPeriod(limit, now) - now };
        });
        return { grants, admitted };
      });
    },
    charge: async (charges, holder, released) => {
      await this.#arm();
      const now = Date.now();
      this.ctx.storage.transactionSync(() => {
        for (const { id, part, costs } of charges) {
          if (!this.#isNewReport(id, part, now)) continue;
          for (const { day, cost } of costs) {
            this.#add('dailyCost', day, cost, now);
            this.#add('monthlyCost', day.slice(0, 7), cost, now);
          }
        }
        // What was reserved for these calls is now counted as used.
        const release = 'UPDATE leases SET amount = max(0, amount - ?) WHERE holder = ? AND limit_name = ?';
        for (const { limit, amount } of released) this.#sql.exec(release, amount, holder, limit);
      });
      // The sender deletes its rows after this.
      await this.ctx.storage.sync();
    },
    startTurn: async ({ turn, max }) => {
      await this.#arm();
      const now = Date.now();
      return this.ctx.storage.transactionSync(() => {
        this.#dropExpired(now);
        const { running } = this.#sql.exec<{ running: number }>('SELECT count(*) AS running FROM turns WHERE turn <> ?', turn).one();
        if (max !== null && running >= max) return { isTaken: false, running };
        const insert = 'INSERT INTO turns (turn, expires_at) VALUES (?1, ?2) ON CONFLICT (turn) DO UPDATE SET expires_at = ?2';
        this.#sql.exec(insert, turn, now + leaseMs);
        return { isTaken: true, running: running + 1 };
      });
    },
    endTurn: async (turn) => {
      this.#sql.exec('DELETE FROM turns WHERE turn = ?', turn);
    },
    storeBytes: async (session, bytes) => {
      await this.#arm();
      const insert = 'INSERT INTO stored (session, bytes) VALUES (?1, ?2) ON CONFLICT (session) DO UPDATE SET bytes = ?2';
      if (bytes > 0) this.#sql.exec(insert, session, bytes);
      else this.#sql.exec('DELETE FROM stored WHERE session = ?', session);
      return this.#storedBytes();
    },
    state: async (limits) => {
      const now = Date.now();
      const { running } = this.#sql.exec<{ running: number }>('SELECT count(*) AS running FROM turns WHERE expires_at > ?', now).one();
      return {
        used: limits.map((limit) => ({ limit, used: this.#used(limit, periodOf(limit, now)), resetsAt: endOfPeriod(limit, now) })),
        running,
        storedBytes: this.#storedBytes(),
      };
    },
    erase: async () => {
      await this.ctx.storage.deleteAll();
      await this.ctx.storage.deleteAlarm();
      this.#isMigrated = false;
      this.#isArmed = false;
    },
  };

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
  }

  /** A schema that this release does not know is a problem of the call, like any other. */
  run<Name extends keyof LimitCounterPort>(
    method: Name,
    args: ArgumentsOf<LimitCounterPort, Name>,
  ): Promise<Outcome<ResultOf<LimitCounterPort, Name>>> {
    return toOutcome(() => {
      this.#migrate();
      return this.#port[method](...args);
    });
  }

  /** Deletes what is too old. Sets the next alarm first: the platform's own retries are finite. */
  override async alarm(): Promise<void> {
    this.#migrate();
    const now = Date.now();
    await this.ctx.storage.setAlarm(now + sweepMs);
    this.#dropExpired(now);
    if (!(await isClockSettled())) return;
    this.#sql.exec('DELETE FROM used WHERE at < ?', now - usedMs);
    this.#sql.exec('DELETE FROM counted WHERE at < ?', now - countedMs);
  }

  #migrate(): void {
    if (!this.#isMigrated) migrate(this.ctx.storage, limitMigrations);
    this.#isMigrated = true;
  }

  async #arm(): Promise<void> {
    if (this.#isArmed) return;
    const at = await this.ctx.storage.getAlarm();
    // One that is further ahead was set while the clock was.
    if (at === null || at > Date.now() + sweepMs) await this.ctx.storage.setAlarm(Date.now() + sweepMs);
    this.#isArmed = true;
  }

  /** Also drops what expires too far ahead: the clock was set back since. */
  #dropExpired(now: number): void {
    this.#sql.exec('DELETE FROM leases WHERE expires_at NOT BETWEEN ?1 + 1 AND ?2', now, now + leaseMs);
    this.#sql.exec('DELETE FROM turns WHERE expires_at NOT BETWEEN ?1 + 1 AND ?2', now, now + leaseMs);
  }

  #isNewReport(id: string, part: number, now: number): boolean {
    const insert = `INSERT INTO counted (id, part, at) VALUES (?1, ?2, ?3)
      ON CONFLICT (id) DO UPDATE SET part = ?2, at = ?3 WHERE ?2 > part`;
    return this.#sql.exec(insert, id, part, now).rowsWritten > 0;
  }

  #add(limit: PeriodicLimit, period: string, amount: number, now: number): void {
    if (!isBudget(limit)) this.#sql.exec('DELETE FROM used WHERE limit_name = ? AND period <> ?', limit, period);
    const insert = `INSERT INTO used (limit_name, period, amount, at) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (limit_name, period) DO UPDATE SET amount = amount + ?3, at = ?4`;
    this.#sql.exec(insert, limit, period, amount, now);
  }

  #used(limit: PeriodicLimit, period: string): number {
    const query = 'SELECT amount FROM used WHERE limit_name = ? AND period = ?';
    return this.#sql.exec<{ amount: number }>(query, limit, period).toArray()[0]?.amount ?? 0;
  }

  #leasedByOthers(holder: string, limit: PeriodicLimit, period: string): number {
    const query = 'SELECT total(amount) AS amount FROM leases WHERE limit_name = ? AND period = ? AND holder <> ?';
    return this.#sql.exec<{ amount: number }>(query, limit, period, holder).one().amount;
  }

  #setLease(holder: string, limit: PeriodicLimit, period: string, amount: number, now: number): void {
    if (amount <= 0) {
      this.#sql.exec('DELETE FROM leases WHERE holder = ? AND limit_name = ?', holder, limit);
      return;
    }
    const insert = `INSERT INTO leases (holder, limit_name, period, amount, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (holder, limit_name) DO UPDATE SET period = ?3, amount = ?4, expires_at = ?5`;
    this.#sql.exec(insert, holder, limit, period, amount, now + leaseMs);
  }

  #storedBytes(): number {
    return this.#sql.exec<{ bytes: number }>('SELECT total(bytes) AS bytes FROM stored').one().bytes;
  }
}

/**
 * Decides which of the requests that wait are admitted, oldest first: those that find something left of every limit that they need. The last
 * one may need more than is left, and then nothing is left for others until calls in flight have returned what they do not use: a limit is
 * exceeded by one request at most. `needed`: the sums of the needs of those that are admitted, by row.
 */
function admit(rows: readonly { needs: readonly number[]; free: number }[]): { admitted: boolean[]; needed: number[] } {
  const needed = rows.map(() => 0);
  const admitted = (rows[0]?.needs ?? []).map((_need, request) => {
    const hasRoom = rows.every(({ needs, free }, index) => (needs[request] ?? 0) <= 0 || (needed[index] ?? 0) < free);
    if (hasRoom) for (const [index, { needs }] of rows.entries()) needed[index] = (needed[index] ?? 0) + (needs[request] ?? 0);
    return hasRoom;
  });
  return { admitted, needed };
}

/** Returns how much to lease of what is free. Requests are whole numbers. */
function shareOf(limit: PeriodicLimit, free: number): number {
  const share = Math.max(0, free) / leaseShare;
  return limit === 'requestsPerMinute' ? Math.floor(share) : share;
}

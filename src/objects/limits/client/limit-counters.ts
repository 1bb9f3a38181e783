/**
 * The limiter, which asks the counters of limits as rarely as it can (`limit-lease.ts`). Without limits it does nothing, and is not loaded
 * (`lazy-limiter.ts`). When a counter cannot be reached, rates and turns are admitted, and budgets are refused.
 */
import { Problem } from '../../../core/problem.ts';
import {
  isBudget,
  type LimitedHolder,
  nameHolder,
  type LimitHolder,
  type LimitName,
  periodicLimits,
  type PeriodicLimit,
} from '../../../core/usage-limits.ts';
import { createDelayedFlush } from '../../../engine/delayed-flush.ts';
import type { UsageReport } from '../../../core/records/usage.ts';
import type { CallEstimate, Limiter, LimitUse, Reservation } from '../../../ports/limiter.ts';
import { type CostCharge, limitCounter, type LimitCounterPort, type LimiterDeps } from './limit-counter-client.ts';
import { HolderLease, type LeaseWant, type Shortage, type Taken } from './limit-lease.ts';
import { createReservedCalls, type ReservedPart } from './reserved-calls.ts';

/** What a call has used is reported after this, with what else was used meanwhile. */
const flushMs = 1_000;
/** A flush whose request ended before it was sent is taken over by the next one after this time. */
const takeOverMs = 5_000;
const maxHolders = 5_000;
/** A turn that was refused because others run may be sent again after this. */
const turnRetryMs = 5_000;
/** A person has to delete something first. */
const storageRetryMs = 60_000;

/** `wake`: exchanges the leases soon, in the background. */
type Own = { holder: LimitHolder; lease: HolderLease; wake(): void };

export function createLimiter({ bindings, clock, log, background, noteObject }: LimiterDeps): Limiter {
  const isolate = crypto.randomUUID();
  const owns = new Map<string, Own>();
  const calls = createReservedCalls(clock);

  const counterOf = (workspace: string, holder: LimitHolder): LimitCounterPort => limitCounter(bindings, workspace, holder, noteObject);

  const ownOf = (workspace: string, holder: LimitHolder): Own => {
    const key = `${workspace}:${holder.of}:${holder.name}`;
    const known = owns.get(key);
    if (known !== undefined) return known;
    if (owns.size >= maxHolders) for (const [name, { lease }] of owns) if (lease.isIdle) owns.delete(name);
    const lease = new HolderLease(async (rows) => await counterOf(workspace, holder).lease({ holder: isolate, rows }), clock.now);
    const own: LimitHolder = { of: holder.of, name: holder.name };
    const failed = (error: unknown): void => log.error('limits could not be counted', { ...own, cause: String(error) });
    const flush = (): Promise<void> => lease.flush();
    const wake = createDelayedFlush({ clock, background, delayMs: flushMs, takeOverMs, next: 'taken', flush, failed });
    const added = { holder: own, lease, wake };
    owns.set(key, added);
    return added;
  };

  /** Returns undefined if the counter cannot be reached. `failure`: for the log. */
  const ask = async <T>(
    workspace: string,
    { of, name }: LimitHolder,
    failure: string,
    call: (counter: LimitCounterPort) => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await call(counterOf(workspace, { of, name }));
    } catch (error) {
      log.error(failure, { of, name, cause: String(error) });
      return undefined;
    }
  };

  /** Takes what is needed of the limits of one holder after the other. `use`: called for each counter that was reached. Throws the refusal. */
  const takeEach = async (
    workspace: string,
    holders: readonly LimitedHolder[],
    needs: Partial<Record<PeriodicLimit, number>>,
    use: (own: Own, taken: readonly Taken[]) => void,
  ): Promise<void> => {
    for (const { limits, ...holder } of holders) {
      const wants = wantsOf(limits, needs);
      if (wants.length === 0) continue;
      const own = ownOf(workspace, holder);
      calls.settleLost();
      const answer = await own.lease.take(wants).catch((error: unknown) => {
        log.error('limits could not be counted', { ...own.holder, cause: String(error) });
        if (wants.some(({ limit }) => isBudget(limit))) throw unreachable(own.holder);
        return null;
      });
      if (answer === null) continue;
      if ('short' in answer) throw refusal(own.holder, answer.short);
      use(own, answer.taken);
    }
  };

  const charge = async (workspace: string, holder: LimitHolder, charges: readonly CostCharge[], cost: number): Promise<void> => {
    const lease = owns.get(`${workspace}:${holder.of}:${holder.name}`)?.lease;
    const charging = lease?.startCharge(cost) ?? [];
    let isCounted = false;
    try {
      await counterOf(workspace, holder).charge(charges, isolate, charging);
      isCounted = true;
    } finally {
      lease?.endCharge(charging, isCounted);
    }
  };

  return {
    countRequest: (workspace, holders) =>
      takeEach(workspace, holders, { requestsPerMinute: 1 }, ({ lease }, taken) => lease.settle(taken, () => 1)),

    status: (workspace, holders) =>
      holders.flatMap(({ of, name }) =>
        ownOf(workspace, { of, name })
          .lease.status()
          .map((status) => ({ of, name, ...status })),
      ),

    reserveCall,

    async reserveCost(workspace, holders, cost) {
      const budgets = holders.map(({ limits: { dailyCost, monthlyCost }, ...holder }) => ({
        ...holder,
        limits: { ...(dailyCost !== undefined && { dailyCost }), ...(monthlyCost !== undefined && { monthlyCost }) },
      }));
      const own = budgets.filter(({ limits }) => Object.keys(limits).length > 0);
      return own.length === 0 ? undefined : await reserveCall(workspace, own, { tokens: 0, cost });
    },

    requireSandboxSeconds: (workspace, holders) =>
      takeEach(workspace, holders, { sandboxSecondsPerMinute: 0.001 }, ({ lease }, taken) => lease.settle(taken, () => 0)),

    spendSandboxSeconds(workspace, holders, seconds) {
      for (const { limits: own, ...holder } of holders) {
        if (own.sandboxSecondsPerMinute === undefined || seconds <= 0) continue;
        const spender = ownOf(workspace, holder);
        spender.lease.spend('sandboxSecondsPerMinute', own.sandboxSecondsPerMinute, seconds);
        spender.wake();
      }
    },

    async startTurn(workspace, holders, turn, { resumes } = { resumes: false }) {
      const counted: LimitedHolder[] = [];
      for (const holder of holders) {
        const max = holder.limits.concurrentTurns;
        if (max === undefined) continue;
        const start = { turn, max: resumes ? null : max };
        const answer = await ask(workspace, holder, 'a turn could not be counted', (counter) => counter.startTurn(start));
        if (answer?.isTaken === false) {
          await endTurn(workspace, counted, turn);
          throw refusal(holder, { limit: 'concurrentTurns', max, used: answer.running, retryAfterMs: turnRetryMs });
        }
        counted.push(holder);
      }
    },

    endTurn: (workspace, holders, turn) => endTurn(workspace, holders, turn),

    async requireStorage(workspace, holders) {
      for (const holder of holders) {
        const max = holder.limits.storageBytes;
        if (max === undefined) continue;
        const state = await ask(workspace, holder, 'stored bytes could not be read', (counter) => counter.state([]));
        if (state === undefined || state.storedBytes < max) continue;
        throw refusal(holder, { limit: 'storageBytes', max, used: state.storedBytes, retryAfterMs: storageRetryMs });
      }
    },

    async reportStorage(workspace, holders, session, bytes) {
      for (const holder of holders) {
        if (holder.limits.storageBytes === undefined) continue;
        await ask(workspace, holder, 'stored bytes could not be counted', (counter) => counter.storeBytes(session, bytes));
      }
    },

    async charge(workspace, reports) {
      for (const { holder, charges, cost } of chargesOf(reports)) await charge(workspace, holder, charges, cost);
    },

    async uses(workspace, holders) {
      const read = holders.map(async (holder) => {
        const { used, running, storedBytes } = await counterOf(workspace, holder).state(periodicLimits);
        const of = (limit: LimitName): Pick<LimitUse, 'used' | 'resetsAt'> => {
          if (limit === 'concurrentTurns') return { used: running, resetsAt: null };
          if (limit === 'storageBytes') return { used: storedBytes, resetsAt: null };
          return used.find((row) => row.limit === limit) ?? { used: 0, resetsAt: null };
        };
        return Object.entries(holder.limits).flatMap(([name, max]) => {
          const limit = name as LimitName;
          if (max === undefined) return [];
          const { used: amount, resetsAt } = of(limit);
          return [{ of: holder.of, name: holder.name, limit, max, used: amount, resetsAt }];
        });
      });
      return (await Promise.all(read)).flat();
    },
  };

  async function reserveCall(workspace: string, holders: readonly LimitedHolder[], estimate: CallEstimate): Promise<Reservation> {
    const { tokens, cost } = estimate;
    const parts: ReservedPart[] = [];
    try {
      const needs = { tokensPerMinute: tokens, dailyCost: cost, monthlyCost: cost };
      await takeEach(workspace, holders, needs, ({ lease, wake }, taken) => void parts.push({ lease, taken, flush: wake }));
    } catch (error) {
      calls.start(parts, estimate).settle({ tokens: 0, cost: 0 });
      throw error;
    }
    return calls.start(parts, estimate);
  }

  async function endTurn(workspace: string, holders: readonly LimitedHolder[], turn: string): Promise<void> {
    for (const holder of holders) {
      if (holder.limits.concurrentTurns === undefined) continue;
      await ask(workspace, holder, 'the end of a turn could not be counted', (counter) => counter.endTurn(turn));
    }
  }
}

function wantsOf(limits: LimitedHolder['limits'], needs: Partial<Record<PeriodicLimit, number>>): LeaseWant[] {
  return periodicLimits.flatMap((limit) => {
    const [max, need] = [limits[limit], needs[limit]];
    return max === undefined || need === undefined ? [] : [{ limit, max, need }];
  });
}

/** Groups the costs of reports by the holders of budgets that they count for. */
function chargesOf(reports: readonly UsageReport[]): { holder: LimitHolder; charges: CostCharge[]; cost: number }[] {
  const groups = new Map<string, { holder: LimitHolder; charges: CostCharge[]; cost: number }>();
  for (const { id, part, models, tools, budgets = [] } of reports) {
    const costs = [...models, ...tools].flatMap(({ day, cost = 0 }) => (cost > 0 ? [{ day, cost }] : []));
    if (costs.length === 0) continue;
    for (const holder of budgets) {
      const key = `${holder.of}:${holder.name}`;
      const group = groups.get(key) ?? { holder, charges: [], cost: 0 };
      group.charges.push({ id, part, costs });
      group.cost += costs.reduce((sum, { cost }) => sum + cost, 0);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** The sentence names the limit and what to do. */
function refusal({ of, name }: LimitHolder, { limit, max, used, reserved = 0, retryAfterMs }: Shortage | TurnShortage): Problem {
  const whose = nameHolder({ of, name });
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const isReserved = used < max && reserved > 0;
  const why = isReserved
    ? `The limit ${limit} of ${whose} (${max}) is reserved: ${round(used)} is used, and calls in flight may use ${round(reserved)}. Try again in ${seconds} s, or set a lower limit of output tokens, of which each request reserves less.`
    : `The limit ${limit} of ${whose} is reached (${max}). Try again in ${seconds} s, or ask an administrator to raise it.`;
  return new Problem('rate_limited', why, { limit, of, name, max, used, ...(reserved > 0 && { reserved }), retryAfterMs });
}

function round(amount: number): number {
  return Number(amount.toPrecision(4));
}

type TurnShortage = Omit<Shortage, 'limit' | 'reserved'> & { limit: LimitName; reserved?: number };

function unreachable({ of, name }: LimitHolder): Problem {
  const detail = `The budget of ${nameHolder({ of, name })} cannot be checked at the moment, so nothing is spent. Try again.`;
  return new Problem('unavailable', detail, { of, name, retryAfterMs: turnRetryMs });
}

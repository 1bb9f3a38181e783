/**
 * Limits of requests, tokens, cost, turns and storage, for a key, an agent or a workspace: what they are called, and the period that each
 * one counts in. Pure. `limit-counter/` counts; `objects/limits/client/limit-counters.ts` decides.
 */
import * as z from 'zod';
import type { GrantedShare, ShareBounds } from './limits/fair-share.ts';
import { poolBounds, storedBounds } from './limits/pools.ts';
import type { Problem } from './problem.ts';

const minuteMs = 60_000;
const maxCount = 1_000_000_000;
const maxAmount = 1_000_000_000;
const maxStorageBytes = 1_000_000_000_000_000;
const maxPlaces = 100_000;

const places = (what: string, { perKey, perWorkspace }: Pick<ShareBounds, 'perKey' | 'perWorkspace'>) =>
  z
    .int()
    .min(1)
    .max(maxPlaces)
    .optional()
    .meta({ description: `${what} Default: ${perKey} of a key, ${perWorkspace} of a workspace.` });

/** These bounds can be changed, since a key may belong to a backend with many users. An agent has none of them. */
const placeLimits = {
  concurrentRequests: places('Requests at the same time, until their response begins, in each location.', poolBounds.requests),
  openStreams: places('Responses and event logs that are streamed at the same time, in each location.', poolBounds.streams),
  pendingQuestions: places('Approvals and requests for input that wait at the same time, in all sessions.', storedBounds.pendingQuestions),
} as const;

/** Members of `limits` of an agent. A limit that is left out does not exist. */
export const agentUsageLimits = {
  requestsPerMinute: z.int().min(1).max(maxCount).optional().meta({ description: 'Requests per minute. For an agent: turns per minute.' }),
  tokensPerMinute: z.int().min(1).max(maxCount).optional().meta({
    description: 'Input and output tokens of models per minute: of the requests that are sent to models in that minute.',
  }),
  concurrentTurns: z.int().min(1).max(10_000).optional().meta({
    description: 'Turns that run or are queued at the same time. Turns that wait for a person do not count.',
  }),
  dailyCost: z.number().positive().max(maxAmount).optional().meta({
    description: 'Cost of models and tools per day (UTC), in the unit of the providers’ `prices`. Models without a price are refused.',
  }),
  monthlyCost: z.number().positive().max(maxAmount).optional().meta({ description: 'The same per calendar month (UTC).' }),
  storageBytes: z.int().min(1).max(maxStorageBytes).optional().meta({ description: 'Bytes of the files of all its sessions.' }),
  sandboxSecondsPerMinute: z.number().positive().max(maxCount).optional().meta({
    description:
      'Seconds per minute that code of made tools and of `run_code`, scripts of `bash`, and the work on arguments, results and events compute.',
  }),
} as const;

/** Members of `limits` of a key and a workspace. */
export const usageLimits = { ...agentUsageLimits, ...placeLimits } as const;

export const UsageLimits = z.strictObject(usageLimits).meta({ id: 'UsageLimits', example: { requestsPerMinute: 60, dailyCost: 5 } });
export type UsageLimits = z.infer<typeof UsageLimits>;
export type LimitName = keyof UsageLimits;

/** Whose limits they are. The name of a workspace, the id of a key, or the name of an agent. */
export const limitHolders = ['workspace', 'key', 'agent'] as const;
export type LimitHolder = { of: (typeof limitHolders)[number]; name: string };
export type LimitedHolder = LimitHolder & { limits: UsageLimits };

/** Returns a holder as a sentence names it. */
export function nameHolder({ of, name }: LimitHolder): string {
  return of === 'workspace' ? 'the workspace' : `the ${of} "${name}"`;
}

/** Limits that count an amount in a period; the others count what exists at a time. */
export const periodicLimits = [
  'requestsPerMinute',
  'tokensPerMinute',
  'sandboxSecondsPerMinute',
  'dailyCost',
  'monthlyCost',
] as const satisfies readonly LimitName[];
export type PeriodicLimit = (typeof periodicLimits)[number];

/** Budgets hold across restarts and are counted from usage reports; a counter that cannot be reached refuses them. */
export function isBudget(limit: PeriodicLimit): limit is 'dailyCost' | 'monthlyCost' {
  return limit === 'dailyCost' || limit === 'monthlyCost';
}

/** What these count belongs to the minute in which a request was admitted, however long it takes. */
export function countsAtAdmission(limit: PeriodicLimit): limit is 'requestsPerMinute' | 'tokensPerMinute' {
  return limit === 'requestsPerMinute' || limit === 'tokensPerMinute';
}

/** The limits of the key of a request, and those of its workspace; absent: it has none. */
export type CallerLimits = { key?: UsageLimits; workspace?: UsageLimits };

/** Returns whose limits apply to a request of this caller. `agent`: that it uses. */
export function limitedHolders(
  caller: { workspace: string; keyId: string; limits?: CallerLimits },
  agent?: { name: string; limits: UsageLimits | null },
): LimitedHolder[] {
  const { key, workspace } = caller.limits ?? {};
  return [
    ...(key === undefined ? [] : [{ of: 'key' as const, name: caller.keyId, limits: key }]),
    ...(agent === undefined || agent.limits === null ? [] : [{ of: 'agent' as const, name: agent.name, limits: agent.limits }]),
    ...(workspace === undefined ? [] : [{ of: 'workspace' as const, name: caller.workspace, limits: workspace }]),
  ];
}

/** Returns what a key and its workspace were granted of something that all share. */
export function grantedShare(limited: readonly LimitedHolder[] = [], limit: LimitName): GrantedShare {
  const maxOf = (holder: LimitHolder['of']): number | undefined => limited.find(({ of }) => of === holder)?.limits[limit];
  return { key: maxOf('key'), workspace: maxOf('workspace') };
}

/** Returns the name of the period that contains `now`, in UTC: the number of the minute, `2026-01-31`, or `2026-01`. */
export function periodOf(limit: PeriodicLimit, now: number): string {
  if (limit === 'dailyCost') return new Date(now).toISOString().slice(0, 10);
  if (limit === 'monthlyCost') return new Date(now).toISOString().slice(0, 7);
  return String(Math.floor(now / minuteMs));
}

/** Returns when the period that contains `now` ends. */
export function endOfPeriod(limit: PeriodicLimit, now: number): number {
  const date = new Date(now);
  if (limit === 'dailyCost') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1);
  if (limit === 'monthlyCost') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return (Math.floor(now / minuteMs) + 1) * minuteMs;
}

/** Whether a refusal is temporary: calls in flight have reserved what is left, and return what they do not use. */
export function isReserved({ extra: { used, max, reserved } }: Problem): boolean {
  return typeof reserved === 'number' && Number(used) < Number(max);
}

/** Returns the field of a usage report that names whose budgets its cost counts for. */
export function withBudgets(holders: readonly LimitedHolder[] = []): { budgets?: readonly LimitHolder[] } {
  const budgets = holders.flatMap(({ of, name, limits }) =>
    limits.dailyCost === undefined && limits.monthlyCost === undefined ? [] : [{ of, name }],
  );
  return budgets.length === 0 ? {} : { budgets };
}

/** Returns those of these limits that are set; null if none is. Limits of an agent are among others of its `limits`. */
export function limitsAmong(given: Readonly<Record<string, unknown>> | undefined): UsageLimits | null {
  if (given === undefined) return null;
  const set = Object.entries(given).filter(([name, value]) => Object.hasOwn(usageLimits, name) && value !== undefined);
  // The values were parsed with the schema above, or with one that contains its members.
  return set.length === 0 ? null : (Object.fromEntries(set) as UsageLimits);
}

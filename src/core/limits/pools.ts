/**
 * How much of what all callers share one key and one workspace may use at a time (`fair-share.ts`), in the memory of an isolate: on one
 * machine that is the whole service, on Cloudflare one of many. `docs/limits.md` has the table.
 */
import type { ShareBounds } from './fair-share.ts';

const SECOND = 1_000;

export type PoolBounds = ShareBounds & {
  /** The name of the bound in a refusal. */
  limit: string;
  /** What is counted, in the plural. */
  what: string;
  /** After this time a place counts as free: the platform can end a request without running any more of its code. */
  holdMs: number;
  /** How long a caller waits for a place, in order of arrival; absent: it is refused at once. */
  waitMs?: number;
  /** Callers of one key that wait; further ones are refused at once. */
  maxWaiting?: number;
};

export const poolBounds = {
  /** Questions to the guards of workspaces. A guard that calls Moniker would otherwise ask itself without end. */
  guardQuestions: {
    ...{ limit: 'guardQuestions', what: 'questions to the guard', perKey: 50, perWorkspace: 100, total: 400 },
    ...{ holdMs: 30 * SECOND, waitMs: 5 * SECOND, maxWaiting: 500 },
  },
} as const satisfies Record<string, PoolBounds>;

/**
 * How much of what all callers share one key and one workspace may use at a time (`fair-share.ts`), in the memory of an isolate: on one
 * machine that is the whole service, on Cloudflare one of many. Also how much of what is stored. `docs/limits.md` has the table.
 */
import type { ShareBounds } from './fair-share.ts';
import { KB, MB, MINUTE, SECOND } from './units.ts';

export type PoolBounds = ShareBounds & {
  /** After this time a place counts as free: the platform can end a request without running any more of its code. */
  holdMs: number;
  /** How long a caller waits for a place, in order of arrival; absent: it is refused at once. */
  waitMs?: number;
  /** Callers of one key that wait; further ones are refused at once. */
  maxWaiting?: number;
};

/** Longer than a request can take: a turn works for ten minutes. */
const longestRequestMs = 11 * MINUTE;

export const poolBounds = {
  /** A backend may have one key for all of its users: what a machine with two cores serves at a time is some hundreds. */
  requests: {
    ...{ limit: 'concurrentRequests', what: 'requests in progress', perKey: 500, perWorkspace: 2_000, total: 8_000 },
    holdMs: longestRequestMs,
  },
  /** An open stream costs some 100 kB. Its key is checked every ten seconds, which renews its place. */
  streams: { limit: 'openStreams', what: 'open streams', perKey: 500, perWorkspace: 2_000, total: 8_000, holdMs: MINUTE },
  /**
   * Bytes of bodies: of a request from the first one until its response begins, of a large response until it is sent. Parsed, they take several
   * times as much of the memory.
   */
  bodies: {
    ...{ limit: 'bodyBytes', what: 'bytes of bodies', perKey: 64 * MB, perWorkspace: 96 * MB, total: 128 * MB },
    ...{ holdMs: longestRequestMs, waitMs: 5 * SECOND, maxWaiting: 500 },
  },
  /** The same without a key, by address, until they are read: of webhooks and sign-ins, and of refused requests, which are dropped. */
  strangerBodies: {
    ...{ limit: 'bodyBytes', what: 'bytes of bodies', perKey: 4 * MB, perWorkspace: 4 * MB, total: 16 * MB },
    ...{ holdMs: MINUTE, waitMs: 5 * SECOND, maxWaiting: 1_000 },
  },
  /** A turn that works takes up to 1 MB. The alarm of its session renews its place every five seconds. */
  turns: { limit: 'concurrentTurns', what: 'turns in progress', perKey: 500, perWorkspace: 2_000, total: 8_000, holdMs: MINUTE },
  /** Calls of tools, without those nested in them: requests to servers, scripts and code of this isolate. Most end within a second. */
  calls: {
    ...{ limit: 'concurrentCalls', what: 'tool calls in progress', perKey: 200, perWorkspace: 800, total: 3_200 },
    ...{ holdMs: longestRequestMs, waitMs: 10 * SECOND, maxWaiting: 500 },
  },
  /** Questions to the guards of workspaces. A guard that calls Moniker would otherwise ask itself without end. */
  guardQuestions: {
    ...{ limit: 'guardQuestions', what: 'questions to the guard', perKey: 50, perWorkspace: 100, total: 400 },
    ...{ holdMs: 30 * SECOND, waitMs: 5 * SECOND, maxWaiting: 500 },
  },
  /** Calls of MCP clients that stay open for an answer of a person, who may take ten minutes. Each holds its machine meanwhile. */
  openQuestions: {
    ...{ limit: 'openQuestions', what: 'calls that wait for an answer', perKey: 6, perWorkspace: 12, total: 30 },
    holdMs: longestRequestMs,
  },
  /** Memory of the machines that run code of made tools and of `run_code`, at least 1.6 MB each. An isolate has 128 MB. */
  machineBytes: {
    ...{ limit: 'sandboxBytes', what: 'bytes of running code', perKey: 36 * MB, perWorkspace: 48 * MB, total: 64 * MB },
    ...{ holdMs: longestRequestMs, waitMs: 10 * SECOND, maxWaiting: 200 },
  },
  /** Reports of usage that are to be sent, and the characters of logged bodies in them: a request to a shard carries 32 MB. */
  usageReports: {
    ...{ limit: 'usageReports', what: 'reports of usage', perKey: 2_000, perWorkspace: 3_500, total: 5_000 },
    holdMs: longestRequestMs,
  },
  loggedBodies: {
    ...{ limit: 'loggedBodies', what: 'characters of logged bodies', perKey: 4 * MB, perWorkspace: 6 * MB, total: 8 * MB },
    holdMs: longestRequestMs,
  },
} as const satisfies Record<string, PoolBounds>;

/** What one stream of a turn has open in workerd: two connections with two descriptors each, and the database of its session, which is three files. */
const filesPerStream = 7;
/** Open in any case: databases of the workspace and of the seven classes, the log, and connections of probes and of the launcher. */
const filesInAnyCase = 256;
const boundByFiles: ReadonlySet<string> = new Set(['requests', 'streams', 'turns', 'calls']);

/** Returns the bounds on a machine where the runtime may have so many files open; null: not known. */
export function poolBoundsFor(maxOpenFiles: number | null): Readonly<Record<keyof typeof poolBounds, PoolBounds>> {
  if (maxOpenFiles === null) return poolBounds;
  const most = Math.max(1, Math.floor((maxOpenFiles - filesInAnyCase) / filesPerStream));
  const entries = Object.entries(poolBounds).map(([name, bounds]) => [
    name,
    boundByFiles.has(name) ? { ...bounds, total: Math.min(bounds.total, most) } : bounds,
  ]);
  // The same names.
  return Object.fromEntries(entries) as Record<keyof typeof poolBounds, PoolBounds>;
}

/** Writes of documents, one after another, in the object of a workspace. Each may hold 1 MB. */
export const queuedWrites = {
  ...{ limit: 'concurrentWrites', what: 'changes in progress', perKey: 50, perWorkspace: 70, total: Number.POSITIVE_INFINITY },
  holdMs: longestRequestMs,
} as const satisfies PoolBounds;

/** The least that a body counts for: its connection and its buffers. */
export const minBodyPlaceBytes = 16 * KB;

/** Of what sessions store; the Catalog of the workspace counts it (`objects/catalog/records/open-work.ts`). */
export const storedBounds = {
  /** Approvals and requests for input. A list of thousands is not read by anybody, and a question stores up to 1 MB of arguments. */
  pendingQuestions: {
    ...{ limit: 'pendingQuestions', what: 'questions that wait for an answer', perKey: 2_000, perWorkspace: 10_000 },
    total: Number.POSITIVE_INFINITY,
  },
  /** Turns that were accepted behind another turn of their session. */
  queuedTurns: {
    ...{ limit: 'queuedTurns', what: 'queued turns', perKey: 2_000, perWorkspace: 10_000 },
    total: Number.POSITIVE_INFINITY,
  },
} as const satisfies Record<string, ShareBounds>;

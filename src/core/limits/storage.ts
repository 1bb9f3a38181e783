/** Limits of isolate caches and of the Catalog. Part of `limits` (`core/limits/limits.ts`). */
import { MB } from './units.ts';

export const storageLimits = {
  // Project files (contract §9).
  /** Of one request: all of them are written in one transaction, which nothing else interrupts. */
  maxProjectDocuments: 2_000,
  maxProjects: 100,
  /** The platform ends an object that blocks other requests for 30 s. */
  applyTimeoutMs: 25_000,
  /** Of one document, in the report of a plan. */
  maxShownChanges: 50,
  /** Of all documents of a plan together. */
  maxPlanChanges: 2_000,

  // Isolate caches (contract §4, §9).
  principalTtlMs: 30_000,
  /** Check interval of the key of an open stream, and maximum age of the result: including the check itself less than `principalTtlMs`. */
  streamKeyCheckMs: 10_000,
  cancelWaitMs: 5_000,
  maxPolicyRules: 1_000,
  /** Hosts that approvals made known to the workspace. The one that was approved longest ago is forgotten first. */
  maxKnownHosts: 1_000,
  knownHostTtlMs: 365 * 24 * 60 * 60_000,
  /** Rules that a session remembers. */
  maxSessionRules: 100,
  /** Effects that the response of a policy test lists; all of them are evaluated. */
  maxListedPolicyEffects: 200,

  // The Catalog and the read side (contract §4, §9, §11).
  /** One RPC to the Catalog; it uses its own SQLite, so a longer delay is an error. */
  catalogTimeoutMs: 10_000,
  /** Cache time of published documents in an isolate; KV adds up to 85 s. */
  publishedTtlMs: 5_000,
  /** A name that was not found is looked up again after this. */
  missTtlMs: 5_000,
  /** The isolate that wrote reads from the Catalog, not from KV, for this long, since KV may return the old pointer until then. */
  freshReadMs: 90_000,
  maxCachedNames: 10_000,
  /** Bodies on one page of a list: keeps a page far below the 32 MB limit of an RPC. */
  listPageBytes: 4 * MB,
  /** KV accepts one write per second to a key. */
  publishIntervalMs: 1_000,
  maxPublishBackoffMs: 60_000,

  /** A compiled edition that no version has is deleted after this: a turn that waits for approval may still need it for a week. */
  unusedEditionTtlMs: 30 * 24 * 60 * 60_000,
  /** At least; the row of a deleted document, which keeps its version numbers from being reused, with the versions of a deleted toolset. */
  tombstoneTtlMs: 90 * 24 * 60 * 60_000,
  /** Sessions that are asked at a time whether they were used. */
  sweptSessionsPerRun: 20,
  /** A shard of the audit that is larger loses its oldest rows: an object has 10 GB at most, and calls that cannot be recorded fail. */
  maxAuditShardBytes: 8_000 * MB,
  /** A shard of usage that is larger loses its oldest rows of the request log; the daily sums stay. At 10 GB it could count nothing more. */
  maxUsageShardBytes: 8_000 * MB,
  /** One object that is exported to R2. */
  exportTimeoutMs: 30_000,

  // Marks of the taint rule (`core/policy/taint.ts`) outside of sessions.
  answerMarksPerSweep: 100,
} as const;

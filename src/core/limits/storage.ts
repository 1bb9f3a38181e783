/** Limits of isolate caches and of the Catalog. Part of `limits` (`core/limits.ts`). */
import { MB } from './units.ts';

export const storageLimits = {
  // Isolate caches (DESIGN §4, §9).
  pointerTtlMs: 5_000,
  pointerCacheTtlSeconds: 30,
  editionCacheTtlSeconds: 86_400,
  editionCacheBytes: 32 * MB,
  /** Tables narrowed by agents' allow-lists that are cached for one edition. */
  maxNarrowedViews: 64,
  principalTtlMs: 30_000,
  /**
   * Check interval of the key of an open stream, and maximum age of the result: including the check itself less than
   * `principalTtlMs`.
   */
  streamKeyCheckMs: 10_000,
  streamKeyAgeMs: 15_000,
  /**
   * Canceling the turns of a revoked key: sessions at a time, retries of one, how long a DELETE waits for it, and when it is
   * repeated.
   */
  maxCancelledSessionsAtOnce: 20,
  maxCancelAttempts: 5,
  cancelWaitMs: 5_000,
  cancelAgainMs: 35_000,
  /** Rows of a deleted trigger that are erased in one transaction. */
  maxErasedRows: 2_000,
  /** After a deletion the Catalog closes its database when it has been idle for this long. */
  closeAfterMs: 250,
  maxCachedPrincipals: 10_000,
  providerTtlMs: 5_000,
  rulesTtlMs: 5_000,
  maxPolicyRules: 1_000,
  /** Effects that the response of a policy test lists; all of them are evaluated. */
  maxListedPolicyEffects: 200,

  // The Catalog and the read side (DESIGN §4, §9, §11).
  /** One RPC to the Catalog; it uses its own SQLite, so a longer delay is an error. */
  catalogTimeoutMs: 10_000,
  /** Retries of a turn's reads from the Catalog or the stores next to it: with the waits, 8 s in total. */
  maxCatalogRetries: 4,
  /** The wait before the first retry; each further wait is doubled. */
  catalogRetryMs: 500,
  /** KV responds in tens of milliseconds; after this the Catalog is asked. */
  kvReadTimeoutMs: 3_000,
  /** A name that was not found is looked up again after this. */
  missTtlMs: 5_000,
  /** The isolate that wrote reads from the Catalog, not from KV, for this long, since KV may return the old pointer until then. */
  freshReadMs: 90_000,
  /** `toolset@version`: the pointer only changes by a revision, which may be visible this late. */
  pinnedPointerTtlMs: 60_000,
  maxCachedNames: 10_000,
  /** The part of a session's setup that an isolate caches: with `maxCachedNames` of them 40 MB. */
  maxCachedSetupCharacters: 4_000,
  /** A parsed edition with its tables takes about this many times its bytes. */
  parsedEditionSizeFactor: 3,
  /** Bodies on one page of a list: keeps a page far below the 32 MB limit of an RPC. */
  listPageBytes: 4 * MB,
  /** A write waits this long for its publication before it responds; the outbox continues without it. */
  publishWaitMs: 2_000,
  publishTimeoutMs: 15_000,
  /** Queued writes; each may hold a document of 1 MB. */
  maxQueuedWrites: 50,
  /** KV may return an old value, or none, for about this long after a write. A miss later than that is a loss. */
  publishSettleMs: 5 * 60_000,
  /** KV accepts one write per second to a key. */
  publishIntervalMs: 1_000,
  maxPublishBackoffMs: 60_000,
  maxPublishesPerAlarm: 50,
  /** A tombstone saves readers of a deleted name a Catalog lookup; after it expires, a miss costs one. */
  tombstoneTtlSeconds: 86_400,
  maxAuditRowsPerAppend: 200,

  // Marks of the taint rule (`core/policy/taint.ts`) outside of sessions.
  /** Marks of an answer that a client may resend as history; after that the history counts as unknown. */
  answerMarksMs: 30 * 24 * 60 * 60_000,
  /** Answers of one key; the oldest are deleted, in steps of `answerMarksPerSweep`. */
  maxAnswerMarks: 10_000,
  answerMarksPerSweep: 100,
  /** Assistant messages of one history that are looked up; a longer history counts as unknown. */
  maxRecalledAnswers: 2_000,
  /** The end of an answer waits this long until its marks are stored. */
  answerMarksWaitMs: 2_000,
  /** Marks of the direct calls of a key with one toolset, after the last call that added a mark. */
  directMarksMs: 24 * 60 * 60_000,
  /** Existing marks are not written again within this time, so they may last up to this much longer. */
  directMarksRefreshMs: 60 * 60_000,
} as const;

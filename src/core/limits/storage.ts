/** Bounds of what isolates keep, and the Catalog. Read as a part of `limits` (`core/limits.ts`). */
import { MB } from './units.ts';

export const storageLimits = {
  // Isolate caches (DESIGN §4, §9).
  pointerTtlMs: 5_000,
  pointerCacheTtlSeconds: 30,
  editionCacheTtlSeconds: 86_400,
  editionCacheBytes: 32 * MB,
  /** Tables narrowed by agents' lists that are kept for one edition. */
  maxNarrowedViews: 64,
  principalTtlMs: 30_000,
  /** How often the key of an open stream is checked, and how old the verdict may be: with the check itself less than `principalTtlMs`. */
  streamKeyCheckMs: 10_000,
  streamKeyAgeMs: 15_000,
  /** Cancelling what a revoked key began: sessions at a time, retries of one, how long a DELETE waits for it, and when it is done once more. */
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
  /** Effects that the answer to a policy test lists; all of them are judged. */
  maxToldEffects: 200,

  // The Catalog and the read side (DESIGN §4, §9, §11).
  /** One RPC to the Catalog; it works from its own SQLite, so a longer silence is a fault. */
  catalogTimeoutMs: 10_000,
  /** What a turn reads of the Catalog, or the stores beside it, is asked for again this often: with the waits, for 8 s. */
  maxCatalogRetries: 4,
  /** Before the first; each wait is twice the one before. */
  catalogRetryMs: 500,
  /** KV answers in tens of milliseconds; what it has not said by then is asked of the Catalog. */
  kvReadTimeoutMs: 3_000,
  /** A name that was not found is asked again after this. */
  missTtlMs: 5_000,
  /** The isolate that wrote asks the Catalog, not KV, for this long: KV may show the old pointer until then. */
  freshReadMs: 90_000,
  /** `toolset@version`: the pointer can only change by a revision, which may be this late. */
  pinnedPointerTtlMs: 60_000,
  maxCachedNames: 10_000,
  /** Of what a session was made with, as an isolate remembers it: with `maxCachedNames` of them 40 MB. */
  maxRememberedSetupCharacters: 4_000,
  /** A parsed edition with its tables weighs about this many times its bytes. */
  parsedEditionWeight: 3,
  /** Bodies on one page of a list: keeps a page far from the 32 MB that an RPC may carry. */
  listPageBytes: 4 * MB,
  /** A write waits this long for its publishing before it answers; the outbox goes on without it. */
  publishWaitMs: 2_000,
  publishTimeoutMs: 15_000,
  /** Writes that wait for their turn; each may hold a document of 1 MB. */
  maxQueuedWrites: 50,
  /** KV may show an old value, or none, for about this long after a write. A miss later than that is a loss. */
  publishSettleMs: 5 * 60_000,
  /** KV takes one write a second to a key. */
  publishIntervalMs: 1_000,
  maxPublishBackoffMs: 60_000,
  maxPublishesPerAlarm: 50,
  /** A tombstone spares readers of a deleted name the Catalog; a miss after it costs one question. */
  tombstoneTtlSeconds: 86_400,
  maxAuditRowsPerAppend: 200,

  // Marks of the taint rule (`core/taint.ts`) outside of sessions.
  /** Of an answer that a client may resend as history; after that the history counts as unknown. */
  answerMarksMs: 30 * 24 * 60 * 60_000,
  /** Answers of one key; the oldest go, in steps of `answerMarksPerSweep`. */
  maxAnswerMarks: 10_000,
  answerMarksPerSweep: 100,
  /** Assistant messages of one history that are looked up; a longer one counts as unknown. */
  maxRecalledAnswers: 2_000,
  /** The end of an answer waits this long for its marks to be stored. */
  answerMarksWaitMs: 2_000,
  /** Of the direct calls of a key with one toolset, after the last call that added a mark. */
  directMarksMs: 24 * 60 * 60_000,
  /** Marks that are there already are not written again within this time, so that they last up to this much longer. */
  directMarksRefreshMs: 60 * 60_000,
} as const;

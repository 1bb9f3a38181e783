/** Limits of webhooks, schedules and callbacks. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const triggerLimits = {
  // Documents.
  /** Enough for the secrets in use during a rotation, and a few old ones. */
  maxWebhookSecrets: 5,
  maxWebhookSecretLength: 1_000,
  maxSessionTemplateLength: 2_000,
  maxInputTemplateLength: 100_000,
  maxFilterLength: 4_000,
  /** Nested `{{#each}}` and `{{#if}}`. */
  maxTemplateDepth: 8,
  /** Parts of a filter (a name, a path step, an operator, a value), and their nesting depth; every path step adds one level. */
  maxFilterParts: 400,
  maxFilterDepth: 24,

  // A delivery.
  /** Real payloads are smaller: GitHub cuts at 25 MB but usually sends kilobytes, Slack and Stripe stay below 256 kB. */
  maxWebhookBodyBytes: 1 * MB,
  /** Maximum difference between a signed time and ours, in both directions (Standard Webhooks, Slack, Stripe: 5 minutes). */
  webhookToleranceSeconds: 300,
  /** Checked signatures of one header: a sender sends one per secret during a rotation; an attacker could send thousands. */
  maxSignatures: 20,
  maxDeliveryIdLength: 256,
  /** Headers that templates and filters see, and that are stored: their number, and the characters of names and values together. */
  maxStoredHeaders: 64,
  maxKeptHeaderCharacters: 16_000,
  /** The event name that a sender gives; longer ones are cut. */
  maxEventLength: 200,
  /** Slack's `challenge`, which is returned unchanged: it has about 50 characters. */
  maxChallengeLength: 1_000,
  maxSessionKeyLength: 512,
  /** The rendered templates of a payload: an `{{#each}}` over a megabyte could produce a hundred. */
  maxTriggerInputBytes: 1 * MB,
  /** One value that a template inserts: longer ones are cut, and the input says so. */
  maxTemplateValueCharacters: 200_000,
  /** Items of one `{{#each}}`. */
  maxTemplateItems: 1_000,
  /** Places visited and characters read by one rendering: a nested `{{#each}}` visits its items repeatedly. */
  maxTemplateWork: 4_000_000,
  /**
   * Items that `exists` and similar operators scan: GitHub lists at most 2,048 commits. Each item that does not match costs some
   * microseconds.
   */
  maxFilterItems: 2_500,
  /** Texts that a filter concatenates. */
  maxFilterTextLength: 10_000,
  maxDeliveryWarnings: 20,
  /** Wait of `respond: "sync"`; GitHub times out after 10 s, most others after 30 s. */
  syncRespondMs: 25 * SECOND,
  /** Cache time of a compiled hook in an isolate; KV adds up to 90 s. */
  hookTtlMs: 5 * SECOND,

  // Deliveries that are not yet in a session.
  /** Stored deliveries that are not yet in a session, over all webhooks; further ones are told to retry. */
  maxPendingDeliveries: 10_000,
  /** Their payloads and inputs together. */
  maxPendingDeliveryBytes: 256 * MB,
  /** The share of both that one trigger may use, so that a trigger with a busy session leaves space for the others. */
  maxPendingShareOfTrigger: 0.5,
  backlogRetryAfterMs: 10 * SECOND,
  maxConcurrentDispatches: 16,
  /**
   * Batch window: no further delivery must arrive for this long before the batch is dispatched, so that a burst is accepted first. On
   * a busy thread a shorter window would have no effect.
   */
  batchWindowMs: 200,
  /** Extension of the window per delivery: slower arrivals are not a burst. */
  batchExtensionPerDeliveryMs: 20,
  /** Maximum total window. */
  maxBatchWindowMs: 5 * SECOND,
  /** One dispatch: two objects respond in milliseconds, so a longer delay is an error. */
  dispatchTimeoutMs: 30 * SECOND,
  dispatchRetryMs: 1 * SECOND,
  maxDispatchBackoffMs: 5 * MINUTE,
  /** After this the delivery fails, and can be replayed. */
  dispatchGiveUpMs: 24 * HOUR,

  // Retention of deliveries.
  deliveryPayloadTtlMs: 7 * DAY,
  /** Longer than any sender retries (Stripe: 3 days), so that a late redelivery is recognized. */
  deliveryTtlMs: 30 * DAY,
  /** Deliveries of one webhook or schedule; the oldest finished ones are deleted first. */
  maxStoredDeliveries: 10_000,
  /** Their payloads, over all triggers: the object that stores them can hold 10 GB, and a full one stops the whole workspace. */
  maxStoredPayloadBytes: 2_048 * MB,
  /** The total size is computed again after this much more has arrived. */
  payloadRecountBytes: 64 * MB,
  /** Rows removed at a time, so that no request waits for a large sweep. */
  maxSweptRows: 200,
  sweepIntervalMs: 10 * MINUTE,

  // Notices that sessions send about their turns.
  /** Notices sent at a time: each is at most as large as the body of a callback, and an RPC carries 32 MB. */
  noticeBatchRows: 10,
  /** One transfer; the Catalog only stores the notices. */
  noticeWaitMs: 10 * SECOND,
  noticeRetryMs: 5 * SECOND,
  /** The size of a notice in addition to its text, in the body of its callback: names, ids, and the surrounding JSON. */
  noticeFrameBytes: 16 * KB,

  // Callbacks.
  callbackTimeoutMs: 15 * SECOND,
  /** Longer than an attempt can take: after this its process has died, and the attempt is repeated. */
  callbackLeaseMs: 30 * SECOND,
  /** The wait before each further attempt; a little under 24 hours in total. */
  callbackRetriesMs: [
    1 * SECOND,
    3 * SECOND,
    10 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    1 * HOUR,
    2 * HOUR,
    4 * HOUR,
    6 * HOUR,
    10 * HOUR,
  ],
  maxConcurrentCallbacks: 16,
  /** Per target, so that a slow one does not delay the others. */
  maxConcurrentCallbacksPerTarget: 4,
  maxCallbackTextBytes: 256 * KB,
  maxCallbackBodyBytes: 1 * MB,
  /** The part of a receiver's response that an attempt shows. */
  maxCallbackResponseLength: 400,
  /** The newest attempts of one callback: all of them unless it was retried manually many times. */
  maxShownAttempts: 50,
  /** Callbacks that are not delivered yet, over all targets; further ones become dead letters at once, which is visible. */
  maxPendingCallbacks: 10_000,
  /** Their bodies, with the same bound as those of deliveries. */
  maxPendingCallbackBytes: 256 * MB,
  /** Finished callbacks; the oldest are deleted first, before their TTL. */
  maxStoredCallbacks: 10_000,
  callbackTtlMs: 7 * DAY,
  /** Dead letters are kept longer, since a person has to look at them. */
  deadCallbackTtlMs: 30 * DAY,
  maxSubscriptions: 50,
  subscriptionsTtlMs: 5 * SECOND,

  // Schedules.
  maxSchedules: 1_000,
  minScheduleIntervalMs: 1 * SECOND,
  maxScheduleIntervalMs: 366 * DAY,
  /** With `overlap: "queue"`: runs that wait for the one before them. */
  maxQueuedScheduleRuns: 10,
  /** The platform accepts no alarm after the year 2189; an alarm that runs before anything is due sets the next one. */
  maxAlarmAheadMs: 366 * DAY,
  /** Times shown in one response: each is a separate search. */
  maxShownScheduleTimes: 100,
} as const;

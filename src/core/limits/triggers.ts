/** Limits of webhooks, schedules and callbacks. Part of `limits` (`core/limits/limits.ts`). */
import { KB, MB, MINUTE, SECOND } from './units.ts';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const triggerLimits = {
  // Documents.
  maxSessionTemplateLength: 2_000,
  maxInputTemplateLength: 100_000,
  /** Nested `{{#each}}` and `{{#if}}`. */
  maxTemplateDepth: 8,

  // A delivery.
  maxDeliveryIdLength: 256,
  /** The event name that a sender gives; longer ones are cut. */
  maxEventLength: 200,
  /** One value that a template inserts: longer ones are cut, and the input says so. */
  maxTemplateValueCharacters: 200_000,
  /** Wait of `respond: "sync"`; GitHub times out after 10 s, most others after 30 s. */
  syncRespondMs: 25 * SECOND,
  /** Cache time of a compiled hook in an isolate; KV adds up to 90 s. */
  hookTtlMs: 5 * SECOND,

  // Deliveries that are not yet in a session.
  backlogRetryAfterMs: 10 * SECOND,
  /** Stored deliveries that are not yet in a session, over all webhooks; further ones are told to retry. */
  maxPendingDeliveries: 10_000,
  /** Their payloads and inputs together. */
  maxPendingDeliveryBytes: 256 * MB,
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
  /** Rows removed at a time, so that no request waits for a large sweep. */
  maxSweptRows: 200,
  sweepIntervalMs: 10 * MINUTE,
  /** Deliveries of one webhook or schedule; the oldest finished ones are deleted first. */
  maxStoredDeliveries: 10_000,
  /** Their payloads, over all triggers: the object that stores them can hold 10 GB, and a full one stops the whole workspace. */
  maxStoredPayloadBytes: 2_048 * MB,
  /** The total size is computed again after this much more has arrived. */
  payloadRecountBytes: 64 * MB,

  // Notices that sessions send about their turns.
  /** One transfer; the Catalog only stores the notices. */
  noticeWaitMs: 10 * SECOND,
  noticeRetryMs: 5 * SECOND,

  // Callbacks.
  callbackTimeoutMs: 15 * SECOND,
  /** Longer than an attempt can take: after this its process has died, and the attempt is repeated. */
  callbackClaimMs: 30 * SECOND,
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
  maxCallbackTextBytes: 256 * KB,
  maxCallbackBodyBytes: 1 * MB,
  callbackTtlMs: 7 * DAY,
  /** Dead letters are kept longer, since a person has to look at them. */
  deadCallbackTtlMs: 30 * DAY,

  // Schedules.
  minScheduleIntervalMs: 1 * SECOND,
  maxScheduleIntervalMs: 366 * DAY,
  /** The platform accepts no alarm after the year 2189; an alarm that runs before anything is due sets the next one. */
  maxAlarmAheadMs: 366 * DAY,
} as const;

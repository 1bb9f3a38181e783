/** Bounds of webhooks, schedules and callbacks. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const triggerLimits = {
  // Documents.
  /** As many as are in use while one is rotated, and a few that were forgotten. */
  maxWebhookSecrets: 5,
  maxWebhookSecretLength: 1_000,
  maxSessionTemplateLength: 2_000,
  maxInputTemplateLength: 100_000,
  maxFilterLength: 4_000,
  /** `{{#each}}` and `{{#if}}` within each other. */
  maxTemplateDepth: 8,
  /** Parts of a filter (a name, a step of a path, an operator, a value), and how deep they stand in one another; every step of a path is one deeper. */
  maxFilterParts: 400,
  maxFilterDepth: 24,

  // A delivery.
  /** Senders send less: GitHub cuts at 25 MB and means kilobytes, Slack and Stripe stay below 256 kB. */
  maxWebhookBodyBytes: 1 * MB,
  /** How far a signed time may lie from ours, both ways (Standard Webhooks, Slack, Stripe: 5 minutes). */
  webhookToleranceSeconds: 300,
  /** Of one header that are looked at: a sender gives one for each secret while it rotates; an attacker could give thousands. */
  maxSignatures: 20,
  maxDeliveryIdLength: 256,
  /** Headers that templates and filters see, and that are kept: names and values together in characters. */
  maxKeptHeaders: 64,
  maxKeptHeaderCharacters: 16_000,
  /** Of what a sender calls its event; what is longer is cut. */
  maxEventLength: 200,
  /** Slack's `challenge`, which is sent back as it came: theirs has about 50 characters. */
  maxChallengeLength: 1_000,
  maxSessionKeyLength: 512,
  /** What the templates make of a payload: an `{{#each}}` over a megabyte could make a hundred of it. */
  maxTriggerInputBytes: 1 * MB,
  /** One value that a template puts in: what is more is cut, and the input says so. */
  maxTemplateValueCharacters: 200_000,
  /** Items of one `{{#each}}`. */
  maxTemplateItems: 1_000,
  /** Places visited and characters read by one rendering: an `{{#each}}` within others goes through their items again and again. */
  maxTemplateWork: 4_000_000,
  /** Items that `exists` and its like go through: GitHub names 2,048 commits at most. Each that has not what is asked costs some microseconds. */
  maxFilterItems: 2_500,
  /** Texts that a filter puts together. */
  maxFilterTextLength: 10_000,
  maxDeliveryWarnings: 20,
  /** `respond: "sync"` waits so long; GitHub gives up after 10 s, most others after 30 s. */
  syncRespondMs: 25 * SECOND,
  /** How long the compiled hook may be old in an isolate; KV adds up to 90 s. */
  hookTtlMs: 5 * SECOND,

  // Deliveries on their way to a session.
  /** Those that are stored and in no session yet, over all webhooks; more are told to come back. */
  maxPendingDeliveries: 10_000,
  /** Their payloads and inputs together. */
  maxPendingDeliveryBytes: 256 * MB,
  /** Of each of both, so that one trigger whose session is busy leaves room for the others. */
  maxPendingShareOfTrigger: 0.5,
  backlogRetryAfterMs: 10 * SECOND,
  maxConcurrentDispatches: 16,
  /** So long nothing more must have come in before what came is brought: a burst is answered first. On a busy thread less than this is no pause. */
  dispatchCalmMs: 200,
  /** How much longer each of them may hold the others up: what comes more slowly than this is no burst. */
  dispatchHoldPerDeliveryMs: 20,
  /** However much still comes. */
  maxDispatchHoldMs: 5 * SECOND,
  /** Of one dispatch: two objects answer in milliseconds; a silence this long is a fault. */
  dispatchTimeoutMs: 30 * SECOND,
  dispatchRetryMs: 1 * SECOND,
  maxDispatchBackoffMs: 5 * MINUTE,
  /** Then it is failed, and can be replayed. */
  dispatchGiveUpMs: 24 * HOUR,

  // What is kept of them.
  deliveryPayloadTtlMs: 7 * DAY,
  /** Longer than any sender repeats by itself (Stripe: 3 days), so that a late repeat is known again. */
  deliveryTtlMs: 30 * DAY,
  /** Of one webhook or schedule; the oldest ended ones go first. */
  maxKeptDeliveries: 10_000,
  /** Their payloads, over all triggers: the object that holds them takes 10 GB in all, and what fills it stops the whole workspace. */
  maxKeptPayloadBytes: 2_048 * MB,
  /** Are weighed anew after so much more has come. */
  payloadWeighingBytes: 64 * MB,
  /** Removed at a time, so that no request waits for a large sweep. */
  maxSweptRows: 200,
  sweepIntervalMs: 10 * MINUTE,

  // What sessions tell of their turns.
  /** Handed over at a time: each is at most as large as the body of a callback, and RPC takes 32 MB. */
  noticeBatchRows: 10,
  /** Of one hand-over; the Catalog only writes them down. */
  noticeWaitMs: 10 * SECOND,
  noticeRetryMs: 5 * SECOND,
  /** What a notice may be beside the text, in its callback's body: names, ids, and JSON around them. */
  noticeFrameBytes: 16 * KB,

  // Callbacks.
  callbackTimeoutMs: 15 * SECOND,
  /** Longer than an attempt can take: then its process has died, and it is made again. */
  callbackLeaseMs: 30 * SECOND,
  /** The wait before each further attempt; together a little under 24 hours. */
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
  /** To one target, so that a slow one does not hold up the others. */
  maxConcurrentCallbacksPerTarget: 4,
  maxCallbackTextBytes: 256 * KB,
  maxCallbackBodyBytes: 1 * MB,
  /** Of what a receiver answers, as its attempt shows it. */
  maxCallbackAnswerLength: 400,
  /** Of one callback, the newest: all of one that nobody retried by hand again and again. */
  maxShownAttempts: 50,
  /** Not yet delivered, over all targets; more are dead at once, which is visible. */
  maxPendingCallbacks: 10_000,
  /** Of their bodies, as those of deliveries. */
  maxPendingCallbackBytes: 256 * MB,
  /** That ended; the oldest go first, before their time. */
  maxKeptCallbacks: 10_000,
  callbackTtlMs: 7 * DAY,
  /** Dead letters stay longer: somebody has to look at them. */
  deadCallbackTtlMs: 30 * DAY,
  maxSubscriptions: 50,
  subscriptionsTtlMs: 5 * SECOND,

  // Schedules.
  maxSchedules: 1_000,
  minScheduleIntervalMs: 1 * SECOND,
  maxScheduleIntervalMs: 366 * DAY,
  /** With `overlap: "queue"`: runs that wait for the one before them. */
  maxQueuedScheduleRuns: 10,
  /** The platform takes no alarm after the year 2189; one that rings before anything is due sets the next. */
  maxAlarmAheadMs: 366 * DAY,
  /** Shown at a time: each is a search of its own. */
  maxShownScheduleTimes: 100,
} as const;

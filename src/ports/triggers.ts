/**
 * What is stored for triggers: deliveries and their progress, callbacks and their attempts, the times of schedules. One per workspace,
 * implemented by its `Catalog` object; used by the webhook routes and by sessions. Documents (webhooks, schedules, subscriptions) are written
 * through `Catalog` like all others. Errors are thrown as `Problem`s.
 */
import type { Callback, CallbackStatus, CallbackTarget, CallbackTest, CallbackWithBody } from '../core/triggers/callbacks/callback.ts';
import type {
  Delivery,
  DeliveryStatus,
  DeliveryWithPayload,
  RefusedDeliveries,
  Rendered,
  WebhookDelivery,
} from '../core/triggers/delivery.ts';
import type { Trigger } from '../core/turn/turn-trigger.ts';
import type { TurnNotice } from '../core/triggers/callbacks/turn-notice.ts';
import type { Page, PageRequest } from './catalog.ts';

/** A verified and parsed delivery. `verdict`: what will happen to it. */
export type NewDelivery = {
  trigger: Trigger;
  id: string;
  event: string | null;
  /** The unchanged body, UTF-8; null: a schedule has none. `isJson`: it is shown as its parsed value. */
  payload: { text: string; isJson: boolean; headers: Readonly<Record<string, string>> } | null;
  verdict: DeliveryVerdict;
};

/**
 * `run`: a turn will start; its session and id are determined here, so that every repeat gets the same answer. `isQueued`: it starts after
 * the trigger's earlier runs have ended.
 */
export type DeliveryVerdict =
  | { become: 'run'; agent: string; session: string; turn: string; rendered: Rendered; isQueued?: true }
  | { become: 'ignored' | 'skipped' | 'failed'; reason: string; warnings: string[] };

/** `isRepeat`: the delivery was already stored and nothing was started; the other members are those of the stored one, in its current state. */
export type AcceptedDelivery = Pick<Delivery, 'id' | 'status' | 'reason' | 'session' | 'turn' | 'run'> & { isRepeat: boolean };

export type DeliveryQuery = PageRequest & { status?: DeliveryStatus };

/** `from`: milliseconds since the epoch. */
export type WebhookDeliveryQuery = DeliveryQuery & { webhook?: string; from?: number };

export type RefusalCount = { webhook: string; count: number };

export type CallbackQuery = PageRequest & Partial<CallbackTarget> & { status?: CallbackStatus; delivery?: string };

/** A stored delivery, to be rendered again. */
export type StoredPayload = { delivery: Delivery; event: string | null; payload: NonNullable<NewDelivery['payload']> | null };

/** Shown with a schedule by `Catalog`. `lastRun`: its newest delivery with a run. */
export type ScheduleState = { nextRunAt: string | null; lastRun: Delivery | null };

export interface Triggers {
  /**
   * Stores the delivery, once per id of a trigger. Throws `rate_limited` with `retryAfterMs` if too many are pending
   * (`limits.maxPendingDeliveries`). A verdict `run` is then executed in the background, across restarts.
   */
  acceptDelivery(delivery: NewDelivery): Promise<AcceptedDelivery>;
  /** Waits at most `waitMs` until the delivery's session has accepted its turn, or the delivery failed. */
  waitUntilDispatched(trigger: Trigger, id: string, waitMs: number): Promise<Delivery>;
  /** Newest first, with payloads; a page ends early at `limits.listPageBytes`. */
  deliveries(trigger: Trigger, query: DeliveryQuery): Promise<Page<DeliveryWithPayload>>;
  /**
   * Deliveries of all webhooks without payloads, newest first, with the refused requests. A page can be short although more follow: the number
   * of rows that one request reads is limited.
   */
  webhookDeliveries(query: WebhookDeliveryQuery): Promise<Page<WebhookDelivery> & { refused: RefusedDeliveries[] }>;
  /** Adds requests without a valid signature. Ignores webhooks that do not exist. */
  addRefusals(refusals: readonly RefusalCount[]): Promise<void>;
  /** `not_found`. */
  delivery(trigger: Trigger, id: string): Promise<DeliveryWithPayload>;
  /** For a replay: returns what is to be rendered again. Throws `not_found`; `conflict` if the payload is no longer stored. */
  storedPayload(trigger: Trigger, id: string): Promise<StoredPayload>;
  /** Called by sessions, in order, at least once per notice. */
  noteTurns(notices: readonly TurnNotice[]): Promise<void>;

  /** Newest first. */
  callbacks(query: CallbackQuery): Promise<Page<Callback>>;
  callback(id: string): Promise<CallbackWithBody>;
}

/**
 * Starts what is stored, for a key: it runs with the rights of its trigger or receiver, which may be wider. All of these throw `forbidden` for a
 * key with `egressHosts`, `ips` or `models` (`startsWork` in `objects/catalog/client/catalog-methods.ts`).
 */
export interface StoredWork {
  /** Runs the delivery again with a new verdict. Throws `conflict` while it is in progress. */
  replayDelivery(trigger: Trigger, id: string, verdict: DeliveryVerdict): Promise<AcceptedDelivery>;
  /** Makes one more attempt now for a dead or waiting callback. Throws `conflict` for a delivered one. */
  retryCallback(id: string): Promise<Callback>;
  /** Sends one message of type `test`, which is not stored. Throws `not_found`. */
  testSubscription(subscription: string): Promise<CallbackTest>;
  /** Starts one run now, in addition to its schedule. Throws `not_found`. */
  runSchedule(schedule: string): Promise<AcceptedDelivery>;
}

/**
 * What triggers keep: deliveries and where they got to, callbacks and how they fared, when schedules run. One for each workspace,
 * implemented by its `Catalog` object; used by the routes of hooks and by sessions. Documents (webhooks, schedules, subscriptions)
 * are written through `Catalog` like all others. Faults are thrown as `Problem`s.
 */
import type { Callback, CallbackStatus, CallbackTarget, CallbackTest, CallbackWithBody } from '../core/triggers/callbacks/callback.ts';
import type { Delivery, DeliveryStatus, DeliveryWithPayload, Rendered, Trigger } from '../core/triggers/delivery.ts';
import type { TurnNotice } from '../core/triggers/callbacks/turn-notice.ts';
import type { Page, PageRequest } from './catalog.ts';

/** What arrived, verified and read. `verdict` says what is to become of it. */
export type NewDelivery = {
  trigger: Trigger;
  id: string;
  event: string | null;
  /** The body as it came, UTF-8; null: a schedule has none. `isJson`: it is shown as its value. */
  payload: { text: string; isJson: boolean; headers: Readonly<Record<string, string>> } | null;
  verdict: DeliveryVerdict;
};

/**
 * `run`: a turn is to begin; session and turn are named beforehand, so that every repeat is answered with the same. `isQueued`: behind
 * the runs of its trigger that have not ended: it is due when they have.
 */
export type DeliveryVerdict =
  | { become: 'run'; agent: string; session: string; turn: string; rendered: Rendered; isQueued?: true }
  | { become: 'ignored' | 'skipped' | 'failed'; reason: string; warnings: string[] };

/** `isRepeat`: it was there before, and nothing was begun; all else is as the first one was taken, and how it stands now. */
export type AcceptedDelivery = Pick<Delivery, 'id' | 'status' | 'reason' | 'session' | 'turn' | 'run'> & { isRepeat: boolean };

export type DeliveryQuery = PageRequest & { status?: DeliveryStatus };

export type CallbackQuery = PageRequest & Partial<CallbackTarget> & { status?: CallbackStatus; delivery?: string };

/** What came, to be rendered again. */
export type KeptPayload = { delivery: Delivery; event: string | null; payload: NonNullable<NewDelivery['payload']> | null };

/** Shown with a schedule by `Catalog`. `lastRun` is its newest delivery that was meant to run. */
export type ScheduleState = { nextRunAt: string | null; lastRun: Delivery | null };

export interface Triggers {
  /**
   * Stored when it resolves, once for each id of a trigger. `rate_limited` with `retryAfterMs` when too much is on its way
   * (`limits.maxPendingDeliveries`). A verdict `run` is then carried out behind the answer, whatever dies meanwhile.
   */
  acceptDelivery(delivery: NewDelivery): Promise<AcceptedDelivery>;
  /** Waits until its session has taken it, or it failed, at most `waitMs`. */
  untilTaken(trigger: Trigger, id: string, waitMs: number): Promise<Delivery>;
  /** Newest first, with payloads; a page ends early at `limits.listPageBytes`. */
  deliveries(trigger: Trigger, query: DeliveryQuery): Promise<Page<DeliveryWithPayload>>;
  /** `not_found`. */
  delivery(trigger: Trigger, id: string): Promise<DeliveryWithPayload>;
  /** For `replay`: what is to be rendered anew. `not_found`; `conflict` when its payload is no longer kept. */
  keptPayload(trigger: Trigger, id: string): Promise<KeptPayload>;
  /** Runs it (again) with what its trigger makes of it now. `conflict` while it is under way. */
  replayDelivery(trigger: Trigger, id: string, verdict: DeliveryVerdict): Promise<AcceptedDelivery>;

  /** From sessions, in order, at least once. */
  noteTurns(notices: readonly TurnNotice[]): Promise<void>;

  /** Newest first. */
  callbacks(query: CallbackQuery): Promise<Page<Callback>>;
  callback(id: string): Promise<CallbackWithBody>;
  /** One more attempt now, of a dead one or one that waits. `conflict` for one that was delivered. */
  retryCallback(id: string): Promise<Callback>;
  /** One message of type `test`, which is not kept. `not_found`. */
  testSubscription(subscription: string): Promise<CallbackTest>;

  /** One run now, beside its times. `not_found`. */
  runSchedule(schedule: string): Promise<AcceptedDelivery>;
}

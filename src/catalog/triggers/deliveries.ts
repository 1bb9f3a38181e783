/** The deliveries of a workspace: stored once by trigger and id, listed, followed to the end of their turns, and forgotten in time. */
import type { Delivery, DeliveryWithPayload, Trigger, TurnTrigger } from '../../core/triggers/delivery.ts';
import type { TurnNotice } from '../../core/triggers/turn-notice.ts';
import type { Page } from '../../ports/catalog.ts';
import type { AcceptedDelivery, DeliveryQuery, DeliveryVerdict, KeptPayload, NewDelivery } from '../../ports/triggers.ts';
import type { CatalogContext } from '../context.ts';

/** In one block: whoever is told of it may rely on it. */
export function acceptDelivery(_context: CatalogContext, _delivery: NewDelivery): AcceptedDelivery {
  throw new Error('not built yet');
}

export function readDelivery(_context: CatalogContext, _trigger: Trigger, _id: string): DeliveryWithPayload {
  throw new Error('not built yet');
}

export function listDeliveries(_context: CatalogContext, _trigger: Trigger, _query: DeliveryQuery): Page<DeliveryWithPayload> {
  throw new Error('not built yet');
}

export function readPayload(_context: CatalogContext, _trigger: Trigger, _id: string): KeptPayload {
  throw new Error('not built yet');
}

export function replayDelivery(_context: CatalogContext, _trigger: Trigger, _id: string, _verdict: DeliveryVerdict): AcceptedDelivery {
  throw new Error('not built yet');
}

/** How the turn of a delivery stands now. What is said of an earlier run than its newest changes nothing. */
export function followTurn(_context: CatalogContext, _trigger: TurnTrigger, _notice: TurnNotice): void {
  throw new Error('not built yet');
}

/** The newest delivery of a schedule that was meant to run; null: there was none. */
export function lastRun(_context: CatalogContext, _trigger: Trigger): Delivery | null {
  throw new Error('not built yet');
}

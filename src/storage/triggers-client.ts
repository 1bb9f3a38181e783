/** The `Triggers` port over RPC, for one workspace. */
import { limits } from '../core/limits.ts';
import type { Triggers } from '../ports/triggers.ts';
import type { Bindings } from './bindings.ts';
import { askCatalog } from './catalog-rpc.ts';

export function createTriggersClient(bindings: Bindings, workspace: string): Triggers {
  return {
    // Idempotent by the delivery's id, so it is sent as a question, which is retried when the platform fails.
    acceptDelivery: (delivery) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.acceptDelivery(workspace, delivery)),
    waitUntilDispatched: (trigger, id, waitMs) =>
      askCatalog(bindings, workspace, 'question', (catalog) => catalog.waitUntilDispatched(workspace, trigger, id, waitMs), waitMs),
    deliveries: (trigger, query) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.deliveries(workspace, trigger, query)),
    delivery: (trigger, id) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.delivery(workspace, trigger, id)),
    storedPayload: (trigger, id) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.storedPayload(workspace, trigger, id)),
    replayDelivery: (trigger, id, verdict) =>
      askCatalog(bindings, workspace, 'write', (catalog) => catalog.replayDelivery(workspace, trigger, id, verdict)),
    noteTurns: (notices) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.noteTurns(workspace, notices)),
    callbacks: (query) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.callbacks(workspace, query)),
    callback: (id) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.callback(workspace, id)),
    retryCallback: (id) => askCatalog(bindings, workspace, 'write', (catalog) => catalog.retryCallback(workspace, id)),
    // The Catalog waits for the receiver's response.
    testSubscription: (subscription) =>
      askCatalog(bindings, workspace, 'write', (catalog) => catalog.testSubscription(workspace, subscription), limits.callbackTimeoutMs),
    runSchedule: (schedule) => askCatalog(bindings, workspace, 'write', (catalog) => catalog.runSchedule(workspace, schedule)),
  };
}

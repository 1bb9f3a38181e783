/**
 * The types of the object's RPC handlers, which are tables by noun (the other files of this folder). A question runs immediately; a write
 * waits for earlier writes, and publishes afterwards. `catalog.ts` creates the methods from them.
 */
import type { Outcome } from '../../core/problem.ts';
import type { CatalogRpc } from '../../storage/catalog-rpc.ts';
import type { AuditWriter } from '../records/audit.ts';
import type { CatalogContext } from '../context.ts';
import type { KeyCancellations } from '../keys/key-cancellations.ts';
import type { PublishedKind } from '../records/outbox.ts';
import type { CallbackSender } from '../triggers/callbacks/callback-sender.ts';
import type { Dispatcher } from '../triggers/deliveries/dispatcher.ts';
import type { Scheduler } from '../triggers/schedules/schedule-runs.ts';

export type CatalogServices = {
  /** Id of the calling key, for the audit; `system` for the service itself. */
  by: string;
  context: CatalogContext;
  audit: AuditWriter;
  cancellations: KeyCancellations;
  triggers: { dispatcher: Dispatcher; callbacks: CallbackSender; scheduler: Scheduler };
  /** Call if KV lacks it: writes it again. */
  republish(kind: PublishedKind, name: string): Promise<void>;
};

type Arguments<Method> = Method extends (workspace: string, ...rest: infer Rest) => unknown ? Rest : never;
type Value<Method> = Method extends (...args: never[]) => Promise<Outcome<infer Answer>> ? Answer : never;

/** `CatalogRpc` inside the object: the workspace is already checked, and results and errors are wrapped by the caller. */
export type CatalogHandlers = {
  readonly [Name in keyof CatalogRpc]: (
    parts: CatalogServices,
    ...rest: Arguments<CatalogRpc[Name]>
  ) => Value<CatalogRpc[Name]> | Promise<Value<CatalogRpc[Name]>>;
};

/**
 * The table of a method determines how it runs. Writes of a single statement are in `questions`, too: they have no phases that another
 * write could interleave with.
 */
export type MethodTable = { readonly concurrent: Partial<CatalogHandlers>; readonly serialized: Partial<CatalogHandlers> };

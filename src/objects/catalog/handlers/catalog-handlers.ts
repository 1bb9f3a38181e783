/** The type of the object's handlers, which are tables by noun (the other files of this folder). `objects/catalog/client/catalog-methods.ts` has their lanes. */
import type { CatalogMethod, MethodArguments, MethodResult } from '../client/catalog-methods.ts';
import type { Triggers } from '../../../ports/triggers.ts';
import type { CatalogContext } from '../context.ts';
import type { KeyCancellations } from '../keys/key-cancellations.ts';
import type { ResealNeeds } from '../keys/reseal.ts';
import type { PublicationKind } from '../records/publications.ts';
import type { CallbackSender } from '../triggers/callbacks/callback-sender.ts';
import type { Dispatcher } from '../triggers/deliveries/dispatcher.ts';
import type { Scheduler } from '../triggers/schedules/schedule-runs.ts';

export type CatalogServices = {
  /** Id of the calling key, for the audit; `system` for the service itself. */
  by: string;
  context: CatalogContext;
  cancellations: KeyCancellations;
  reseals: ResealNeeds;
  triggers: { accept: Triggers['acceptDelivery']; dispatcher: Dispatcher; callbacks: CallbackSender; scheduler: Scheduler };
  kv(): Pick<KVNamespace, 'get'>;
  /** Call if KV lacks it: writes it again, unless it was written within `settleMs`. */
  republish(kind: PublicationKind, name: string, settleMs?: number): Promise<void>;
};

/** `CatalogMethods` inside the object: the workspace is already checked, and `catalog.ts` wraps results and errors. */
export type CatalogHandlers = {
  readonly [Name in CatalogMethod]: (
    services: CatalogServices,
    ...args: MethodArguments<Name>
  ) => MethodResult<Name> | Promise<MethodResult<Name>>;
};

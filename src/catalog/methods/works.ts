/**
 * What the object does behind each of its RPC methods, as tables by noun (the files beside this one). A question runs at once; a write
 * waits for the writes before it, and publishes after. `catalog.ts` makes the methods of them.
 */
import type { Outcome } from '../../core/problem.ts';
import type { CatalogRpc } from '../../storage/catalog-rpc.ts';
import type { AuditWriter } from '../audit.ts';
import type { CatalogContext } from '../context.ts';
import type { KeyCancellations } from '../key-cancellations.ts';
import type { PublishedKind } from '../outbox.ts';
import type { CallbackSender } from '../triggers/callbacks/callback-sender.ts';
import type { Dispatcher } from '../triggers/deliveries/dispatcher.ts';
import type { Scheduler } from '../triggers/schedules/schedule-runs.ts';

export type Parts = {
  /** Id of the key that asks, for the audit; `system` where the service asks itself. */
  by: string;
  context: CatalogContext;
  audit: AuditWriter;
  cancellations: KeyCancellations;
  triggers: { dispatcher: Dispatcher; callbacks: CallbackSender; scheduler: Scheduler };
  /** KV was seen without it: it is written there again. */
  republish(kind: PublishedKind, name: string): Promise<void>;
};

type Arguments<Method> = Method extends (workspace: string, ...rest: infer Rest) => unknown ? Rest : never;
type Value<Method> = Method extends (...args: never[]) => Promise<Outcome<infer Answer>> ? Answer : never;

/** `CatalogRpc` from inside: the object has seen to the workspace, and wraps what is answered or thrown. */
export type Works = {
  readonly [Name in keyof CatalogRpc]: (
    parts: Parts,
    ...rest: Arguments<CatalogRpc[Name]>
  ) => Value<CatalogRpc[Name]> | Promise<Value<CatalogRpc[Name]>>;
};

/** Where each name stands says how it is run. Writes of one statement are questions too: they have no phases that another could come between. */
export type MethodTable = { readonly questions: Partial<Works>; readonly writes: Partial<Works> };

/**
 * The one way to call a Durable Object: a typed client of a table of methods, each with its timeout and whether it may be repeated. Problems of
 * the object are thrown again, since an error would lose its class and fields in RPC.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { Problem, unwrap, type Outcome, type ProblemCode } from '../../core/problem.ts';
import { retry as retried } from '../../engine/retry.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ArgumentsOf, Remote, RemotePort, ResultOf } from '../../ports/remote.ts';

export type MethodRow<Args extends readonly unknown[] = never> = {
  /** Whether it is called again after a failure of the platform, when it may already have run. */
  retry: boolean | ((...args: Args) => boolean);
  /** How long the call itself may wait, in addition to the timeout of its object. */
  waitMs?(...args: Args): number;
};

export type MethodTable<Port> = { readonly [Name in keyof Port]: MethodRow<ArgumentsOf<Port, Name>> };

/** `id`: found anew for each attempt; it may note the object before its first use. */
export type ObjectPlace = { namespace: DurableObjectNamespace; id(): DurableObjectId | Promise<DurableObjectId> };

/** `Rpc`: the interface that the class of the object implements. `send`: makes one call, by default with `run`. */
export type ObjectBinding<Port, Rpc = RemotePort<Port>> = ObjectPlace & {
  /** Begins a sentence: "The catalog". */
  what: string;
  /** null: calls that wait for a turn, or have a stream as their answer. */
  timeoutMs: number | null;
  /** The problem of a call that takes longer. Default: `internal`. */
  lateCode?: ProblemCode;
  maxRetries?: number;
  send?: Send<Port, Rpc>;
  /** Called when a call has ended, with what it threw. */
  onEnd?<Name extends keyof Port>(method: Name, args: ArgumentsOf<Port, Name>, error?: unknown): void;
};

type Send<Port, Rpc> = <Name extends keyof Port>(
  object: Rpc,
  method: Name,
  args: ArgumentsOf<Port, Name>,
) => Promise<Outcome<ResultOf<Port, Name>>>;

/** Returns the client of an object. The table has every method, since a stub has any name and cannot be enumerated. */
export function objectClient<Port extends object, Rpc>(binding: ObjectBinding<Port, Rpc>, methods: MethodTable<Port>): Port {
  const client: Partial<Record<keyof Port, unknown>> = {};
  for (const method of Object.keys(methods) as (keyof Port)[])
    client[method] = async (...args: ArgumentsOf<Port, typeof method>) => await callObject(binding, methods, method, args);
  // The table has every method, and `callObject` returns what the method does.
  return client as Port;
}

/** Calls one method. */
export async function callObject<Port, Rpc, Name extends keyof Port>(
  binding: ObjectBinding<Port, Rpc>,
  methods: MethodTable<Port>,
  method: Name,
  args: ArgumentsOf<Port, Name>,
): Promise<ResultOf<Port, Name>> {
  const { retry, waitMs } = methods[method];
  // Without `send`, `Rpc` is `RemotePort`.
  const send = binding.send ?? (byRun as Send<Port, Rpc>);
  const isSafe = typeof retry === 'function' ? retry(...args) : retry;
  const attempt = async (): Promise<Outcome<ResultOf<Port, Name>>> => {
    const id = await binding.id();
    if (endedAt(binding.namespace).size > 0) await waitUntilClosed(binding.namespace, id);
    try {
      // The namespace is untyped, because the class is on a higher floor, where `implements` is checked.
      return await send(binding.namespace.get(id) as unknown as Rpc, method, args);
    } catch (error) {
      if (wasClosed(error)) endedAt(binding.namespace).set(id.toString(), systemClock.now());
      throw error;
    }
  };
  const { timeoutMs, maxRetries = 1 } = binding;
  const timed = timeoutMs === null ? attempt : () => inTime(binding, attempt(), timeoutMs + (waitMs?.(...args) ?? 0));
  // No delay: the platform has the object ready elsewhere, or starts it again.
  const delayMs = (error: unknown, failures: number): number | null =>
    wasClosed(error) || (isSafe && failures <= maxRetries && isRetryable(error)) ? 0 : null;
  try {
    const value = unwrap(await retried({ clock: systemClock }, { maxRetries: Math.max(maxRetries, maxReopened), delayMs }, timed));
    binding.onEnd?.(method, args);
    return value;
  } catch (error) {
    binding.onEnd?.(method, args, error);
    throw namedFault(binding.what, error);
  }
}

/** The database of an object cannot be used. Its message names the object, and is for the caller. */
export class ObjectFault extends Error {
  override name = 'ObjectFault';
}

/**
 * SQLite reports what it reads. A database that cannot be opened is an internal error of the runtime, whose log has the reason: it is damaged, the
 * disk is full, or too many files are open.
 */
function namedFault(what: string, error: unknown): unknown {
  const [message] =
    /\bSQLITE_(?:CORRUPT|NOTADB)\b|^internal error; reference = \w+/.exec(error instanceof Error ? error.message : '') ?? [];
  if (message === undefined || error instanceof Problem) return error;
  const fault = message.startsWith('SQLITE') ? 'its database is damaged' : 'its database may be damaged';
  return new ObjectFault(`${what} cannot be used: ${fault} (${message}). ${repairAdvice}`, { cause: error });
}

const repairAdvice = 'On your own machine, stop the service and run `moniker doctor`, which checks each database.';

/** An object that ends itself while requests arrive is called again so often. */
const maxReopened = 3;

async function inTime<T>({ what, lateCode = 'internal' }: Pick<ObjectBinding<object>, 'what' | 'lateCode'>, work: Promise<T>, ms: number) {
  return await withTimeout<T>(systemClock, work, ms, () => {
    throw new Problem(lateCode, `${what} did not respond in time. Try again.`);
  });
}

const byRun = <Port, Name extends keyof Port>(object: RemotePort<Port>, method: Name, args: ArgumentsOf<Port, Name>) =>
  object.run(method, args);

/** Sends each call to the method of its name, after what all of them begin with. */
export function byName<Port, Lead extends readonly unknown[] = []>(...lead: Lead): Send<Port, Remote<Port, Lead>> {
  // The mapped type pairs arguments and outcome for each name, which TypeScript cannot follow for a variable name.
  return (object, method, args) => methodsOf<Outcome<ResultOf<Port, typeof method>>>(object)[method](...lead, ...args);
}

/** For an object whose methods return their values themselves, and throw no problems. */
export function plainByName<Port>(): Send<Port, Port> {
  return async (object, method, args) => ({ ok: true, value: await methodsOf<ResultOf<Port, typeof method>>(object)[method](...args) });
}

/** Called in place: a stub's method is not a function, so `apply` and `bind` would be remote calls. */
function methodsOf<Result>(object: unknown): Record<PropertyKey, (...args: readonly unknown[]) => Promise<Result>> {
  return object as Record<PropertyKey, (...args: readonly unknown[]) => Promise<Result>>;
}

/** The reason with which an idle Catalog ends itself locally (`objects/catalog/records/close-database.ts`). */
export const closedAfterDeleteReason = 'the database is closed after a deletion';

/** The reason with which an object ends its instance, so that nothing of an earlier request writes to restored tables. */
export const resetReason = 'the object is being restored';

export const restoreInProgress =
  'A restore of this workspace is in progress. Wait until it has ended, send the rest of the archive, or give it up with DELETE /v1/restore.';

export function isRestoreInProgress(error: unknown): boolean {
  return error instanceof Problem && error.detail === restoreInProgress;
}

/** True when the object ended itself. It does so only while it runs nothing, so the call was not started, and a write can be sent again. */
export function wasClosed(error: unknown): boolean {
  return error instanceof Error && error.message.includes(closedAfterDeleteReason);
}

export function wasReset(error: unknown): boolean {
  return error instanceof Error && error.message.includes(resetReason);
}

/** True for failures that the runtime marks as retryable, and for a reset; an overloaded object is not called again. */
function isRetryable(error: unknown): boolean {
  if (wasReset(error)) return true;
  return (
    error instanceof Error && 'retryable' in error && error.retryable === true && !('overloaded' in error && error.overloaded === true)
  );
}

/**
 * SQLite removes the write-ahead log with the last connection to the database. The requests that waited when the object ended itself hold the
 * old connection for a moment, and the next instance would open a second one: it is not called before.
 */
const closeMs = 50;
const endedAt = memoizeByObject((_namespace: object) => new Map<string, number>());

async function waitUntilClosed(namespace: DurableObjectNamespace, id: DurableObjectId): Promise<void> {
  const ended = endedAt(namespace).get(id.toString());
  if (ended === undefined) return;
  // A clock that was set back must not delay more.
  const waitMs = Math.min(ended + closeMs - systemClock.now(), closeMs);
  if (waitMs > 0) await systemClock.sleep(waitMs);
  endedAt(namespace).delete(id.toString());
}

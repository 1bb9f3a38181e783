/**
 * A port implemented by a Durable Object: each remote method returns an `Outcome`, because an error would lose its class and fields in RPC; on
 * this side the outcome is unwrapped and its problem thrown again.
 */
import { unwrap, type Outcome } from '../core/problem.ts';

export type Remote<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Value>
    ? (...args: Args) => Promise<Outcome<Value>>
    : never;
};

/** `methods` has every method of the port, since a stub has any name and cannot be enumerated. */
export function fromRemote<Port extends object>(stub: Remote<Port>, methods: Readonly<Record<keyof Port, true>>): Port {
  // The mapped type pairs arguments and outcome for each name, which TypeScript cannot follow for a variable name.
  const methodsOf = stub as Record<keyof Port, (...args: unknown[]) => Promise<Outcome<unknown>>>;
  const port: Partial<Record<keyof Port, unknown>> = {};
  // Called in place: a stub's method is not a function, so `apply` and `bind` would be remote calls.
  for (const method of Object.keys(methods) as (keyof Port)[])
    port[method] = async (...args: unknown[]) => unwrap(await methodsOf[method](...args));
  return port as Port;
}

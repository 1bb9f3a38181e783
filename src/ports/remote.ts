/**
 * A port whose other side is a Durable Object: there every method answers an `Outcome`, because an error would lose its
 * class and fields on the way; here the outcome is unwrapped and its problem thrown again.
 */
import { unwrap, type Outcome } from '../core/problem.ts';

export type Remote<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Value>
    ? (...args: Args) => Promise<Outcome<Value>>
    : never;
};

/** `methods` lists every method of the port: a stub answers to any name, so there is nothing to enumerate. */
export function fromRemote<Port extends object>(stub: Remote<Port>, methods: readonly (keyof Port)[]): Port {
  // The mapped type above pairs arguments and outcome for each name; for a name that is a variable that is beyond the checker.
  const methodsOf = stub as Record<keyof Port, (...args: unknown[]) => Promise<Outcome<unknown>>>;
  const port: Partial<Record<keyof Port, unknown>> = {};
  // Called in place: a stub's method is no function of its own, `apply` and `bind` would be calls to the other side.
  for (const method of methods) port[method] = async (...args: unknown[]) => unwrap(await methodsOf[method](...args));
  return port as Port;
}

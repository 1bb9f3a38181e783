/**
 * A port whose other side is a Durable Object: there every method answers an `Outcome`, because an error would lose its
 * class and fields on the way; here the outcome is unwrapped and its problem thrown again.
 */
import { unwrap, type Outcome } from '../core/problem.ts';

export type Remote<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Value> ? (...args: Args) => Promise<Outcome<Value>> : never;
};

/** `methods` lists every method of the port: a stub answers to any name, so there is nothing to enumerate. */
export function fromRemote<Port extends object>(stub: Remote<Port>, methods: readonly (keyof Port)[]): Port {
  const port: Partial<Record<keyof Port, unknown>> = {};
  for (const method of methods) {
    port[method] = async (...args: unknown[]) => {
      // The mapped type above pairs arguments and outcome for each name; for a name that is a variable that is beyond the checker.
      const call = stub[method] as (...args: unknown[]) => Promise<Outcome<unknown>>;
      return unwrap(await call.apply(stub, args));
    };
  }
  return port as Port;
}

/**
 * A port implemented by a Durable Object: each remote method returns an `Outcome`, because an error would lose its class and fields in RPC. The
 * client unwraps it, and throws its problem again (`objects/shared/object-client.ts`).
 */
import type { Outcome } from '../core/problem.ts';

/** `Lead`: what all methods begin with, such as the name of the object. */
export type Remote<Port, Lead extends readonly unknown[] = []> = {
  [Method in keyof Port]: (...args: [...Lead, ...ArgumentsOf<Port, Method>]) => Promise<Outcome<ResultOf<Port, Method>>>;
};

export type ArgumentsOf<Port, Method extends keyof Port> = Port[Method] extends (...args: infer Args) => unknown ? Args : never;
export type ResultOf<Port, Method extends keyof Port> = Port[Method] extends (...args: never) => infer Result ? Awaited<Result> : never;

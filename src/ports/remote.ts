/**
 * A port implemented by a Durable Object: each remote method returns an `Outcome`, because an error would lose its class and fields in RPC. The
 * client unwraps it, and throws its problem again (`objects/shared/object-client.ts`).
 */
import type { Outcome } from '../core/problem.ts';

/** `Lead`: what all methods begin with, such as the name of the object. */
export type Remote<Port, Lead extends readonly unknown[] = []> = {
  [Method in keyof Port]: (...args: [...Lead, ...ArgumentsOf<Port, Method>]) => Promise<Outcome<ResultOf<Port, Method>>>;
};

/** A port over one remote method. */
export type RemotePort<Port> = {
  run<Name extends keyof Port>(method: Name, args: ArgumentsOf<Port, Name>): Promise<Outcome<ResultOf<Port, Name>>>;
};

/** A port inside of its object, whose `run` wraps what is returned or thrown. */
export type Handlers<Port> = {
  readonly [Name in keyof Port]: (...args: ArgumentsOf<Port, Name>) => ResultOf<Port, Name> | Promise<ResultOf<Port, Name>>;
};

export type ArgumentsOf<Port, Method extends keyof Port> = Port[Method] extends (...args: infer Args) => unknown ? Args : never;
export type ResultOf<Port, Method extends keyof Port> = Port[Method] extends (...args: never) => infer Result ? Awaited<Result> : never;

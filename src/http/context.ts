/**
 * The values that a request carries from the middleware to its handler. Set by `middleware/request-context.ts`, read everywhere in `http/`.
 */
import type { Context } from 'hono';
import type { Services } from '../wiring.ts';

/** `keyId`: the caller's key, set by `mount`; absent on routes without a key. */
export type AppEnv = { Bindings: object; Variables: { services: Services; requestId: string; keyId?: string } };
export type AppContext = Context<AppEnv>;

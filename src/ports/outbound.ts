/**
 * The way out to other hosts, as a value: adapters get it and never call `fetch`. `net/outbound.ts` implements it with
 * the guard (public addresses only, redirects re-checked, caps); the rehearsal provider answers it with no network.
 */

/** Whom the request is for: settings may allow private hosts for one purpose only. */
export type OutboundPurpose = 'provider' | 'tool' | 'server' | 'webhook';

/** Resolves with whatever the other side answered, error statuses included. Throws `Problem` when refused or unreachable. */
export type OutboundHttp = (request: Request, options: { purpose: OutboundPurpose; signal?: AbortSignal }) => Promise<Response>;

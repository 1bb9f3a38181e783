/**
 * The way out to other hosts, as a value: adapters get it and never call `fetch`. `net/outbound.ts` implements it with
 * the guard (public addresses only, redirects re-checked, caps); the rehearsal provider answers it with no network.
 */

/** Whom the request is for: settings may allow private hosts for one purpose only. */
export type OutboundPurpose = 'provider' | 'tool' | 'server' | 'webhook';

export type OutboundOptions = {
  purpose: OutboundPurpose;
  /** Aborts the request and its response's body. The request's own signal is not read. */
  signal?: AbortSignal;
  /** For the whole exchange, where the caller knows better than `limits.outboundTimeoutMs`. */
  timeoutMs?: number;
  /** Told of each address that the guard let pass, before anything is sent there: 0 is the request's own, 1 the first redirect's. Throws to stop it. */
  onHop?(to: URL, hop: number): void;
};

/**
 * Resolves with whatever the other side answered, error statuses included. Throws `Problem` when refused or unreachable;
 * an abort is thrown on as it is. For purpose `provider` the caller brings the time-out; for the others there is one.
 */
export type OutboundHttp = (request: Request, options: OutboundOptions) => Promise<Response>;

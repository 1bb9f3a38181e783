/**
 * The outbound client as a value: adapters receive it and never call `fetch`. `net/outbound.ts` implements it with the guard (public
 * addresses only, redirects checked again, size caps); the rehearsal provider responds without a network.
 */

/** What the request is for: settings may allow private hosts for one purpose only. */
export type OutboundPurpose = 'provider' | 'tool' | 'server' | 'webhook';

export type OutboundOptions = {
  purpose: OutboundPurpose;
  /** Aborts the request and its response's body. A signal of the request itself lasts until a redirect. */
  signal?: AbortSignal;
  /** For the whole exchange, if different from `limits.outboundTimeoutMs`. */
  timeoutMs?: number;
  /** Called with each address that passed the guard, before anything is sent there: hop 0 is the request's own, 1 the first redirect's. Throws to stop the request. */
  onHop?(to: URL, hop: number): void;
  /** Opens a connection first, if the runtime can: if that fails, it is certain that nothing was sent. Costs a connection. */
  opensFirst?: boolean;
};

/**
 * Resolves with any response, error statuses included. Throws `Problem` if the request is refused or the host is unreachable, with
 * `sent`: false if nothing was sent for certain, true if it may have arrived; rethrows an abort unchanged. For purpose `provider` the caller sets the timeout; the others have one.
 */
export type OutboundHttp = (request: Request, options: OutboundOptions) => Promise<Response>;

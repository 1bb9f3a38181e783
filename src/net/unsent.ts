/**
 * Tells a request that was certainly not sent from one that may have reached its server. Used by `outbound.ts`, whose problems have it in `sent`.
 *
 * workerd (2026-11) has the same error, "Network connection lost.", for a connection that was refused and for one that broke after the request.
 * "internal error" stands for a name that does not resolve and for a failed TLS handshake, but also for TLS that fails after the request. So
 * neither shows that nothing was sent; a connection that is opened before the request does (`test/e2e/unsent.e2e.test.ts`).
 */
import { SECOND } from '../core/limits/units.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { Clock } from '../ports/runtime.ts';

/** Returns why no connection can be opened, for the end of a sentence; null: it was opened, and is closed again. */
export type OpenOnce = (url: URL, isPrivate: boolean) => Promise<string | null>;

type Opened = { opened: Promise<unknown>; closed: Promise<unknown>; close(): Promise<unknown> };
type ConnectOptions = { secureTransport: 'on' | 'off'; allowHalfOpen: boolean };
type Network = { connect?(to: { hostname: string; port: number }, options: ConnectOptions): Opened };

/** A server that does not accept a connection for so long is called elsewhere. */
const openTimeoutMs = 10 * SECOND;

/** Opens connections through the networks of the local runtime. null: it has none, as on Cloudflare, whose servers cannot be reached so. */
export function openThrough(
  { PUBLIC_NETWORK: publicOnly, PRIVATE_NETWORK: unrestricted }: { PUBLIC_NETWORK?: Network; PRIVATE_NETWORK?: Network },
  clock: Pick<Clock, 'after'>,
): OpenOnce | null {
  if (publicOnly?.connect === undefined || unrestricted?.connect === undefined) return null;
  return async (url, isPrivate) => {
    const network = isPrivate ? unrestricted : publicOnly;
    const isTls = url.protocol === 'https:';
    const found = await opening(network, url, isTls ? 'on' : 'off', clock);
    if (found === 'open') return null;
    if (found === 'late') return `it accepts no connection within ${openTimeoutMs / SECOND} s`;
    if (isTls && (await opening(network, url, 'off', clock)) === 'open') return 'the TLS handshake failed';
    // The runtime does not tell them apart.
    const isAddress = /^[\d.]+$|^\[/.test(url.hostname);
    if (isAddress) return 'it refuses connections';
    return isPrivate
      ? 'its name does not resolve, or it refuses connections'
      : 'its name does not resolve, or resolves to a private address, or it refuses connections';
  };
}

type Opening = 'open' | 'failed' | 'late';

async function opening(network: Network, url: URL, secureTransport: 'on' | 'off', clock: Pick<Clock, 'after'>): Promise<Opening> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const socket = network.connect?.({ hostname: url.hostname, port }, { secureTransport, allowHalfOpen: false });
  if (socket === undefined) return 'failed';
  // Both reject, with the same reason as `opened`.
  const ignored = (): void => undefined;
  socket.closed.catch(ignored);
  const found = socket.opened.then(
    (): Opening => 'open',
    (): Opening => 'failed',
  );
  const opened = await withTimeout(clock, found, openTimeoutMs, (): Opening => 'late');
  socket.close().catch(ignored);
  return opened;
}

/**
 * Returns why a failed `fetch` of Node did not send its request, for the end of a sentence; null: it may have. Its errors name the system call
 * (nodejs.org/api/errors.html, `error.syscall`); a certificate is checked before the request. Errors of workerd have neither.
 */
export function whyUnsent(error: unknown): string | null {
  const { cause, errors, syscall, code } = error instanceof Error ? (error as Error & NodeFailure) : ({} as NodeFailure);
  if (cause !== undefined) return whyUnsent(cause);
  // One for each address of the name.
  if (errors !== undefined && errors.length > 0) return errors.every((one) => whyUnsent(one) !== null) ? whyUnsent(errors[0]) : null;
  if (syscall === 'getaddrinfo') return 'its name does not resolve';
  if (syscall === 'connect') return code === 'ECONNREFUSED' ? 'it refuses connections' : 'no connection could be opened';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'no connection could be opened in time';
  return code !== undefined && certificateFaults.test(code) ? 'its certificate is not valid' : null;
}

type NodeFailure = { cause?: unknown; errors?: readonly unknown[]; syscall?: string; code?: string };

/** nodejs.org/api/tls.html, "X509 certificate error codes". */
const certificateFaults =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|CERT_(?:HAS_EXPIRED|NOT_YET_VALID|UNTRUSTED|REVOKED|REJECTED)|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)$/;

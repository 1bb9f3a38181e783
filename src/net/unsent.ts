/**
 * Tells a request that was certainly not sent from one that may have reached its server. Used by `outbound.ts`, whose problems have it in `sent`.
 *
 * workerd (2026-11) has the same error, "Network connection lost.", for a connection that was refused and for one that broke after the request.
 * "internal error" stands for a name that does not resolve and for a failed TLS handshake, but also for TLS that fails after the request. So
 * neither shows that nothing was sent; a connection that is opened before the request does (`test/e2e/unanswered-calls.e2e.test.ts`).
 */
import { MINUTE, SECOND } from '../core/limits/units.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { Clock } from '../ports/runtime.ts';

/** Opens connections beside those of requests. Reasons are for the end of a sentence. */
export type Connections = {
  /** Returns why no connection can be opened; null: it was opened, and is closed again. */
  whyClosed(url: URL, isPrivate: boolean): Promise<string | null>;
  /** Returns what happened to a request that failed, to complete "The host …". What it says of the server holds for now. */
  whyBroken(url: URL, isPrivate: boolean): Promise<string>;
};

type Opened = {
  opened: Promise<unknown>;
  closed: Promise<unknown>;
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
  close(): Promise<unknown>;
};
type ConnectOptions = { secureTransport: 'on' | 'off'; allowHalfOpen: boolean };
type Network = {
  fetch(request: Request): Promise<Response>;
  connect?(to: { hostname: string; port: number }, options: ConnectOptions): Opened;
};
type Connecting = Network & Required<Pick<Network, 'connect'>>;

/** A server that does not accept a connection for so long is called elsewhere. */
const openTimeoutMs = 10 * SECOND;
/** The reason of a failure is worth less time. */
const reasonTimeoutMs = 2 * SECOND;
/** Without another handshake: one that has just succeeded. */
const trustHandshakeMs = 5 * MINUTE;
const maxHandshakes = 1_000;

/** Opens connections through the networks of the local runtime. null: it has none, as on Cloudflare, whose servers cannot be reached so. */
export function openThrough(
  { PUBLIC_NETWORK: publicOnly, PRIVATE_NETWORK: unrestricted }: { PUBLIC_NETWORK?: Network; PRIVATE_NETWORK?: Network },
  clock: Pick<Clock, 'after' | 'now'>,
): Connections | null {
  if (!isConnecting(publicOnly) || !isConnecting(unrestricted)) return null;
  const handshakes = new Map<string, number>();
  const whyClosed = async (url: URL, isPrivate: boolean, timeoutMs = openTimeoutMs): Promise<string | null> => {
    const network = isPrivate ? unrestricted : publicOnly;
    const isTls = url.protocol === 'https:';
    const shakes = isTls && clock.now() - (handshakes.get(url.origin) ?? Number.NEGATIVE_INFINITY) > trustHandshakeMs;
    const found = await opening(network, url, { secureTransport: shakes ? 'on' : 'off', timeoutMs }, clock);
    if (found === 'open') {
      if (shakes) {
        if (handshakes.size >= maxHandshakes) handshakes.clear();
        handshakes.set(url.origin, clock.now());
      }
      return null;
    }
    if (found === 'late') return `it accepts no connection within ${timeoutMs / SECOND} s`;
    if (shakes && (await opening(network, url, { secureTransport: 'off', timeoutMs }, clock)) === 'open') return 'the TLS handshake failed';
    const isAddress = /^[\d.]+$|^\[/.test(url.hostname);
    return isAddress || (await isFound(network, url, clock)) ? 'it refuses connections' : nameless(isPrivate);
  };
  return {
    whyClosed: (url, isPrivate) => whyClosed(url, isPrivate),
    async whyBroken(url, isPrivate) {
      const closed = await whyClosed(url, isPrivate, reasonTimeoutMs);
      if (closed !== null) return `could not be reached: ${closed}`;
      const start = await firstBytes(isPrivate ? unrestricted : publicOnly, url, clock);
      return start === '' || start.startsWith('HTTP/') ? brokeOff : noHttp;
    },
  };
}

function isConnecting(network: Network | undefined): network is Connecting {
  return network?.connect !== undefined;
}

function nameless(isPrivate: boolean): string {
  return isPrivate ? 'its name does not resolve' : 'its name does not resolve, or resolves to a private address';
}

/** Whether the name of a server that accepts no connection resolves: errors of `connect` do not tell, and those of `fetch` do. */
async function isFound(network: Network, url: URL, clock: Pick<Clock, 'after'>): Promise<boolean> {
  const request = new Request(url.origin, { method: 'HEAD', redirect: 'manual' });
  const found = network.fetch(request).then(
    async ({ body }) => {
      await body?.cancel();
      return true;
    },
    (error: unknown) => !isUnexplained(error),
  );
  return await withTimeout(clock, found, reasonTimeoutMs, () => true);
}

type Opening = 'open' | 'failed' | 'late';
type OpenOptions = Pick<ConnectOptions, 'secureTransport'> & { timeoutMs: number };

async function opening(
  network: Connecting,
  url: URL,
  { secureTransport, timeoutMs }: OpenOptions,
  clock: Pick<Clock, 'after'>,
): Promise<Opening> {
  const socket = connectTo(network, url, secureTransport);
  const found = socket.opened.then(
    (): Opening => 'open',
    (): Opening => 'failed',
  );
  const opened = await withTimeout(clock, found, timeoutMs, (): Opening => 'late');
  socket.close().catch(ignored);
  return opened;
}

function connectTo(network: Connecting, url: URL, secureTransport: ConnectOptions['secureTransport']): Opened {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const socket = network.connect({ hostname: url.hostname, port }, { secureTransport, allowHalfOpen: false });
  // Rejects with the same reason as `opened`.
  socket.closed.catch(ignored);
  return socket;
}

function ignored(): void {
  // What a connection was opened for is known already.
}

/** Returns the start of what the server responds to a request without effect; '': nothing. */
async function firstBytes(network: Connecting, url: URL, clock: Pick<Clock, 'after'>): Promise<string> {
  const socket = connectTo(network, url, url.protocol === 'https:' ? 'on' : 'off');
  const read = async (): Promise<string> => {
    const writer = socket.writable.getWriter();
    await writer.write(new TextEncoder().encode(`OPTIONS * HTTP/1.1\r\nhost: ${url.host}\r\nconnection: close\r\n\r\n`));
    const { value } = await socket.readable.getReader().read();
    return new TextDecoder().decode(value?.subarray(0, 16));
  };
  const start = await withTimeout(
    clock,
    read().catch(() => ''),
    reasonTimeoutMs,
    () => '',
  );
  socket.close().catch(ignored);
  return start;
}

/**
 * workerd has one error, without a reason, for a name that does not resolve, a name that resolves only to denied addresses, and a failed
 * TLS handshake: "internal error; reference = …". Other failed connections are marked as retryable.
 */
export function isUnexplained(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('internal error') && !('retryable' in cause);
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

/** Returns what happened to a failed `fetch` of Node, to complete "The host …"; null: its error does not say it (undici, "Errors"; llhttp, `HPE_*`). */
export function whyBroken(error: unknown): string | null {
  const { cause, code = '' } = error instanceof Error ? (error as Error & NodeFailure) : ({} as NodeFailure);
  if (cause !== undefined) return whyBroken(cause);
  if (code.startsWith('HPE_')) return noHttp;
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' || code === 'EPIPE') return brokeOff;
  return /^(?:ERR_SSL_|EPROTO)/.test(code) ? 'failed to speak TLS' : null;
}

const brokeOff = 'broke the connection before it responded';
const noHttp = 'responded with something that is not HTTP';

type NodeFailure = { cause?: unknown; errors?: readonly unknown[]; syscall?: string; code?: string };

/** nodejs.org/api/tls.html, "X509 certificate error codes". */
const certificateFaults =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|CERT_(?:HAS_EXPIRED|NOT_YET_VALID|UNTRUSTED|REVOKED|REJECTED)|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/**
 * The addresses of this service: MONIKER_PUBLIC_URL and the address that `npm start` bound, never the `Host` header, which the client
 * chooses. Also decides which hosts and browser origins may call it (MCP, Streamable HTTP, security: "Servers MUST validate the Origin
 * header on all incoming connections to prevent DNS rebinding attacks"). Programs send no origin.
 */
import { getOrBuild, memoizeByObject } from '../core/memoize.ts';
import { Problem, quoted } from '../core/problem.ts';
import { publicBase, type Settings } from '../core/people/settings.ts';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './middleware/request-context.ts';

type Addresses = Pick<Settings, 'publicUrl' | 'localUrl'>;

/** The same, or throws `not_configured`. `what`: the feature that requires the URL. */
export function requirePublicBase(publicUrl: string | null, what: string): string {
  const base = publicBase(publicUrl);
  if (base !== null) return base;
  throw new Problem(
    'not_configured',
    `${what} require MONIKER_PUBLIC_URL. Set it to the URL under which users reach this service, such as https://moniker.example.com.`,
  );
}

/**
 * Returns the URL of this service as OAuth clients know it, the issuer of their tokens: MONIKER_PUBLIC_URL, or locally the loopback address
 * that the client called. Tokens are sent over https or on this machine only, so null: neither is set. A service on this machine may be called
 * with TLS although its URL does not say so (`wrangler dev --local-protocol https`): then its issuer is https, too.
 */
export function issuerOf(settings: Addresses, requestUrl: string): string | null {
  const called = new URL(requestUrl);
  if (settings.localUrl !== null && isLoopbackHost(called.hostname) && isOwnOrigin(settings, called.origin)) return called.origin;
  const base = publicBase(settings.publicUrl);
  if (base === null) return null;
  const url = new URL(base);
  if (url.protocol === 'https:') return base;
  if (!isLoopbackHost(url.hostname)) return null;
  const isEncrypted = called.protocol === 'https:' && isLoopbackHost(called.hostname) && called.port === url.port;
  return isEncrypted ? base.replace('http:', 'https:') : base;
}

/**
 * Returns whether a page of this origin was served here. A loopback address counts under both of its names, on the bound port: not with another
 * scheme, since behind a proxy with TLS the URL of a request is http.
 */
export function isOwnOrigin(settings: Addresses, origin: string): boolean {
  return ownUrls(settings).some((url) => {
    if (url.origin === origin) return true;
    const given = parse(origin);
    return (
      given !== null &&
      isLoopbackHost(url.hostname) &&
      given.origin === origin &&
      given.hostname === 'localhost' &&
      given.protocol === url.protocol &&
      given.port === url.port
    );
  });
}

/** Returns whether a page of this origin may call `/mcp` and read the response. Tools such as the MCP Inspector are local pages. */
export function mayCallMcp(settings: Addresses & Pick<Settings, 'allowedOrigins'>, origin: string): boolean {
  if (settings.allowedOrigins.includes(origin) || isOwnOrigin(settings, origin)) return true;
  const given = parse(origin);
  return isLocal(settings) && given !== null && isLoopbackHost(given.hostname);
}

/**
 * Returns whether `host` is a name of the service. A service on a loopback address could otherwise be reached by an attacker's pages, whose
 * name resolves to that address. When deployed, every host is accepted: the platform has routed the request.
 */
function isOwnHost(settings: Addresses, host: string): boolean {
  return getOrBuild(hostsOf(settings), host, maxCachedHosts, () => readOwnHost(settings, host));
}

/** Parsing the addresses would cost a tenth of a chat request. Clients choose the host. */
const hostsOf = memoizeByObject((_settings: Addresses) => new Map<string, boolean>());
const maxCachedHosts = 64;

function readOwnHost(settings: Addresses, host: string): boolean {
  if (!isLocal(settings)) return true;
  const called = parse(`http://${host}`);
  return called !== null && (isLoopbackHost(called.hostname) || ownUrls(settings).some(({ hostname }) => hostname === called.hostname));
}

/** Whether this is a host with or without a port, and nothing else (RFC 9110 section 7.2). */
function isHost(host: string): boolean {
  return getOrBuild(judgedHosts, host, maxCachedHosts, () => !/[\s/?#@\\]/.test(host) && URL.canParse(`http://${host}/`));
}

const judgedHosts = new Map<string, boolean>();

function ownUrls({ publicUrl, localUrl }: Addresses): URL[] {
  return [parse(publicUrl), parse(localUrl)].filter((url) => url !== null);
}

function isLocal(settings: Addresses): boolean {
  return ownUrls(settings).some(({ hostname }) => isLoopbackHost(hostname));
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function parse(url: string | null): URL | null {
  return url === null ? null : URL.parse(url);
}

/**
 * Refuses a request without exactly one valid host, from which the runtime composes its URL. Prevents DNS rebinding: rejects requests that
 * reach a service on a loopback address under a foreign host name (`own-origin.ts`).
 */
export const requireOwnHost = createMiddleware<AppEnv>(async (c, next) => {
  const { url } = c.req;
  const host = c.req.header('host') ?? URL.parse(url)?.host ?? '';
  // After the scheme. `OPTIONS *` has no path.
  const [start, end] = [url.indexOf('//') + 2, url.indexOf('/', url.indexOf('//') + 2)];
  if (!isHost(host) || !isHost(url.slice(start, Math.max(start, end))))
    throw new Problem(
      'malformed_request',
      'The request must have exactly one valid Host header, such as `Host: moniker.example.com:8787`, and a path that begins with `/`.',
    );
  // Deliveries are signed, and arrive through tunnels under any name.
  if (!c.req.path.startsWith('/hooks/') && !isOwnHost(c.get('services').settings, host)) {
    throw new Problem(
      'forbidden',
      `Unknown host ${quoted(host)}. Use the address of this service, or set MONIKER_PUBLIC_URL to the URL under which users reach it.`,
    );
  }
  await next();
});

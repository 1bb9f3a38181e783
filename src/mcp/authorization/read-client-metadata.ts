/** Reads Client ID Metadata Documents through the outbound client: bounded, without redirects, and cached in the isolate. */
import { Problem } from '../../core/problem.ts';
import { KB } from '../../core/limits/units.ts';
import type { OAuthClient } from '../../core/people/grant.ts';
import { isLoopback } from '../../net/address.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { createTimedCache } from '../../platform/timed-cache.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';
import type { Clock } from '../../ports/runtime.ts';

const maxMetadataBytes = 16 * KB;
const maxUrlLength = 1 * KB;
const metadataTimeoutMs = 10_000;
const maxCachedClients = 500;
const cacheMs = 10 * 60_000;

type Deps = {
  outbound: OutboundHttp;
  clock: Clock;
  /** Throws `invalid_request` for invalid metadata. */
  check(url: string, metadata: unknown): Promise<OAuthClient>;
};

/** Returns the client at a URL. Throws a `Problem` with the reason if it cannot be read. */
export function createClientReader({ outbound, clock, check }: Deps): (url: string) => Promise<OAuthClient> {
  const cache = createTimedCache<OAuthClient>({ maxEntries: maxCachedClients, now: () => clock.now() });
  return (text) =>
    cache.load(text, async () => ({ value: await check(text, await fetchMetadata(outbound, requireClientUrl(text))), ttlMs: cacheMs }));
}

/** The rules of the draft for a client id that is a URL; http only on a loopback address, which the outbound client may refuse. */
function requireClientUrl(text: string): URL {
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  const isSafe =
    url !== null &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) &&
    url.username === '' &&
    url.password === '' &&
    url.pathname !== '/' &&
    !text.includes('#') &&
    url.href === text;
  if (isSafe) return url;
  throw new Problem(
    'invalid_request',
    'The client_id is neither a registered client nor the https URL of a metadata document, with a path and without a fragment or dot segments.',
  );
}

async function fetchMetadata(outbound: OutboundHttp, url: URL): Promise<unknown> {
  const onHop = (_to: URL, hop: number): void => {
    if (hop > 0) throw new Problem('invalid_request', 'The URL of the client_id redirects to another URL.');
  };
  const { response, bytes, truncated } = await readable(url, async () => {
    const request = new Request(url, { headers: { accept: 'application/json' } });
    const received = await outbound(request, { purpose: 'server', timeoutMs: metadataTimeoutMs, onHop });
    return { response: received, ...(await readBounded(received, maxMetadataBytes)) };
  });
  if (!response.ok)
    throw new Problem('invalid_request', `${url.host} responded with status ${response.status} to the URL of the client_id.`);
  if (truncated) throw new Problem('invalid_request', `The document at the URL of the client_id has more than ${maxMetadataBytes} bytes.`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new Problem('invalid_request', 'The document at the URL of the client_id is not JSON.');
  }
}

/** The URL is the client's choice, so a failure is its error, not one of the service. */
async function readable<T>(url: URL, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('invalid_request', `The document at the URL of the client_id could not be read from ${url.host}: ${error.detail}`);
  }
}

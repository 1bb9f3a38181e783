/** The address that a request comes from, the check of keys that may be used only from some addresses, and floods of one address. */
import { canonicalIp, isIpIn } from '../core/ip-address.ts';
import type { Principal } from '../core/people/principal.ts';
import { Problem } from '../core/problem.ts';
import type { AppContext } from './middleware/request-context.ts';

/**
 * Returns the address of the client; null: unknown. A client can send any header, so `cf-connecting-ip` counts only on Cloudflare, which
 * sets it; elsewhere only the header that the operator names. Without one, workerd gives the address of the connection.
 */
export function clientAddress(c: AppContext): string | null {
  const { trustedProxyHeader } = c.get('services').settings;
  // The last entry is from the proxy itself; the client may have sent the earlier ones.
  if (trustedProxyHeader !== null) return canonicalIp(c.req.header(trustedProxyHeader)?.split(',').at(-1) ?? '');
  // Not part of a request that a client can write: the runtime sets it.
  const { cf } = c.req.raw as { cf?: { clientIp?: unknown; colo?: unknown } };
  if (typeof cf?.clientIp === 'string') return canonicalIp(cf.clientIp);
  return cf?.colo === undefined ? null : canonicalIp(c.req.header('cf-connecting-ip') ?? '');
}

/** Throws `forbidden` if the key may not be used from the address of the request. */
export function requireAddress(c: AppContext, { keyId, ips }: Principal): void {
  if (ips === undefined) return;
  const address = clientAddress(c);
  if (address !== null && isIpIn(ips, address)) return;
  const { log, settings } = c.get('services');
  log.info('a key was used from an address that it does not allow', { requestId: c.get('requestId'), keyId, address });
  throw new Problem('forbidden', address === null ? unknownAddress(settings.trustedProxyHeader) : refusedAddress(address), { address });
}

function refusedAddress(address: string): string {
  return `This key cannot be used from ${address}. An administrator can add the address to the \`ips\` of the key.`;
}

function unknownAddress(header: string | null): string {
  const why =
    header === null
      ? 'An operator can set MONIKER_TRUSTED_PROXY_HEADER to the header in which the reverse proxy sends it, such as x-forwarded-for.'
      : `MONIKER_TRUSTED_PROXY_HEADER is ${header}, and the request has no address in this header.`;
  return `This key can be used from some addresses only, and the address of this request is unknown. ${why}`;
}

/**
 * Runs one attempt to sign in, to get a token or to use a link. Throws `rate_limited` while the address has too many failed ones, among which
 * it counts until it has succeeded: `succeeds` says which results do. An unknown address is not limited, since a stranger could lock everyone out.
 */
export async function limitAttempts<Result>(
  c: AppContext,
  work: () => Promise<Result>,
  succeeds: (result: Result) => boolean = () => true,
): Promise<Result> {
  const { signInAttempts } = c.get('services');
  const address = clientAddress(c);
  if (address === null) return await work();
  signInAttempts.require(address, 'sign-in');
  const attempt = signInAttempts.begin(address, 'sign-in');
  const result = await work();
  if (succeeds(result)) attempt.succeed();
  return result;
}

/** For work that reports its failures as responses. */
export function isSuccess({ status }: Response): boolean {
  return status < 400;
}

/** Normalized hosts for rules, questions and remembered approvals. Used by the policy and before requests are sent. */

/**
 * Returns the host that a URL reaches, as parsed by the WHATWG parser; null if the URL has no host. Each host has one form: no
 * trailing dots, and an IPv4-mapped IPv6 address (RFC 4291 2.5.5.2) becomes the IPv4 address.
 */
export function requestHost(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return null;
  const name = fromMapped(parsed.hostname.replace(/\.+$/, ''));
  return parsed.port === '' ? name : `${name}:${parsed.port}`;
}

/** Removes the port: a deny or ask rule without a port covers all ports. */
export function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function fromMapped(name: string): string {
  const [, high, low] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  return [high, low]
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 0xff])
    .join('.');
}

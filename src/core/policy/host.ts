/** Hosts as rules, questions and remembered answers have them. Used by the policy and by whoever sends a request. */

/**
 * The host that a URL reaches, as the WHATWG parser has it; null for what is no URL of a host. One host is one name: no dots at its end, and an
 * IPv4 address in IPv6 clothes (RFC 4291 2.5.5.2) is that address.
 */
export function requestHost(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return null;
  const name = fromMapped(parsed.hostname.replace(/\.+$/, ''));
  return parsed.port === '' ? name : `${name}:${parsed.port}`;
}

/** As a rule without a port means it, where it forbids: on all of them. */
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

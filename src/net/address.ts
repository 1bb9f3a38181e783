/**
 * The address ranges that are not on the public internet: the IANA special-purpose registries as a table, matched against the host of a
 * parsed URL, never against its text. IPv6 forms that embed an IPv4 address are classified by that address. The local runtime denies the
 * same ranges, as CIDR blocks, after DNS resolution (`local/launch/runtime.ts`).
 */
import { parseIpv4, parseIpv6, samePrefix } from '../core/ip-address.ts';

export type AddressVerdict = { kind: 'name' } | { kind: 'public' } | { kind: 'blocked'; range: string };

/** `hostname` as the URL parser gives it: dotted decimal IPv4, `[…]` IPv6, or a name. */
export function judgeAddress(hostname: string): AddressVerdict {
  if (hostname.startsWith('[')) return verdict(blockedIpv6(parseIpv6(hostname.slice(1, -1))));
  const ipv4 = parseIpv4(hostname);
  return ipv4 === null ? { kind: 'name' } : verdict(blockedIpv4(ipv4));
}

/** 127/8, `::1` and `localhost`: spellings of this machine that can be recognized without DNS. */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  const ipv4 = parseIpv4(hostname);
  return ipv4 !== null && (ipv4 >>> 24 === 127 || ipv4 === 0);
}

function verdict(range: string | null): AddressVerdict {
  return range === null ? { kind: 'public' } : { kind: 'blocked', range };
}

const ipv4Ranges: readonly [base: number, bits: number, name: string][] = (
  [
    ['0.0.0.0', 8, 'this network'],
    ['10.0.0.0', 8, 'a private network'],
    ['100.64.0.0', 10, 'a carrier network'],
    ['127.0.0.0', 8, 'this machine'],
    ['168.63.129.16', 32, 'a cloud metadata service'],
    ['169.254.0.0', 16, 'link-local, cloud metadata'],
    ['172.16.0.0', 12, 'a private network'],
    ['192.0.0.0', 24, 'protocol assignments'],
    ['192.0.2.0', 24, 'documentation'],
    ['192.88.99.0', 24, '6to4 relays'],
    ['192.168.0.0', 16, 'a private network'],
    ['198.18.0.0', 15, 'benchmarking'],
    ['198.51.100.0', 24, 'documentation'],
    ['203.0.113.0', 24, 'documentation'],
    ['224.0.0.0', 4, 'multicast'],
    ['240.0.0.0', 4, 'reserved'],
  ] as const
).map(([address, bits, name]) => [parseIpv4(address) ?? 0, bits, name]);

type Ipv6Rule = 'block' | { embedded: number };

/** The first match decides, so narrow ranges precede wide ones. `embedded`: index of the group where the IPv4 address starts. */
const ipv6Ranges: readonly [base: readonly number[], bits: number, name: string, rule: Ipv6Rule][] = (
  [
    ['::', 128, 'the unspecified address', 'block'],
    ['::1', 128, 'this machine', 'block'],
    ['::ffff:0:0', 96, 'mapped IPv4', { embedded: 6 }],
    ['::ffff:0:0:0', 96, 'translated IPv4', { embedded: 6 }],
    ['::', 96, 'compatible IPv4', 'block'],
    ['64:ff9b::', 96, 'NAT64', { embedded: 6 }],
    ['64:ff9b:1::', 48, 'local NAT64', 'block'],
    ['100::', 64, 'discard', 'block'],
    ['2001::', 32, 'Teredo', 'block'],
    ['2001:2::', 48, 'benchmarking', 'block'],
    ['2001:10::', 28, 'ORCHID', 'block'],
    ['2001:20::', 28, 'ORCHIDv2', 'block'],
    ['2001:db8::', 32, 'documentation', 'block'],
    ['2002::', 16, '6to4', { embedded: 1 }],
    ['3fff::', 20, 'documentation', 'block'],
    ['5f00::', 16, 'segment routing', 'block'],
    ['fc00::', 7, 'a private network', 'block'],
    ['fe80::', 10, 'link-local', 'block'],
    ['fec0::', 10, 'site-local', 'block'],
    ['ff00::', 8, 'multicast', 'block'],
  ] as const
).map(([address, bits, name, rule]) => [parseIpv6(address), bits, name, rule]);

/** Returns every blocked range as a CIDR block. A prefix with an embedded IPv4 address is listed once for each blocked IPv4 range. */
export function blockedNetworks(): string[] {
  const ipv6 = ipv6Ranges.flatMap(([base, bits, , rule]) =>
    rule === 'block'
      ? [formatIpv6(base, bits)]
      : ipv4Ranges.map(([address, length]) => embeddedNetwork(base, rule.embedded, address, length)),
  );
  return [...ipv4Ranges.map(([base, bits]) => `${formatIpv4(base)}/${bits}`), ...ipv6];
}

function embeddedNetwork(base: readonly number[], group: number, address: number, bits: number): string {
  const groups = base.with(group, address >>> 16).with(group + 1, address & 0xffff);
  return formatIpv6(groups, group * 16 + bits);
}

function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}

function formatIpv6(groups: readonly number[], bits: number): string {
  return `${groups.map((group) => group.toString(16)).join(':')}/${bits}`;
}

function blockedIpv4(address: number): string | null {
  for (const [base, bits, name] of ipv4Ranges) {
    if ((address ^ base) >>> (32 - bits) === 0) return name;
  }
  return null;
}

function blockedIpv6(groups: readonly number[]): string | null {
  for (const [base, bits, name, rule] of ipv6Ranges) {
    if (!samePrefix(groups, base, bits)) continue;
    if (rule === 'block') return name;
    const [high = 0, low = 0] = groups.slice(rule.embedded, rule.embedded + 2);
    return blockedIpv4(((high << 16) | low) >>> 0);
  }
  return null;
}

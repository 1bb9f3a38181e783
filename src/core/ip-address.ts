/**
 * IP addresses and CIDR ranges. An IPv4-mapped IPv6 address (RFC 4291 2.5.5.2) is the IPv4 address; a range of IPv6 contains no IPv4
 * addresses, so `::/0` does not match them.
 */
import * as z from 'zod';

/** An address, or the first address of a range: eight groups. IPv4 is stored in its mapped form. */
type Address = readonly number[];
type Range = { base: Address; bits: number };

const mappedBits = 96;

/** Returns why the text is neither an address nor a range, as the end of a sentence; null: it is one. */
function rangeFault(text: string): string | null {
  const range = parseRange(text);
  if (range === null)
    return `${JSON.stringify(text.slice(0, 60))} must be an IP address or a CIDR range, such as 203.0.113.7 or 2001:db8::/32`;
  const first = range.base.map((group, index) => group & groupMask(range.bits - index * 16));
  if (samePrefix(first, range.base, 128)) return null;
  return `${JSON.stringify(text)} has bits after its prefix. Write ${formatRange({ ...range, base: first })}`;
}

export const IpRange = z
  .string()
  .max(60)
  .superRefine((text, context) => {
    const message = rangeFault(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({ id: 'IpRange', description: 'An IPv4 or IPv6 address, or a CIDR range.', example: '203.0.113.0/24' });

/** Returns the one form of an address, such as `203.0.113.7` or `2001:db8::1`. A port and brackets are dropped. null: not an address. */
export function canonicalIp(text: string): string | null {
  const address = parseAddress(withoutPort(text.trim()));
  return address === null ? null : formatAddress(address);
}

/** Returns the /64 network of an IPv6 address, which one host has; an IPv4 address and other text unchanged. */
export function networkOfHost(text: string): string {
  const address = parseAddress(text);
  return address === null || isMapped(address) ? text : address.slice(0, 4).join(':');
}

/** `ranges`: valid. Returns false for text that is not an address. */
export function isIpIn(ranges: readonly string[], text: string): boolean {
  return parseAddress(text) !== null && areIpsWithin(ranges, [text]);
}

/** Whether each of these ranges is contained in one of `outer`. */
export function areIpsWithin(outer: readonly string[], ranges: readonly string[]): boolean {
  const parsed = outer.flatMap((text) => parseRange(text) ?? []);
  return ranges.every((text) => {
    const range = parseRange(text);
    return range !== null && parsed.some((around) => contains(around, range));
  });
}

function contains(outer: Range, range: Range): boolean {
  return isIpv4(outer) === isIpv4(range) && outer.bits <= range.bits && samePrefix(range.base, outer.base, outer.bits);
}

function isIpv4({ base, bits }: Range): boolean {
  return bits >= mappedBits && isMapped(base);
}

function isMapped(address: Address): boolean {
  return samePrefix(address, [0, 0, 0, 0, 0, 0xffff], mappedBits);
}

function parseRange(text: string): Range | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const base = rest.length > 0 ? null : parseAddress(address);
  if (base === null) return null;
  const isDotted = !address.includes(':');
  if (prefix === undefined) return { base, bits: 128 };
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > (isDotted ? 32 : 128)) return null;
  return { base, bits: Number(prefix) + (isDotted ? mappedBits : 0) };
}

/** `[::1]:443`, `192.0.2.1:443` and `[::1]` without port and brackets; an IPv6 address without brackets has no port. */
function withoutPort(text: string): string {
  const [, bracketed, dotted] = /^(?:\[(.*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(text) ?? [];
  return bracketed ?? dotted ?? text;
}

/** Strict: no leading zeros, no zone, no other number formats that the URL parser would accept. */
function parseAddress(text: string): Address | null {
  if (!text.includes(':')) {
    const isStrict = text.split('.').every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
    const ipv4 = isStrict ? parseIpv4(text) : null;
    return ipv4 === null ? null : [0, 0, 0, 0, 0, 0xffff, ipv4 >>> 16, ipv4 & 0xffff];
  }
  const url = text.length <= 45 && /^[\da-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]/`) : null;
  return url === null ? null : parseIpv6(url.hostname.slice(1, -1));
}

function formatRange({ base, bits }: Range): string {
  return isIpv4({ base, bits }) ? `${formatAddress(base)}/${bits - mappedBits}` : `${formatAddress(base, false)}/${bits}`;
}

function formatAddress(address: Address, asIpv4 = isMapped(address)): string {
  if (asIpv4)
    return address
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return new URL(`http://[${address.map((group) => group.toString(16)).join(':')}]/`).hostname.slice(1, -1);
}

/** Returns a mask of the leading bits of one group. */
function groupMask(bits: number): number {
  return (0xffff << (16 - Math.min(16, Math.max(0, bits)))) & 0xffff;
}

export function samePrefix(groups: readonly number[], base: readonly number[], bits: number): boolean {
  for (let index = 0; index * 16 < bits; index += 1) {
    const shift = Math.max(0, 16 - (bits - index * 16));
    if ((groups[index] ?? 0) >>> shift !== (base[index] ?? 0) >>> shift) return false;
  }
  return true;
}

/** Returns the number of a dotted decimal address as the URL parser gives it. */
export function parseIpv4(text: string): number | null {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return null;
  return text.split('.').reduce((address, part) => ((address << 8) | Number(part)) >>> 0, 0);
}

/** Returns the eight groups of a valid address. The URL parser leaves no dotted tail. */
export function parseIpv6(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const groups = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [front, back] = [groups(head), groups(tail ?? '')];
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

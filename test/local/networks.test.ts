import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blockedNetworks, judgeAddress } from '../../src/net/address.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { runs } from '../selection.ts';

const denied = new BlockList();
for (const network of blockedNetworks()) {
  const [address = '', bits = ''] = network.split('/');
  denied.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
}
const isDenied = (address: string): boolean => denied.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
const hostOf = (address: string): string => new URL(`http://${isIPv6(address) ? `[${address}]` : address}/`).hostname;

it('denies after DNS resolution exactly what the guard rejects by text', () => {
  const groups = fc.tuple(
    fc.constantFrom(0, 0x64, 0x2001, 0x2002, 0xfc00, 0xfe80),
    ...Array.from({ length: 7 }, () => fc.constantFrom(0, 1, 0xff9b, 0xffff, 0x7f00, 0x0a00, 0x0808)),
  );
  const ipv6 = groups.map((parts) => parts.map((part) => part.toString(16)).join(':'));
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), ipv6), (address) => {
      expect(isDenied(address)).toBe(judgeAddress(hostOf(address)).kind === 'blocked');
    }),
    { numRuns: runs(5_000) },
  );
});

describeCorpus('security/ip-ranges.json', (path) => {
  const { ipv4, ipv6 } = readJson<Record<'ipv4' | 'ipv6', { cidr: string; rule: string }[]>>(path);
  it.each([...ipv4, ...ipv6].filter(({ rule }) => rule === 'block'))('denies $cidr', ({ cidr }) => {
    expect(isDenied(cidr.split('/')[0] ?? '')).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { areIpsWithin, canonicalIp, IpRange, isIpIn, networkOfHost } from '../../src/core/ip-address.ts';

describe('a range contains an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.128/25', '203.0.113.127', false],
    ['203.0.113.6/31', '203.0.113.7', true],
    ['203.0.113.7/32', '203.0.113.7', true],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['::ffff:a00:1', '10.0.0.1', true],
    ['::/0', '2001:db8::1', true],
    ['::/0', '10.0.0.1', false],
    ['::/0', '::ffff:10.0.0.1', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['203.0.113.0/24', 'unknown', false],
  ])('says whether %s contains %s: %s', (range, address, expected) => {
    expect(IpRange.safeParse(range).error).toBeUndefined();
    expect(isIpIn([range], address)).toBe(expected);
    expect(isIpIn(['192.0.2.1', range], address)).toBe(expected);
  });

  it('is never true for an empty list', () => {
    expect(isIpIn([], '203.0.113.7')).toBe(false);
  });
});

it.each([
  ...[
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '01.2.3.4',
    '0x7f.0.0.1',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/-1',
    '1.2.3.4/08',
    '1.2.3.4/8/8',
  ],
  ...[
    ':',
    ':::',
    '1::2::3',
    '2001:db8::/129',
    'fe80::1%eth0',
    '[::1]',
    '1.2.3.4:80',
    'example.com',
    '1.2.3.0/255.255.255.0',
    ' 1.2.3.4',
    '*',
  ],
])('the entry %j is refused', (text) => {
  expect(IpRange.safeParse(text).success).toBe(false);
});

it.each([
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['203.0.113.7/31', '203.0.113.6/31'],
  ['2001:db8::1/32', '2001:db8::/32'],
  ['::ffff:10.0.0.1/0', '::/0'],
])('%s has bits after its prefix: the error says %s', (text, instead) => {
  expect(IpRange.safeParse(text).error?.issues[0]?.message).toBe(`"${text}" has bits after its prefix. Write ${instead}`);
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
  ['203.0.113.7:443', '203.0.113.7'],
  ['[::ffff:127.0.0.1]:40602', '127.0.0.1'],
  ['[::1]:48876', '::1'],
  ['[2001:DB8:0::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['', null],
  ['unknown', null],
  ['_hidden', null],
])('the address in %j is %s', (text, expected) => {
  expect(canonicalIp(text)).toBe(expected);
});

it.each([
  [['10.0.0.0/8'], ['10.1.0.0/16', '10.9.9.9'], true],
  [['10.0.0.0/8'], ['10.0.0.0/7'], false],
  [['10.0.0.0/8'], ['10.1.0.0/16', '192.0.2.1'], false],
  [['10.0.0.0/8', '192.0.2.0/24'], ['192.0.2.0/25'], true],
  [['::/0'], ['0.0.0.0/0'], false],
  [['0.0.0.0/0'], ['::ffff:0:0/96'], true],
  [['0.0.0.0/0'], ['::/0'], false],
  [['2001:db8::/32'], ['2001:db8:1::/48'], true],
])('%j contains %j: %s', (outer, ranges, expected) => {
  expect(areIpsWithin(outer, ranges)).toBe(expected);
});

it('names the network of a host, which has a whole /64 of IPv6', () => {
  expect(networkOfHost('2001:db8::1')).toBe(networkOfHost('2001:db8::2'));
  expect(networkOfHost('2001:db8::1')).not.toBe(networkOfHost('2001:db8:0:1::1'));
  expect(networkOfHost('192.0.2.1')).toBe('192.0.2.1');
});

/** Keys with `ips` work only from these addresses, and the address cannot be forged. */
import { expect, it } from 'vitest';
import { createHarness, type Harness } from './harness.ts';

type Sent = { headers?: Record<string, string>; cf?: object };

/** A request with a key that allows 203.0.113.0/24 and 2001:db8::/32. */
async function sender(environment: Record<string, string> = {}) {
  const harness: Harness = createHarness(environment);
  const { key } = await harness.catalog.createKey({ name: 'office', scopes: ['tools'], ips: ['203.0.113.0/24', '2001:db8::/32'] });
  return async ({ headers = {}, cf }: Sent): Promise<{ status: number; detail: string | undefined; address: unknown }> => {
    const request = new Request('http://127.0.0.1/v1/me', { headers: { authorization: `Bearer ${key}`, ...headers } });
    if (cf !== undefined) Object.defineProperty(request, 'cf', { value: cf });
    const response = await harness.app.fetch(request);
    const { detail, address } = (await response.json()) as { detail?: string; address?: unknown };
    return { status: response.status, detail, address };
  };
}

const cloudflare = { colo: 'AMS' };

it.each<[string, Sent, number]>([
  ['Cloudflare says that it is allowed', { cf: cloudflare, headers: { 'cf-connecting-ip': '203.0.113.9' } }, 200],
  ['Cloudflare says that it is allowed, IPv6', { cf: cloudflare, headers: { 'cf-connecting-ip': '2001:db8:1::9' } }, 200],
  ['Cloudflare names another address', { cf: cloudflare, headers: { 'cf-connecting-ip': '198.51.100.1' } }, 403],
  ['the connection is allowed', { cf: { clientIp: '203.0.113.9:40602' } }, 200],
  ['the connection is allowed, mapped', { cf: { clientIp: '[::ffff:203.0.113.9]:40602' } }, 200],
  ['the connection is from elsewhere', { cf: { clientIp: '127.0.0.1:40602' } }, 403],
  [
    'a local client forges the header of Cloudflare',
    { cf: { clientIp: '127.0.0.1:1' }, headers: { 'cf-connecting-ip': '203.0.113.9' } },
    403,
  ],
  ['another runtime knows no address', { headers: { 'cf-connecting-ip': '203.0.113.9', 'x-forwarded-for': '203.0.113.9' } }, 403],
])('%s', async (_title, sent, status) => {
  expect((await (await sender())(sent)).status).toBe(status);
});

it.each<[string, Sent, number]>([
  ['the proxy adds the address', { headers: { 'x-forwarded-for': '203.0.113.9' } }, 200],
  ['the client forges an earlier entry', { headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.1' } }, 403],
  ['the last entry is of the proxy', { headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.9:5000' } }, 200],
  ['the request came around the proxy', { cf: { clientIp: '203.0.113.9:1' } }, 403],
  ['the entry is no address', { headers: { 'x-forwarded-for': 'unknown' } }, 403],
])('with a trusted header: %s', async (_title, sent, status) => {
  expect((await (await sender({ MONIKER_TRUSTED_PROXY_HEADER: 'X-Forwarded-For' }))(sent)).status).toBe(status);
});

it('names the address that it saw, or the setting that is missing', async () => {
  const refused = await (await sender())({ cf: { clientIp: '[::ffff:198.51.100.1]:1' } });
  expect(refused.address).toBe('198.51.100.1');
  expect(refused.detail).toBe('This key cannot be used from 198.51.100.1. An administrator can add the address to the `ips` of the key.');
  const unknown = await (await sender())({});
  expect(unknown.detail).toContain('MONIKER_TRUSTED_PROXY_HEADER');
  expect(unknown.address).toBeNull();
});

it('does not ask for the address of a key without `ips`', async () => {
  const { send, key } = createHarness();
  expect((await send('GET', '/v1/me', undefined, await key({ scopes: ['tools'] }))).status).toBe(200);
});

/** Which replies of a provider are read before they are forwarded. */
import { expect, it } from 'vitest';
import { noMeter } from '../../src/engine/proxy/call-meter.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Forwarding, forwardBody } from '../../src/providers/forwarded-reply.ts';

const forwarding: Forwarding = {
  access: { name: 'mock', kind: 'openai', baseUrl: 'https://api.openai.com/v1', headers: {} } as unknown as Forwarding['access'],
  meter: noMeter,
  readUsage: undefined,
  reportsUsage: true,
  clock: systemClock,
  background: () => undefined,
};

const reply = (headers: Record<string, string>): Response =>
  new Response('{"ok":true}', { headers: { 'content-type': 'application/json', ...headers } });

it('reads a short reply at once', async () => {
  expect(await forwardBody(reply({ 'content-length': '11' }), forwarding)).toEqual(new TextEncoder().encode('{"ok":true}'));
});

it.each([
  ['has no length', {}],
  ['is long', { 'content-length': '5000000' }],
  ['is compressed, so that it may become long', { 'content-length': '11', 'content-encoding': 'gzip' }],
  ['is chunked, so that its length may be wrong', { 'content-length': '11', 'transfer-encoding': 'chunked' }],
])('passes on as a stream what %s', async (_what, headers) => {
  const body = await forwardBody(reply(headers), forwarding);
  expect(body).toBeInstanceOf(ReadableStream);
  expect(await new Response(body).text()).toBe('{"ok":true}');
});

/** A planned stop: unsafe calls end and their results are stored, streams end between two frames, new work is refused, and turns go on afterwards. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endedTurn, eventually } from './eventually.ts';
import { openSocket } from './responses-sockets.ts';
import { makeDataDir, removeDataDir, type RunningService, startService } from './service.ts';

const dataDir = makeDataDir();
const environment = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*', MONIKER_DRAIN_SECONDS: '30' };
let service: RunningService;
let shop: Server;
/** Payments that have begun, and those that were answered to a caller who was still there. */
let begun = 0;
let paid = 0;
let answer: () => void = () => undefined;

const tool = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };

beforeAll(async () => {
  shop = createServer((request, response) => {
    request.resume();
    begun += 1;
    answer = () => {
      response.once('finish', () => {
        paid += 1;
      });
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ content: [{ type: 'text', text: 'paid' }] }));
    };
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  const { port } = shop.address() as AddressInfo;
  service = await startService(dataDir, environment);
  const put = async (path: string, body: unknown) => expect((await service.call('PUT', path, body)).status, path).toBe(201);
  await put('/v1/servers/shop', { kind: 'static', url: `http://127.0.0.1:${port}/`, tools: [tool], trusted: true });
  await put('/v1/toolsets/buying', { tools: [{ tool: 'shop.pay', approval: 'never' }] });
  await put('/v1/agents/buyer', { model: 'rehearsal/default', toolset: 'buying' });
});
afterAll(async () => {
  await service?.stop();
  shop.closeAllConnections();
  shop.close();
  removeDataDir(dataDir);
});

/** Returns what a stream sends, and whether it ended as a whole response does. */
async function follow(path: string): Promise<{ text: string; isWhole: boolean }> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.key}`, accept: 'text/event-stream' } });
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, isWhole: true };
  } catch {
    return { text, isWhole: false };
  }
}

it('lets a payment end and stores its result, once, while new work is refused; the turn goes on at the next start', async () => {
  const { id } = (await service.call('POST', '/v1/sessions', { agent: 'buyer' })).json;
  const turn = service.call('POST', `/v1/sessions/${id}/turns`, { input: '/pay {}' });
  await eventually('the payment has begun', () => (begun === 1 ? true : undefined));
  const stream = follow(`/v1/sessions/${id}/events`);
  const ended = service.stop('SIGTERM');
  const refused = await eventually('new work is refused', async () => {
    const made = await service.call('POST', '/v1/sessions', { agent: 'buyer' });
    return made.status === 201 ? undefined : made;
  });
  expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
  expect((await service.call('GET', '/readyz')).status).toBe(503);
  expect((await service.call('GET', `/v1/sessions/${id}`)).json.turn.status).toBe('running');
  answer();
  expect(await ended).toBe(0);
  expect([begun, paid]).toEqual([1, 1]);
  const waited = await turn;
  expect([waited.status, waited.json.code]).toEqual([503, 'unavailable']);
  const { text, isWhole } = await stream;
  expect(isWhole, text).toBe(true);
  expect(text).toMatch(/\n\n$/);
  expect(text).toContain('event: tool-result');
  expect(service.printed()).toContain('in progress have ended');

  service = await startService(dataDir, environment);
  expect(await endedTurn(service, id)).toMatchObject({ status: 'completed' });
  // Read on from the last event: none is missing.
  const last = Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]);
  const { items } = (await service.call('GET', `/v1/sessions/${id}/events?format=page&after=${last}`)).json ?? {};
  if (items !== undefined) expect(items[0].id).toBe(last + 1);
  expect(begun).toBe(1);
  const messages = (await service.call('GET', `/v1/sessions/${id}/messages`)).text;
  expect(messages).toContain('paid');
  expect(messages).not.toContain('outcome_unknown');
});

it('waits no longer than MONIKER_DRAIN_SECONDS, and says what did not end', async () => {
  await service.stop();
  service = await startService(dataDir, { ...environment, MONIKER_DRAIN_SECONDS: '1' });
  const before = begun;
  const call = service.call('POST', '/v1/toolsets/buying/calls', { name: 'pay', arguments: {} });
  await eventually('the payment has begun', () => (begun === before + 1 ? true : undefined));
  const at = performance.now();
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(performance.now() - at).toBeLessThan(10_000);
  const answered = await call;
  expect([answered.status, answered.json.detail]).toEqual([503, expect.stringContaining('check before you repeat it')]);
  expect(service.printed()).toContain('did not end in time');
});

it('stops at once when nothing is in progress, and closes WebSockets with a reason', async () => {
  service = await startService(dataDir, { MONIKER_DRAIN_SECONDS: '600' });
  const socket = await openSocket(`${service.url}/v1/responses`, { authorization: `Bearer ${service.key}` });
  const at = performance.now();
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(performance.now() - at).toBeLessThan(10_000);
  expect(await socket.closed).toEqual({ code: 1012, reason: 'unavailable' });
});

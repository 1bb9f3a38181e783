/** Floods of one key: what exceeds a bound is refused in words, and another key and another workspace go on as before. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { selection } from '../selection.ts';
import { shareService } from './shared-service.ts';
import { sendSlowly } from './slow-body.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });

type Caller = Record<string, string>;
type Guard = { url: string; close(): void; open: number; most: number };

let guard: Guard;

beforeAll(async () => {
  const state = { open: 0, most: 0 };
  const listening = await listenUpstream({
    async handle() {
      state.open += 1;
      state.most = Math.max(state.most, state.open);
      await new Promise((resolve) => setTimeout(resolve, 400));
      state.open -= 1;
      return Response.json({ decision: 'deny', reason: 'nothing m run' });
    },
  });
  guard = Object.assign(state, { url: listening.url, close: () => listening.close() });
  await service.call('PUT', '/v1/workspaces/other', {});
});
afterAll(() => guard.close());

async function keyIn(workspace: string, scopes = ['tools']): Promise<Caller> {
  const { json } = await service.call('POST', '/v1/keys', { name: 'a key', scopes }, { 'x-moniker-workspace': workspace });
  return { authorization: `Bearer ${json.key}` };
}

const inWorkspace = (workspace: string, method: string, path: string, body: unknown) =>
  service.call(method, path, body, { 'x-moniker-workspace': workspace });

it('a guard that denies everything denies every call of a flood, and answers calls of others meanwhile', async () => {
  for (const workspace of ['default', 'other']) {
    await inWorkspace(workspace, 'PUT', '/v1/toolsets/sums', { tools: [{ tool: 'local.calculate', name: 'calculate', aliases: [] }] });
    const settings = { guard: { url: guard.url, onFailure: 'allow', timeoutMs: 5_000 } };
    await service.call('PUT', `/v1/workspaces/${workspace}`, { settings });
  }
  const [flooding, neighbour, stranger] = [await keyIn('default'), await keyIn('default'), await keyIn('other')];
  const call = async (caller: Caller) => {
    const { status, json } = await service.call(
      'POST',
      '/v1/toolsets/sums/calls',
      { name: 'calculate', arguments: { expression: '1 + 1' } },
      caller,
    );
    return `${status} ${json.code ?? 'ran'} ${json.content?.[0]?.text ?? ''}`.slice(0, 80);
  };
  const flood = Promise.all(Array.from({ length: 300 }, () => call(flooding)));
  await expect.poll(() => guard.open, { timeout: 20_000 }).toBeGreaterThanOrEqual(20);
  const others = await Promise.all([call(neighbour), call(stranger)]);
  // On a busy machine some wait too long for their turn.
  const answers = new Set((await flood).map((text) => text.slice(0, 17)));
  answers.delete('200 limit_reached');
  expect([...answers]).toEqual(['200 guard_denied ']);
  expect(others).toEqual(
    others.map(() => expect.stringContaining('200 guard_denied Not run: the guard of the workspace denied this call')),
  );
});

it.skipIf(process.platform !== 'linux')(
  'slow bodies of strangers are refused before they are read, and an event from another address is taken',
  async () => {
    const sending = Array.from({ length: 400 }, () => sendSlowly(service, '/hooks/default/unknown'));
    const answers: number[] = [];
    for (const { answer } of sending) void answer.then((status) => answers.push(status));
    const other = sendSlowly(service, '/hooks/default/unknown', { address: '127.0.0.2', size: 20, sent: 20 });
    expect(await other.answer).toBe(404);
    // All but those that are being read, of at most 4 MB.
    await expect.poll(() => answers.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(396);
    expect(new Set(answers)).toEqual(new Set([429]));
    for (const { socket } of [...sending, other]) socket.destroy();
  },
);

it('slow bodies of a key are refused beyond its share of the memory, and other keys send theirs', async () => {
  const [flooding, neighbour] = [await keyIn('default', ['chat']), await keyIn('default', ['chat'])];
  const sending = Array.from({ length: 40 }, () =>
    sendSlowly(service, '/v1/chat/completions', { size: 9_000_000, sent: 10_000, headers: flooding }),
  );
  const answers: number[] = [];
  for (const { answer } of sending) void answer.then((status) => answers.push(status));
  const request = { model: 'rehearsal/default', messages: [{ role: 'user', content: 'x'.repeat(5_000_000) }] };
  expect((await service.call('POST', '/v1/chat/completions', request, neighbour)).status).toBe(200);
  await expect.poll(() => answers.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(33);
  expect(new Set(answers)).toEqual(new Set([429]));
  for (const { socket } of sending) socket.destroy();
});

it.runIf(selection === 'all')(
  'open streams of a key are bounded, other keys and workspaces open theirs, and a client that leaves frees its place',
  async () => {
    const { perKey } = poolBounds.streams;
    // A response that nothing refers to would be collected and closed.
    const opened: { response: Response; abort: AbortController }[] = [];
    const follow = async (session: string, caller: Caller): Promise<number> => {
      const abort = new AbortController();
      const response = await fetch(`${service.url}/v1/sessions/${session}/events`, { headers: caller, signal: abort.signal });
      if (response.ok) opened.push({ response, abort });
      else
        expect(await response.json()).toMatchObject({ code: 'rate_limited', limit: 'openStreams', of: 'key', max: perKey, used: perKey });
      return response.status;
    };
    const [flooding, neighbour, stranger] = [
      await keyIn('default', ['chat']),
      await keyIn('default', ['chat']),
      await keyIn('other', ['chat']),
    ];
    const sessionOf = async (caller: Caller): Promise<string> =>
      (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' }, caller)).json.id;
    const own = await sessionOf(flooding);
    const statuses: number[] = [];
    for (let batch = 0; batch < 6; batch += 1)
      statuses.push(...(await Promise.all(Array.from({ length: 100 }, () => follow(own, flooding)))));
    expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length]).toEqual([
      perKey,
      600 - perKey,
    ]);
    expect(await follow(await sessionOf(neighbour), neighbour)).toBe(200);
    expect(await follow(await sessionOf(stranger), stranger)).toBe(200);
    // The requests of the key go on.
    expect((await service.call('GET', `/v1/sessions/${own}`, undefined, flooding)).status).toBe(200);
    for (const { abort } of opened) abort.abort();
    await expect.poll(() => follow(own, flooding), { timeout: 30_000, interval: 500 }).toBe(200);
    opened.at(-1)?.abort.abort();
  },
);

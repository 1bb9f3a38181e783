/** Floods of one key: what exceeds a bound is refused in words, and another key and another workspace go on as before. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';

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
  await new Promise((resolve) => setTimeout(resolve, 300));
  const others = await Promise.all([call(neighbour), call(stranger)]);
  // On a busy machine some wait too long for their turn.
  const answers = new Set((await flood).map((text) => text.slice(0, 17)));
  answers.delete('200 limit_reached');
  expect([...answers]).toEqual(['200 guard_denied ']);
  expect(others).toEqual(
    others.map(() => expect.stringContaining('200 guard_denied Not run: the guard of the workspace denied this call')),
  );
});

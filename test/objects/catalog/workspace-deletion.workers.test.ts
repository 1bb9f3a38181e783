/** The deletion of a workspace: everything of it is erased, in steps that each may fail and be repeated. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { objectName } from '../../../src/storage/keys.ts';
import { sessionObjectId } from '../../../src/objects/session/client/session-client.ts';
import { createWorkspaceEraser } from '../../../src/storage/backup/workspace-eraser.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { testEnv } from '../../storage/workspace.ts';
import { send } from './real-service.ts';

type Json = Record<string, unknown>;
const inside = (workspace: string) => ({ 'x-moniker-workspace': workspace });
const json = async (response: Response): Promise<Json> => (await response.json()) as Json;
const canary = 'canary-of-a-deleted-workspace';
const mcp = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: canary, version: '1' } },
};

/** A workspace with documents, a session, a chat answer, an MCP session, files, usage and audit rows. */
async function fill(workspace: string) {
  const within = inside(workspace);
  await send('PUT', `/v1/workspaces/${workspace}`, { settings: { requestLog: { bodies: true } } });
  const { key } = await json(await send('POST', '/v1/keys', { name: canary, scopes: ['admin'] }, within));
  const own = { authorization: `Bearer ${String(key)}` };
  await send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash', aliases: ['shell'] }], description: canary }, own);
  await send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', instructions: canary, toolset: 'demo' }, own);
  await send('PUT', '/v1/secrets/token', { value: canary, hosts: ['example.com'] }, own);
  await send('PUT', '/v1/webhooks/hook', { agent: 'helper', scheme: 'bearer', secret: canary, input: canary }, own);
  const session = String((await json(await send('POST', '/v1/sessions', { agent: 'helper' }, own))).id);
  await send('PUT', `/v1/sessions/${session}/files/notes.txt`, canary, { ...own, 'content-type': 'text/plain' });
  const chat = { model: 'agent/helper', messages: [{ role: 'user', content: canary }] };
  expect((await send('POST', '/v1/chat/completions', chat, own)).status).toBe(200);
  const plain = { model: 'rehearsal/default', messages: [{ role: 'user', content: canary }] };
  expect((await send('POST', '/v1/chat/completions', plain, own)).status).toBe(200);
  await send('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: `echo ${canary}` } }, own);
  const begun = await send('POST', '/mcp/demo', initialize, { ...own, ...mcp });
  await begun.text();
  const mcpSession = begun.headers.get('mcp-session-id') ?? '';
  expect([begun.status, mcpSession]).toEqual([200, expect.stringMatching(/./)]);
  return { own, session, mcpSession };
}

const namespaces = { catalog: testEnv.CATALOG, 'audit-shard': testEnv.AUDIT_SHARD, usage: testEnv.USAGE };
const objectOf = async (workspace: string, kind: keyof typeof namespaces, id: string) =>
  namespaces[kind].get(namespaces[kind].idFromName(await objectName(workspace, kind, id)));
const tablesOf = (object: DurableObjectStub) =>
  runInDurableObject(object, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf\\_%' ESCAPE '\\'")
      .toArray()
      .map(({ name }) => name),
  );

/** Makes the next step due, as if the time until then had passed. */
async function passTime(workspace: string): Promise<void> {
  await runInDurableObject(await objectOf('default', 'catalog', ''), async (instance, { storage }) => {
    storage.sql.exec("UPDATE workspaces SET due_at = 0, progress = json_set(progress, '$.settleAt', 0) WHERE name = ?", workspace);
    await (instance as unknown as { alarm(): Promise<void> }).alarm();
  });
}
const viewOf = async (workspace: string) => await json(await send('GET', `/v1/workspaces/${workspace}`));

/** How many objects of each kind have something of the workspace. */
const filled = async (workspace: string, kind: keyof typeof namespaces, ids: readonly string[]): Promise<number> => {
  const tables = await Promise.all(ids.map(async (id) => await tablesOf(await objectOf(workspace, kind, id))));
  return tables.filter((names) => names.length > 0).length;
};
const shardsOf = { catalog: [''], 'audit-shard': [...'01234567'], usage: [...'0123'] };

async function expectNothingLeft(workspace: string, session: string): Promise<void> {
  const { keys } = await testEnv.KV.list();
  const kept = keys.map(({ name }) => name).filter((name) => name.split(':')[1] === workspace);
  expect(kept).toEqual([]);
  for (const kind of ['catalog', 'audit-shard', 'usage'] as const)
    expect([kind, await filled(workspace, kind, shardsOf[kind])]).toEqual([kind, 0]);
  expect(await tablesOf(testEnv.SESSION.get(sessionObjectId(testEnv.SESSION, session)))).toEqual([]);
}

describe('the deletion of a workspace', () => {
  it('refuses its keys, erases everything of it, and frees its name', async () => {
    const { own, session, mcpSession } = await fill('gone');
    for (const kind of ['catalog', 'audit-shard', 'usage'] as const)
      expect([kind, await filled('gone', kind, shardsOf[kind])]).not.toEqual([kind, 0]);
    const deleted = await send('DELETE', '/v1/workspaces/gone');
    expect([deleted.status, await json(deleted)]).toMatchObject([202, { status: 'deleting', deletion: { startedAt: expect.any(String) } }]);
    expect((await send('DELETE', '/v1/workspaces/gone')).status).toBe(202);
    expect((await send('PUT', '/v1/workspaces/gone', {})).status).toBe(409);
    expect((await send('GET', '/v1/toolsets', undefined, inside('gone'))).status).toBe(404);
    for (let step = 0; step < 20 && (await viewOf('gone')).status !== 'deleted'; step += 1) await passTime('gone');
    expect(await viewOf('gone')).toMatchObject({
      status: 'deleted',
      deletion: { finishedAt: expect.any(String), left: { sessions: 0, objects: 0, values: 0 } },
    });
    await expectNothingLeft('gone', session);
    const audit = await json(await send('GET', '/v1/audit?kind=change&limit=3'));
    expect(audit.items).toMatchObject([
      { action: 'erase', name: 'gone', keyId: 'system' },
      { action: 'delete', name: 'gone', keyId: 'root' },
      {},
    ]);
    // A new workspace of the name has nothing of the previous one.
    expect((await send('PUT', '/v1/workspaces/gone', {})).status).toBe(201);
    const { key } = await json(await send('POST', '/v1/keys', { name: 'new', scopes: ['admin'] }, inside('gone')));
    const fresh = { authorization: `Bearer ${String(key)}` };
    for (const path of ['/v1/toolsets', '/v1/agents', '/v1/sessions', '/v1/secrets', '/v1/requests', '/v1/webhooks'])
      expect([path, (await json(await send('GET', path, undefined, fresh))).items]).toEqual([path, []]);
    expect(JSON.stringify(await json(await send('GET', '/v1/audit', undefined, fresh)))).not.toContain(canary);
    expect((await send('GET', `/v1/sessions/${session}`, undefined, fresh)).status).toBe(404);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await send('POST', '/mcp/demo', list, { ...fresh, ...mcp, 'mcp-session-id': mcpSession })).status).toBe(404);
    expect(own).not.toEqual(fresh);
  });

  it('continues when any step fails', async () => {
    const { session } = await fill('broken');
    await send('DELETE', '/v1/workspaces/broken');
    const { sessions, settings } = wire(testEnv) as unknown as Parameters<typeof createWorkspaceEraser>[0] & {
      settings: { auditShards: number };
    };
    // Every request of the eraser fails once, in turn; after each failure it begins again, as after a crash.
    let failures = 0;
    for (let failing = 1; failing < 400; failing += 1) {
      let calls = 0;
      const fail = (): void => {
        calls += 1;
        if (calls === failing) throw new Error('stopped here');
      };
      const eraser = createWorkspaceEraser({
        bindings: failingBindings(fail),
        sessions,
        auditShards: settings.auditShards,
        log: keptLog(),
      });
      try {
        const left = await eraser.step('broken');
        if (Object.values(left).every((count) => count === 0)) await eraser.finish('broken');
      } catch {
        failures += 1;
      }
      if (calls < failing) break;
    }
    expect(failures).toBeGreaterThan(20);
    await expectNothingLeft('broken', session);
  });
});

/** The bindings, with `fail` before every request. */
function failingBindings(fail: () => void): typeof testEnv {
  const namespace = (all: DurableObjectNamespace): DurableObjectNamespace =>
    new Proxy(all, {
      get: (target, name) => {
        if (name !== 'get') return (target[name as keyof DurableObjectNamespace] as (id: never) => unknown).bind(target);
        return (id: DurableObjectId) => {
          fail();
          return target.get(id);
        };
      },
    });
  const { KV, CATALOG, SESSION, MCP_SESSION, AUDIT_SHARD, USAGE } = testEnv;
  const values = {
    list: async (options: KVNamespaceListOptions) => {
      fail();
      return await KV.list(options);
    },
    delete: async (name: string) => {
      fail();
      await KV.delete(name);
    },
  } as unknown as KVNamespace;
  return {
    ...{ ...testEnv, KV: values, CATALOG: namespace(CATALOG), SESSION: namespace(SESSION), MCP_SESSION: namespace(MCP_SESSION) },
    ...{ AUDIT_SHARD: namespace(AUDIT_SHARD), USAGE: namespace(USAGE) },
  };
}

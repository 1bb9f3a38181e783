/**
 * Counts the calls of the Catalog, and the rows that it reads and writes, per operation: in a warm isolate, and again after every cached
 * entry has expired. The isolate that wrote the documents asks the Catalog for a while, so the first count begins later.
 */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Catalog } from '../../src/catalog/catalog.ts';
import { limits } from '../../src/core/limits.ts';
import { objectName } from '../../src/storage/keys.ts';
import { send } from '../catalog/real-service.ts';
import { testEnv } from './workspace.ts';

const headers = { 'mcp-protocol-version': '2026-07-28', accept: 'application/json, text/event-stream' };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const mcp = (tool: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: tool, arguments: {}, _meta: envelope },
});
const completion = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello' }] });
const answer = { id: 'x', object: 'chat.completion', created: 1, model: 'm' };
const said = { ...answer, choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] };

type Operation = { name: string; run(): Promise<Response>; calls: number };
let session = '';

const operations: Operation[] = [
  { name: 'REST call of a tool in code', calls: 0, run: () => send('POST', '/v1/toolsets/daily/calls', { name: 'today', arguments: {} }) },
  { name: 'REST call of a static tool', calls: 0, run: () => send('POST', '/v1/toolsets/daily/calls', { name: 'read', arguments: {} }) },
  {
    name: 'MCP call',
    calls: 0,
    run: () => send('POST', '/mcp/daily', mcp('read'), { ...headers, 'mcp-method': 'tools/call', 'mcp-name': 'read' }),
  },
  { name: 'chat proxy', calls: 0, run: () => send('POST', '/v1/chat/completions', completion('up/m')) },
  { name: 'chat proxy, model alias', calls: 0, run: () => send('POST', '/v1/chat/completions', completion('fast')) },
  { name: 'turn of an agent', calls: 1, run: () => turn('helper') },
  { name: 'turn of an agent with made tools', calls: 2, run: () => turn('maker') },
  { name: 'list of models', calls: 1, run: () => send('GET', '/v1/models') },
];

async function turn(agent: string): Promise<Response> {
  if (session !== agent) {
    session = agent;
    const created = await send('POST', '/v1/sessions', { agent });
    ids.set(agent, ((await created.json()) as { id: string }).id);
  }
  return await send('POST', `/v1/sessions/${ids.get(agent)}/turns`, { input: 'Hello' });
}
const ids = new Map<string, string>();

let calls: { method: string; read: number; written: number }[] = [];

beforeAll(async () => {
  vi.stubGlobal('fetch', async (request: Request) =>
    request.url.startsWith('https://tools.example.com/') ? Response.json({ content: [{ type: 'text', text: 'ok' }] }) : Response.json(said),
  );
  const put = async (path: string, body: unknown): Promise<void> => {
    const response = await send('PUT', path, body);
    expect(response.status, `${path} ${await response.clone().text()}`).toBeLessThan(300);
  };
  await put('/v1/providers/up', { kind: 'openai-compatible', baseUrl: 'https://up.example.com/v1', apiKeySecret: 'UP' });
  await put('/v1/secrets/UP', { value: 'a key of the provider', hosts: ['up.example.com'] });
  await put('/v1/secrets/TOOLS', { value: 'a key of the server', hosts: ['tools.example.com'] });
  const read = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
  await put('/v1/servers/facts', {
    kind: 'static',
    url: 'https://tools.example.com/call',
    headers: { authorization: { secret: 'TOOLS' } },
    trusted: true,
    tools: [read],
  });
  await put('/v1/model-aliases/fast', { model: 'up/m' });
  await put('/v1/toolsets/daily', {
    tools: [
      { tool: 'facts.read', name: 'read' },
      { tool: 'local.current_time', name: 'today' },
    ],
  });
  await put('/v1/agents/helper', { model: 'up/m', toolset: 'daily' });
  await put('/v1/agents/maker', { model: 'up/m', toolset: 'daily', made: true });
});

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('no call of a tool or model waits for the Catalog, and a turn calls it at most once', async () => {
  spyOnCatalog();
  vi.useFakeTimers({ toFake: ['Date'] });
  const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
  const pass = async (): Promise<void> => {
    vi.setSystemTime(Date.now() + limits.freshReadMs + 1_000);
    // What KV lacked is published by the alarm.
    await runDurableObjectAlarm(object);
  };
  const table: string[] = [];
  const failures: string[] = [];
  for (const { name, run, calls: allowed } of operations) {
    const counts: { first: typeof calls; background: typeof calls }[] = [];
    for (let round = 0; round < 4; round++) {
      await pass();
      calls = [];
      const response = await run();
      const text = await response.text();
      expect(response.status, `${name} ${text}`).toBeLessThan(300);

      const first = calls;
      calls = [];
      await new Promise((resolve) => setTimeout(resolve, 100));
      counts.push({ first, background: calls });
    }
    const last = counts.at(-1);
    const methods = (list: typeof calls): string => list.map(({ method }) => method).join(', ') || '-';
    const rows = [...(last?.first ?? []), ...(last?.background ?? [])].reduce(
      (sum, { read, written }) => ({ read: sum.read + read, written: sum.written + written }),
      { read: 0, written: 0 },
    );
    table.push(
      `${name.padEnd(36)} ${String(last?.first.length).padStart(3)} (+${last?.background.length} later), ${rows.read} rows read, ${rows.written} written: ` +
        `${methods(last?.first ?? [])}${last?.background.length === 0 ? '' : `; later: ${methods(last?.background ?? [])}`}`,
    );
    if ((last?.first.length ?? 0) > allowed) failures.push(name);
  }
  console.log(`Calls of the Catalog for one operation, all caches expired:\n${table.join('\n')}`);
  expect(failures).toEqual([]);
});

function spyOnCatalog(): void {
  const run = Catalog.prototype.run;
  vi.spyOn(Catalog.prototype, 'run').mockImplementation(async function (this: Catalog, caller, method, args) {
    const name = method === 'published' ? `published ${String(args[0])}` : method;
    const call = { method: name as string, read: 0, written: 0 };
    calls.push(call);
    const { sql } = (this as unknown as { ctx: DurableObjectState }).ctx.storage;
    const exec = sql.exec.bind(sql);
    const counted = (...query: Parameters<typeof exec>) => {
      const cursor = exec(...query);
      cursors.push(cursor);
      return cursor;
    };
    const cursors: { rowsRead: number; rowsWritten: number }[] = [];
    Object.defineProperty(sql, 'exec', { value: counted, configurable: true });
    const outcome = await run.call(this, caller, method, args as never);
    for (const { rowsRead, rowsWritten } of cursors) {
      call.read += rowsRead;
      call.written += rowsWritten;
    }
    return outcome as never;
  });
}

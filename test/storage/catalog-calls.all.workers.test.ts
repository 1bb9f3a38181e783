/**
 * Counts the calls of the Catalog for each operation, and the rows that it reads and writes, in an isolate whose cached entries have all
 * expired. The isolate that wrote the documents asks the Catalog for `limits.freshReadMs`, so the counts begin later.
 */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Catalog } from '../../src/objects/catalog/catalog.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { rootKeyId } from '../../src/core/people/principal.ts';
import { objectName } from '../../src/storage/keys.ts';
import { wire } from '../../src/wiring/wire.ts';
import { send } from '../objects/catalog/real-service.ts';
import { testEnv } from './workspace.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { printStatistics } from '../statistics.ts';

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
let answers = 0;
const said = () => {
  answers += 1;
  const choices = [{ index: 0, message: { role: 'assistant', content: `Answer ${answers}.` }, finish_reason: 'stop' }];
  return { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices };
};
const conversation: { role: string; content: string }[] = [];
const continued = () => {
  if (conversation.length > 0) conversation.push({ role: 'assistant', content: `Answer ${answers}.` });
  conversation.push({ role: 'user', content: 'More' });
  return { model: 'agent/helper', messages: conversation };
};

type Operation = { name: string; run(): Promise<Response>; calls: number };

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
  { name: 'turn of an agent', calls: 0, run: () => turn('helper') },
  { name: 'turn of an agent with made tools', calls: 0, run: () => turn('maker') },
  { name: 'REST call of an OpenAPI tool', calls: 0, run: () => send('POST', '/v1/toolsets/daily/calls', { name: 'pets', arguments: {} }) },
  {
    name: 'REST call with a key, 30 s unused',
    calls: 1,
    run: () => send('POST', '/v1/toolsets/daily/calls', { name: 'read', arguments: {} }, key()),
  },
  {
    name: 'MCP call of the equipped toolset',
    calls: 1,
    run: () => send('POST', '/mcp', mcp('read'), { ...headers, 'mcp-method': 'tools/call', 'mcp-name': 'read' }),
  },
  {
    name: 'MCP list',
    calls: 0,
    run: () =>
      send(
        'POST',
        '/mcp/daily',
        { ...mcp('read'), method: 'tools/list', params: { _meta: envelope } },
        { ...headers, 'mcp-method': 'tools/list' },
      ),
  },
  { name: 'chat with an agent', calls: 1, run: () => send('POST', '/v1/chat/completions', completion('agent/helper')) },
  { name: 'chat with an agent, continued', calls: 2, run: () => send('POST', '/v1/chat/completions', continued()) },
  { name: 'list of models', calls: 1, run: () => send('GET', '/v1/models') },
];

const turn = (agent: string): Promise<Response> => send('POST', `/v1/sessions/${ids.get(agent)}/turns`, { input: 'Hello' });
const ids = new Map<string, string>();
let keyText = '';
const key = () => ({ authorization: `Bearer ${keyText}` });

/** Sessions make these calls in the background: they are held here until the response has been read. */
const inBackground = new Set(['indexSession', 'updateSession', 'noteTurns']);

type Call = { method: string; read: number; written: number };
let calls: Call[] = [];
let responded = Promise.withResolvers<void>();
let inProgress = 0;

/** What an operation does in the background must not be counted for the next one. */
async function untilQuiet(): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, 100));
  while (inProgress > 0);
}

beforeAll(async () => {
  vi.stubGlobal('fetch', async (request: Request) =>
    request.url.startsWith('https://tools.example.com/')
      ? Response.json({ content: [{ type: 'text', text: 'ok' }] })
      : Response.json(said()),
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
  const created = await send('POST', '/v1/keys', { name: 'ci', scopes: ['tools'] });
  keyText = ((await created.json()) as { key: string }).key;
  const operation = { operationId: 'pets', responses: { 200: { description: 'ok' } } };
  await put('/v1/servers/shop', {
    kind: 'openapi',
    document: {
      openapi: '3.1.0',
      info: { title: 'Shop', version: '1' },
      servers: [{ url: 'https://tools.example.com' }],
      paths: { '/pets': { get: operation } },
    },
    trusted: true,
  });
  await put('/v1/model-aliases/fast', { model: 'up/m' });
  await put('/v1/toolsets/daily', {
    tools: [
      { tool: 'facts.read', name: 'read' },
      { tool: 'local.current_time', name: 'today' },
      { tool: 'shop.pets', name: 'pets' },
    ],
  });
  await wire(testEnv).catalog('default').setEquipment(rootKeyId, { toolset: 'daily', mode: 'normal' });
  await put('/v1/agents/helper', { model: 'up/m', toolset: 'daily' });
  await put('/v1/agents/maker', { model: 'up/m', toolset: 'daily', made: true });
  for (const agent of ['helper', 'maker']) {
    const session = await send('POST', '/v1/sessions', { agent });
    ids.set(agent, ((await session.json()) as { id: string }).id);
  }
  // Once, not in the test: when it is repeated, its time must go on.
  spyOnCatalog();
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('no call of a tool and no model request waits for the Catalog, and a turn for one call at most', { retry: onBusyMachine }, async () => {
  const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
  const table: string[] = [];
  const tooMany: string[] = [];
  for (const operation of operations) {
    // The first rounds fill the caches, and publish what KV lacked. What follows is the state of a warm isolate.
    for (let round = 0; round < 4; round++) {
      vi.setSystemTime(Date.now() + limits.freshReadMs + 1_000);
      await runDurableObjectAlarm(object);
      calls = [];
      responded = Promise.withResolvers();
      const response = await operation.run();
      const text = await response.text();
      responded.resolve();
      expect(response.status, `${operation.name} ${text}`).toBeLessThan(300);
      await untilQuiet();
    }
    const waited = calls.filter(({ method }) => !inBackground.has(method));
    table.push(rowOf(operation, waited));
    if (waited.length > operation.calls) tooMany.push(operation.name);
  }
  printStatistics(['Calls of the Catalog for one operation after every cached entry has expired:', ...table].join('\n'));
  expect(tooMany).toEqual([]);
});

function rowOf({ name }: Operation, waited: readonly Call[]): string {
  const total = (of: 'read' | 'written'): number => calls.reduce((sum, call) => sum + call[of], 0);
  const methods = (list: readonly Call[]): string => list.map(({ method }) => method).join(', ') || '-';
  const later = calls.filter(({ method }) => inBackground.has(method));
  const counts = `${waited.length} (${later.length} in the background), rows: ${total('read')} read, ${total('written')} written`;
  return `${name.padEnd(36)} ${counts}; ${methods(waited)}; background: ${methods(later)}`;
}

function spyOnCatalog(): void {
  const run = Catalog.prototype.run;
  const counted = new WeakSet<SqlStorage>();
  let current: { rowsRead: number; rowsWritten: number }[] = [];
  vi.spyOn(Catalog.prototype, 'run').mockImplementation(async function (this: Catalog, caller, method, args) {
    inProgress += 1;
    if (inBackground.has(method)) await responded.promise;
    const call: Call = { method: method === 'published' ? `${method} ${String(args[0])}` : method, read: 0, written: 0 };
    calls.push(call);
    const { sql } = (this as unknown as { ctx: DurableObjectState }).ctx.storage;
    if (!counted.has(sql)) {
      const exec = sql.exec.bind(sql);
      const noted = (...query: Parameters<typeof exec>) => {
        const cursor = exec(...query);
        current.push(cursor);
        return cursor;
      };
      Object.defineProperty(sql, 'exec', { value: noted });
      counted.add(sql);
    }
    const cursors: typeof current = [];
    current = cursors;
    const outcome = await run.call(this, caller, method, args as never).finally(() => (inProgress -= 1));
    call.read = cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
    call.written = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
    return outcome as never;
  });
}

/**
 * The kinds of work of a soak, with their shares: chat plain and streamed in three dialects, MCP calls with and without a session, turns
 * with a tool, webhooks, reads and writes of documents. Each unit checks its response and enters what it did into the ledger.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { hookDelivery, hookSecret } from '../hook-deliveries.ts';
import { connectMcp } from '../mcp-client.ts';
import { dialects } from '../pairs.ts';
import type { Server, Servers } from '../servers.ts';
import { createApi, setUp } from '../setup.ts';
import type { Ledger } from './ledger.ts';

export type Work = { name: string; share: number; run(): Promise<void> };

const mcpClients = 8;
/** A client of the 2025 revision opens a new session after so many calls. */
const callsOfMcpSession = 200;
const turnsOfSession = 20;
/** Below 10,000 deliveries each: a webhook deletes its oldest ones above that. */
export const webhooks = ['soak-0', 'soak-1', 'soak-2', 'soak-3'];
const threadsOfWebhook = 200;
const tool = 'tool_7';

export async function prepareWork(servers: Servers, upstream: Server, ledger: Ledger): Promise<{ works: Work[]; close(): Promise<void> }> {
  const api = createApi(servers);
  await setUp(servers);
  for (const era of ['modern', 'legacy'] as const)
    await api.send('PUT', `/v1/servers/${era}`, { kind: 'mcp', url: `${upstream.url}/mcp`, era, trusted: true });
  for (const era of ['modern', 'legacy'])
    await api.send('PUT', `/v1/toolsets/${era}`, { tools: [{ tool: `${era}.${tool}`, aliases: ['seven'] }] });
  await api.send('PUT', '/v1/agents/hooked', { model: 'rehearsal/default', instructions: 'Answer.' });
  const hook = { agent: 'hooked', scheme: 'github', secret: hookSecret, session: '{{thread}}', input: '{{issue.title}}' };
  for (const name of webhooks) await api.send('PUT', `/v1/webhooks/${name}`, hook);
  const mcp = await openMcpClients(servers);
  const sessions: string[] = [];
  const count = { chat: 0, stream: 0, modern: 0, legacy: 0, delivery: 0, read: 0, write: 0 };

  const works: Work[] = [
    { name: 'chat', share: 30, run: () => chat(servers, ledger, plainRoutes[count.chat++ % plainRoutes.length]!, false) },
    { name: 'chat stream', share: 15, run: () => chat(servers, ledger, streamRoutes[count.stream++ % streamRoutes.length]!, true) },
    { name: 'MCP call', share: 15, run: () => mcp.call('modern', count.modern++, ledger) },
    { name: 'MCP call in a session', share: 8, run: () => mcp.call('legacy', count.legacy++, ledger) },
    { name: 'turn with a tool', share: 10, run: () => turn(servers, ledger, sessions) },
    { name: 'webhook', share: 10, run: () => deliver(servers, ledger, count.delivery++) },
    { name: 'read', share: 10, run: async () => void (await api.send('GET', reads[count.read++ % reads.length]!)) },
    { name: 'write', share: 2, run: () => write(servers, count.write++) },
  ];
  return { works, close: mcp.close };
}

/** A sequence in which each kind has its share, spread evenly. */
export function mix(works: readonly Work[]): Work[] {
  return works
    .flatMap((work) => Array.from({ length: work.share }, (_, index) => ({ work, at: (index + 0.5) / work.share })))
    .toSorted((one, other) => one.at - other.at)
    .map(({ work }) => work);
}

type Dialect = keyof typeof dialects;
type Route = readonly [dialect: Dialect, provider: string];

/** Passed through and translated. */
const plainRoutes: readonly Route[] = [
  ['chat', 'mock'],
  ['messages', 'mock-anthropic'],
  ['responses', 'mock-openai-responses'],
  ['chat', 'mock-anthropic'],
  ['messages', 'mock-openai'],
  ['responses', 'mock-gemini'],
];
const streamRoutes: readonly Route[] = [
  ['chat', 'mock'],
  ['messages', 'mock-openai'],
  ['responses', 'mock-anthropic'],
];

/** What the end of a complete stream contains. */
const streamEnds: Readonly<Record<Dialect, string>> = { chat: 'data: [DONE]', messages: 'message_stop', responses: 'response.completed' };

const reads = [
  '/v1/toolsets/modern',
  '/v1/sessions?limit=20',
  '/v1/toolsets/modern/resolve?name=seven',
  '/v1/servers',
  '/v1/usage?by=day,model',
  '/v1/webhooks/soak-0/deliveries?limit=20',
];

async function post(servers: Servers, path: string, body: unknown, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(servers.ours.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${servers.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text;
}

async function chat(servers: Servers, ledger: Ledger, [dialect, provider]: Route, stream: boolean): Promise<void> {
  const { path, body } = dialects[dialect];
  const text = await post(servers, path, body(`${provider}/${stream ? 'mock-c50-py' : 'mock-c20'}`, stream));
  ledger.chats++;
  if (stream && !text.includes(streamEnds[dialect])) throw new Error(`a stream of ${dialect} has no end`);
}

async function openMcpClients({ ours, key }: Servers) {
  const connect = (era: 'modern' | 'legacy') => connectMcp(era, `${ours.url}/mcp/${era}`, key);
  const clients: Record<'modern' | 'legacy', Client[]> = { modern: [], legacy: [] };
  for (const era of ['modern', 'legacy'] as const) for (let index = 0; index < mcpClients; index++) clients[era].push(await connect(era));
  return {
    async call(era: 'modern' | 'legacy', number: number, ledger: Ledger): Promise<void> {
      const at = number % mcpClients;
      if (era === 'legacy' && number > 0 && number % callsOfMcpSession === 0) {
        const old = clients.legacy[at];
        clients.legacy[at] = await connect('legacy');
        // Calls in flight use the old session.
        setTimeout(() => void old?.close(), 10_000);
      }
      const result = await clients[era][at]!.callTool({ name: 'seven', arguments: { query: 'whales', limit: 3 } });
      if (result.isError === true) throw new Error('the call was refused');
      ledger.toolCalls++;
    },
    async close(): Promise<void> {
      await Promise.all([...clients.modern, ...clients.legacy].map((client) => client.close()));
    },
  };
}

/** A turn in a session that runs no other one; sessions are replaced after some turns, as conversations end. */
async function turn(servers: Servers, ledger: Ledger, free: string[]): Promise<void> {
  const id =
    free.pop() ?? (JSON.parse(await post(servers, '/v1/sessions', { model: 'rehearsal/default', toolset: 'modern' })) as { id: string }).id;
  ledger.turn(id);
  const text = await post(servers, `/v1/sessions/${id}/turns`, { input: `/${tool} {"query": "whales"}` }, { accept: 'text/event-stream' });
  ledger.toolCalls++;
  if (!/"type":"turn-end"[^\n]*"status":"completed"/.test(text)) throw new Error(`a turn has not completed: ${text.slice(-300)}`);
  if ((ledger.turns.get(id) ?? 0) < turnsOfSession) free.push(id);
}

async function deliver(servers: Servers, ledger: Ledger, number: number): Promise<void> {
  const webhook = webhooks[number % webhooks.length]!;
  const { id, body, headers } = hookDelivery(`thread-${Math.floor(number / webhooks.length) % threadsOfWebhook}`);
  for (;;) {
    const response = await fetch(`${servers.ours.url}/hooks/default/${webhook}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (response.status === 202) break;
    if (response.status !== 429) throw new Error(`${response.status} ${text}`);
    ledger.retried++;
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
  }
  ledger.deliveries.set(id, webhook);
}

async function write(servers: Servers, number: number): Promise<void> {
  const api = createApi(servers);
  if (number % 2 === 0) await api.send('PUT', '/v1/agents/edited', { model: 'rehearsal/default', instructions: `Version ${number}.` });
  else await api.send('PUT', '/v1/toolsets/edited', { tools: [{ tool: 'builtin.bash', aliases: [`shell-${number % 50}`] }] });
}

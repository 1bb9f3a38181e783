/**
 * What belongs to a session and not to one call passes between an MCP client and the servers of its toolset, in both directions: extensions, the
 * level of log messages, log messages outside of calls, roots, and the context of sampling.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../../src/core/json/wire-value.ts';
import { listenMcpServer, type FakeMcpServer, type FakeTool } from '../fakes/mcp-server.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { offerAll } from './mcp-through.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const ui = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const own = { 'example.com/feature': { level: 2 } };

let roots: unknown[] = [];
const inputSchema = { type: 'object', properties: {} };
const tools: FakeTool[] = [
  { name: 'look', inputSchema },
  { name: 'roots', inputSchema, answer: () => ({ content: [{ type: 'text', text: JSON.stringify(roots) }] }) },
  {
    name: 'sample',
    inputSchema,
    answer: async (_args, { mcpReq }) => {
      const params = { messages: [], maxTokens: 5, includeContext: 'thisServer' };
      const answer = await mcpReq.send({ method: 'sampling/createMessage', params } as never);
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    },
  },
];

describe.each(['legacy', 'pinned'] as const)('a client of the era %s', (era) => {
  const name = `session-${era}`;
  const asked: unknown[] = [];
  const logs: unknown[] = [];
  let files = ['file:///one'];
  let fake: FakeMcpServer;
  let client: Client;
  const call = async (tool: string): Promise<string> => textOf(await client.callTool({ name: tool, arguments: {} }));
  const heard = (method: string) => fake.heard.filter((request) => request.method === method).map(({ body }) => recordOf(body.params));

  beforeAll(async () => {
    fake = await listenMcpServer({
      ...{ tools, extensions: { ...ui, ...own }, eras: era === 'legacy' ? 'legacy' : 'modern' },
      onRootsChanged: async (server) => {
        roots = (await server.listRoots()).roots;
      },
    });
    await offerAll(service, name, fake.url);
    expect((await service.call('PATCH', `/v1/servers/${name}`, { sampling: true })).status).toBe(200);
    const capabilities = { extensions: { ...ui, ...own } as never, roots: { listChanged: true }, sampling: { context: {} } };
    client = await connectClient(`${service.url}/mcp/${name}`, service.key, era, capabilities, (made) => {
      made.setRequestHandler('roots/list', () => ({ roots: files.map((uri) => ({ uri })) }));
      made.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params));
      made.setRequestHandler('sampling/createMessage', ({ params }) => {
        asked.push(params);
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'ok' } };
      });
    });
  });
  afterAll(async () => {
    await client.close();
    await fake.close();
  });

  it('sees the extensions of the servers, and they see its own', async () => {
    expect(client.getServerCapabilities()?.extensions).toEqual({ ...ui, ...own });
    await call('look');
    const declared =
      era === 'legacy'
        ? heard('initialize').map(({ capabilities }) => recordOf(capabilities).extensions)
        : heard('tools/call').map(({ _meta }) => recordOf(recordOf(_meta)['io.modelcontextprotocol/clientCapabilities']).extensions);
    expect(declared).toContainEqual(expect.objectContaining({ ...ui, ...own }));
  });

  it.skipIf(era === 'pinned')('sets the level of log messages of the servers, once for each session', async () => {
    const levels = (): unknown[] => heard('logging/setLevel').map(({ level }) => level);
    await client.setLoggingLevel('warning');
    await call('look');
    await call('look');
    // The stream that is open for changes is a session of its own.
    expect([['warning'], ['warning', 'warning']]).toContainEqual(levels());
    await client.setLoggingLevel('error');
    await call('look');
    expect(levels()).toContain('error');
    await client.setLoggingLevel('debug');
  });

  it.skipIf(era === 'pinned')('receives log messages outside of calls', async () => {
    let sent = 0;
    const tell = async (): Promise<boolean> => {
      sent += 1;
      await fake.tellLog({ sent, text: 'a\u200bb' });
      return logs.length > 0;
    };
    await expect.poll(tell, { timeout: 30_000, interval: 500 }).toBe(true);
    expect(logs[0]).toEqual({ level: 'warning', logger: 'fake', data: { sent: expect.any(Number), text: 'a\u200bb' } });
  });

  it.skipIf(era === 'pinned')('gives its roots to a server that asks for them outside of calls, and those that have changed', async () => {
    expect(await call('roots')).toBe('[{"uri":"file:///one"}]');
    files = ['file:///one', 'file:///two'];
    await client.sendRootsListChanged();
    await expect.poll(() => call('roots')).toBe('[{"uri":"file:///one"},{"uri":"file:///two"}]');
    const told = heard('notifications/roots/list_changed').length;
    await call('roots');
    expect(heard('notifications/roots/list_changed')).toHaveLength(told);
  });

  it.skipIf(era === 'pinned')('decides which context its sampling includes', async () => {
    expect(await call('sample')).toContain('ok');
    expect(asked).toEqual([expect.objectContaining({ includeContext: 'thisServer' })]);
  });
});

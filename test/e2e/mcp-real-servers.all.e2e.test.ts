/**
 * Four public MCP servers, asked directly and through a toolset: tools, results and errors are compared field by field, for clients of both
 * eras. The servers speak the revisions of 2025, so a client of 2026-07-28 is compared with a client of 2025 that asks directly.
 */
import type { Client } from '@modelcontextprotocol/client';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportOfSdk1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything } from './everything-server.ts';
import { connectBoth, errorOf, listed, offerAll, outcome, type Pair } from './mcp-through.ts';
import { root } from './service.ts';
import { shareService } from './shared-service.ts';
import { listenStdioServer, type StdioServer } from './stdio-server.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'moniker-servers-')));
const at = (name: string): string => join(folder, 'files', name);
mkdirSync(join(folder, 'files'));
writeFileSync(at('note.txt'), 'First line 🙂\nSecond line\n');
writeFileSync(at('page.png'), Buffer.alloc(120_000, 7));
writeFileSync(at('long.txt'), 'A line of a long text.\n'.repeat(12_000));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = (name: string): string => join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

type RealServer = { name: string; start(): Promise<StdioServer>; calls: [string, Record<string, unknown>][] };

const servers: RealServer[] = [
  {
    name: 'filesystem',
    start: () => listenStdioServer(script('filesystem'), [join(folder, 'files')]),
    calls: [
      ['read_text_file', { path: at('note.txt') }],
      ['read_text_file', { path: at('long.txt') }],
      ['read_text_file', { path: at('note.txt'), head: 1 }],
      ['read_text_file', { path: at('note.txt'), head: 1, tail: 1 }],
      ['read_text_file', { path: at('none.txt') }],
      ['read_text_file', { path: '/etc/hostname' }],
      ['read_media_file', { path: at('page.png') }],
      ['read_multiple_files', { paths: [at('note.txt'), at('none.txt')] }],
      ['write_file', { path: at('new.txt'), content: 'new\n' }],
      ['edit_file', { path: at('note.txt'), edits: [{ oldText: 'Second', newText: 'Third' }], dryRun: true }],
      ['edit_file', { path: at('note.txt'), edits: [{ oldText: 'absent', newText: 'x' }] }],
      ['list_directory', { path: join(folder, 'files') }],
      ['list_directory_with_sizes', { path: join(folder, 'files'), sortBy: 'size' }],
      ['directory_tree', { path: join(folder, 'files') }],
      ['search_files', { path: join(folder, 'files'), pattern: '*.txt' }],
      ['search_files', { path: join(folder, 'files'), pattern: 'nothing*' }],
      ['list_allowed_directories', {}],
    ],
  },
  {
    name: 'memory',
    start: () => listenStdioServer(script('memory'), [], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
    calls: [
      ['read_graph', {}],
      ['create_entities', { entities: [] }],
      ['add_observations', { observations: [{ entityName: 'nobody', contents: ['x'] }] }],
      ['delete_entities', { entityNames: ['nobody'] }],
      ['delete_relations', { relations: [] }],
      ['search_nodes', { query: 'an' }],
      ['open_nodes', { names: ['Ann'] }],
    ],
  },
  {
    name: 'sequential-thinking',
    start: () => listenStdioServer(script('sequential-thinking'), [], { DISABLE_THOUGHT_LOGGING: 'true' }),
    calls: [['sequentialthinking', { thought: 'First', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 3 }]],
  },
  {
    name: 'everything',
    start: startEverything,
    calls: [
      ['echo', { message: 'hello' }],
      ['get-sum', { a: 1, b: 2 }],
      ['get-tiny-image', {}],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-structured-content', { location: 'New York' }],
      ['get-resource-links', { count: 2 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: -1 }],
    ],
  },
];

/** Some texts of the reference server say when they were made. */
const timeless = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replace(/\d+:\d+:\d+/g, 'now'));
const members = (values: readonly object[]): string[] => values.map((value) => JSON.stringify(value)).sort();

describe.each(servers)('$name', ({ name, start, calls }) => {
  let server: StdioServer;
  beforeAll(async () => {
    server = await start();
    await offerAll(service, name, server.url);
  });
  afterAll(() => server.stop());

  describe.each(['legacy', 'pinned'] as const)('through a toolset, for a client of the era %s', (era) => {
    let pair: Pair;
    beforeAll(async () => {
      pair = await connectBoth(service, name, server.url, { era, own: 'legacy' });
    });
    afterAll(() => Promise.all([pair.direct.close(), pair.through.close()]));

    it('lists the same tools', async () => {
      const [own, ours] = [await listed(pair.direct), await listed(pair.through)];
      // The toolset waits for the task, so that clients without tasks can call it.
      const task = own.get('simulate-research-query');
      if (task !== undefined) task.execution = { taskSupport: 'optional' };
      // 2026-07-28 has no such field: any tool may return a task.
      if (era === 'pinned') for (const [tool, { execution: _, ...definition }] of own) own.set(tool, definition);
      expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(own));
    });

    it('gives the same instructions', () => {
      const own = pair.direct.getInstructions();
      if (own !== undefined) expect(pair.through.getInstructions()).toContain(own);
    });

    it.each(calls)('gives the same result of %s %j', async (tool, args) => {
      const own = timeless(await outcome(pair.direct, tool, args));
      expect(timeless(await outcome(pair.through, tool, args))).toEqual(own);
    });

    it.runIf(name === 'everything')('gives the same contents and errors of resources and prompts', async () => {
      const attempt = async (client: Client) => ({
        dynamic: timeless((await client.readResource({ uri: 'demo://resource/dynamic/text/1' })).contents),
        read: (await client.readResource({ uri: 'demo://resource/static/document/features.md' })).contents,
        prompt: (await client.getPrompt({ name: 'simple-prompt' })).messages,
        argued: (await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Oslo' } })).messages,
        missing: await errorOf(client.readResource({ uri: 'demo://resource/dynamic/text/none' })),
        incomplete: await errorOf(client.getPrompt({ name: 'args-prompt', arguments: {} })),
      });
      expect(await attempt(pair.through)).toEqual(await attempt(pair.direct));
    });

    it.runIf(name === 'everything' && era === 'legacy')('runs a tool that requires a task for a client of SDK 1', async () => {
      const client = new ClientOfSdk1({ name: 'moniker-tests', version: '1.0.0' });
      const requestInit = { headers: { authorization: `Bearer ${service.key}` } };
      await client.connect(new TransportOfSdk1(new URL(`${service.url}/mcp/${name}`), { requestInit }));
      await client.listTools();
      const { content } = await client.callTool({ name: 'simulate-research-query', arguments: { topic: 'bees' } });
      expect(JSON.stringify(content)).toContain('bees');
      await client.close();
    });

    it('lists the same resources and prompts', async () => {
      const offersOf = async (client: Client): Promise<unknown> => {
        const offered = pair.direct.getServerCapabilities();
        return {
          ...(offered?.resources && { resources: members((await client.listResources()).resources) }),
          ...(offered?.resources && { templates: members((await client.listResourceTemplates()).resourceTemplates) }),
          ...(offered?.prompts && { prompts: members((await client.listPrompts()).prompts) }),
        };
      };
      expect(await offersOf(pair.through)).toEqual(await offersOf(pair.direct));
    });
  });
});

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/core/principal.ts';
import type { ServerOffers } from '../../../src/core/server-state.ts';
import { serveMcp } from '../../../src/mcp/server/endpoint.ts';
import type { McpUpstream, UpstreamHooks } from '../../../src/ports/upstream.ts';
import { createMasterKey } from '../../../src/storage/master-key.ts';
import { createFakeCatalog } from '../../fakes/catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };
const offersOf = (server: string): ServerOffers => ({
  prompts: [{ name: 'review', title: server, arguments: [{ name: 'file' }] }, { name: `only_${server}` }],
  resources: [
    { uri: 'file:///readme', name: 'readme' },
    { uri: `${server}://one`, name: 'one', mimeType: 'text/plain' },
  ],
  resourceTemplates: [{ uriTemplate: `${server}://{id}/data`, name: 'data' }],
});

/** Two servers with tools of the toolset, and a third that has none in it. */
async function serving(upstream: Partial<McpUpstream> = {}, elicitation?: (params: { message: string }) => Record<string, unknown>) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const definitions = ['git', 'docs', 'other'].map((server) => toolOf(server, 'look'));
  const catalog = createFakeCatalog({ definitions });
  await catalog.put('toolset', 'both', {
    tools: [
      { tool: 'git.look', name: 'look_git' },
      { tool: 'docs.look', name: 'look_docs' },
    ],
  });
  const asked: unknown[] = [];
  const changed: string[] = [];
  const note = (what: string) => async (server: { name: string }, params: object) => {
    asked.push([what, server.name, params]);
    return what === 'read'
      ? { kind: 'result' as const, result: { contents: [{ uri: (params as { uri: string }).uri, text: server.name }] } }
      : { kind: 'result' as const, result: { messages: [{ role: 'user', content: { type: 'text', text: server.name } }] } };
  };
  const unused = () => Promise.reject(new Error('not in these tests'));
  const deps = fakeServeDeps({
    ...{ catalog, clock, log, ids },
    call: { clock, log, executor: { isSafe: () => true, execute: unused }, fetch: unused, secret: unused },
    master: createMasterKey('a master key of at least 32 characters'),
    serverChanged: (_workspace, server) => void changed.push(server),
    upstream: {
      readResource: note('read'),
      getPrompt: note('prompt'),
      complete: async (server, params) => {
        asked.push(['complete', server.name, params]);
        return { completion: { values: ['a.ts'] } };
      },
      ...upstream,
    },
  });
  const directory = {
    ...deps.directory,
    serverOffers: async (_workspace: string, name: string) => offersOf(name),
    server: async (_workspace: string, name: string) => ({
      ...{
        name,
        kind: 'mcp' as const,
        url: 'https://x.example',
        trusted: false,
        ready: [],
        held: [],
        version: 1,
        connection: null,
        staleAt: null,
      },
    }),
  };
  const capabilities = elicitation === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (elicitation !== undefined) client.setRequestHandler('elicitation/create', async ({ params }) => elicitation(params) as never);
  const transport = new StreamableHTTPClientTransport(new URL('https://moniker.test/mcp/both'), {
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const text = await request.clone().text();
      const sessions = { begin: unused, resume: async () => null };
      const body = text === '' ? undefined : JSON.parse(text);
      return (await serveMcp({ ...deps, directory }, sessions, { principal, target: 'both', request, text, body })).response;
    },
  });
  await client.connect(transport);
  return { client, asked, clock, changed };
}

describe('what the servers of a toolset offer', () => {
  it('is listed under safe names, without a question to any of them', async () => {
    const { client, asked } = await serving();
    expect((await client.listPrompts()).prompts.map(({ name }) => name).sort()).toEqual([
      'docs_review',
      'git_review',
      'only_docs',
      'only_git',
    ]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual([
      'docs://one',
      'git://one',
      'moniker://docs/file:///readme',
      'moniker://git/file:///readme',
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'docs://{id}/data',
      'git://{id}/data',
    ]);
    expect(asked).toEqual([]);
  });

  it('is asked of the one server whose it is, by its own name', async () => {
    const { client, asked } = await serving();
    await client.getPrompt({ name: 'git_review', arguments: { file: 'a.ts' } });
    const { contents } = await client.readResource({ uri: 'moniker://docs/file:///readme' });
    expect(contents).toEqual([{ uri: 'moniker://docs/file:///readme', text: 'docs' }]);
    expect((await client.readResource({ uri: 'git://7/data' })).contents).toEqual([{ uri: 'git://7/data', text: 'git' }]);
    await client.complete({ ref: { type: 'ref/prompt', name: 'docs_review' }, argument: { name: 'file', value: 'a' } });
    expect(asked).toEqual([
      ['prompt', 'git', { name: 'review', arguments: { file: 'a.ts' } }],
      ['read', 'docs', { uri: 'file:///readme' }],
      ['read', 'git', { uri: 'git://7/data' }],
      ['complete', 'docs', expect.objectContaining({ ref: { type: 'ref/prompt', name: 'review' } })],
    ]);
  });

  it('is nothing of servers that have no tool in it', async () => {
    const { client, asked } = await serving();
    for (const uri of ['moniker://other/file:///readme', 'other://one', 'file:///etc/passwd', 'file:///readme'])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
    for (const name of ['review', 'only_other']) await expect(client.getPrompt({ name })).rejects.toMatchObject({ code: -32602 });
    expect(asked).toEqual([]);
  });

  it('may ask the person first', async () => {
    const given: unknown[] = [];
    const { client } = await serving(
      {
        readResource: async (_server, { given: words }) => {
          given.push(words);
          if (words !== undefined) return { kind: 'result', result: { contents: [] } };
          const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } } };
          return { kind: 'input-required', input: { requests: { sure: { method: 'elicitation/create', params } }, state: 'back' } };
        },
      },
      ({ message }) => ({ action: 'accept', content: { sure: message === 'Server "git" asks: Sure?' } }),
    );
    expect(await client.readResource({ uri: 'git://one' })).toMatchObject({ contents: [] });
    expect(given).toEqual([undefined, { responses: { sure: { action: 'accept', content: { sure: true } } }, state: 'back' }]);
  });

  it('is heard of while a client listens, under the names that it knows', async () => {
    const heard: { server: string; uris: readonly string[]; hooks: UpstreamHooks }[] = [];
    const { client, changed } = await serving({
      listen: (server, uris, hooks, { signal }) =>
        new Promise((resolve) => {
          heard.push({ server: server.name, uris, hooks });
          signal.addEventListener('abort', () => resolve());
        }),
    });
    const told: unknown[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
    client.setNotificationHandler('notifications/prompts/list_changed', () => void told.push('prompts'));
    const subscription = await client.listen({ promptsListChanged: true, resourceSubscriptions: ['moniker://git/file:///readme'] });
    await expect.poll(() => heard.length).toBe(2);
    const git = heard.find(({ server }) => server === 'git');
    expect(git?.uris).toEqual(['file:///readme']);
    git?.hooks.updated?.('file:///readme');
    git?.hooks.changed?.('prompts');
    git?.hooks.changed?.('tools');
    await expect.poll(() => told).toEqual(['moniker://git/file:///readme', 'prompts']);
    expect(changed).toEqual(['git', 'git']);
    await subscription.close();
  });
});

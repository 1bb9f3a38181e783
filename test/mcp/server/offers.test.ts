import { Client, LOG_LEVEL_META_KEY, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/core/people/principal.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { ServerOffers } from '../../../src/core/servers/server-state.ts';
import { createTextRedactor, type TextRedactor } from '../../../src/core/redaction/redact-text.ts';
import { serveMcp } from '../../../src/mcp/server/endpoint.ts';
import { compileRedaction } from '../../../src/platform/compile-redaction.ts';
import type { McpUpstream, UpstreamHooks } from '../../../src/ports/upstream.ts';
import { createMcpExecutor } from '../../../src/mcp/executor.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
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

/** Two servers with tools in the toolset, and a third without. */
async function serving(
  upstream: Partial<McpUpstream> = {},
  elicitation?: (params: { message: string }) => Record<string, unknown>,
  redact: TextRedactor | null = null,
) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const definitions = ['git', 'docs', 'other'].map((server) => toolOf(server, 'look'));
  const catalog = createNodeCatalog({ definitions });
  await catalog.put('toolset', 'both', {
    tools: [
      { tool: 'git.look', name: 'look_git' },
      { tool: 'docs.look', name: 'look_docs' },
    ],
  });
  const server = async (name: string): Promise<ServerAccess> => ({
    ...{ name, kind: 'mcp', url: 'https://x.example', trusted: true, ready: [], held: [], version: 1, connection: null, staleAt: null },
  });
  const asked: unknown[] = [];
  const changed: string[] = [];
  const request: McpUpstream['request'] = async ({ name }, { method, params }) => {
    asked.push([method, name, params]);
    return {
      kind: 'result',
      result: {
        ...(method === 'resources/read' && { contents: [{ uri: params.uri, text: name }] }),
        ...(method === 'prompts/get' && { messages: [{ role: 'user', content: { type: 'text', text: name } }] }),
        ...(method === 'completion/complete' && { completion: { values: ['a.ts'] } }),
      },
    };
  };
  const unused = () => Promise.reject(new Error('not in these tests'));
  const deps = fakeServeDeps({
    ...{ catalog, clock, log, ids },
    call: {
      ...{ clock, log, fetch: unused, secret: async () => 'hunter22222', server },
      executor: createMcpExecutor({ server, upstream: { callTool: unused, request, ...upstream } }),
      redaction: async (toolset) => (toolset === 'both' ? { results: redact, logs: null } : null),
    },
    master: createMasterKey('a master key of at least 32 characters'),
    serverChanged: async (_workspace, server) => void changed.push(server),
    upstream: { ...upstream },
  });
  const directory = {
    ...deps.directory,
    serverOffers: async (_workspace: string, name: string) => offersOf(name),
    server: async (_workspace: string, name: string) => await server(name),
  };
  const capabilities = elicitation === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (elicitation !== undefined) client.setRequestHandler('elicitation/create', async ({ params }) => elicitation(params) as never);
  const transport = new StreamableHTTPClientTransport(new URL('https://moniker.test/mcp/both'), {
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const text = await request.clone().text();
      const sessions = { send: unused, listen: unused };
      const body = text === '' ? undefined : JSON.parse(text);
      return (await serveMcp({ ...deps, directory }, sessions, { principal, target: 'both', request, text, body })).response;
    },
  });
  await client.connect(transport);
  return { client, asked, clock, changed };
}

describe('prompts and resources of a toolset’s servers', () => {
  it('are listed under safe names, without a request to any server', async () => {
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
      'file:///readme#moniker.docs',
      'file:///readme#moniker.git',
      'git://one',
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'docs://{id}/data',
      'git://{id}/data',
    ]);
    expect(asked).toEqual([]);
  });

  it('are requested from the server they belong to, by their own name', async () => {
    const { client, asked } = await serving();
    await client.getPrompt({ name: 'git_review', arguments: { file: 'a.ts' } });
    const { contents } = await client.readResource({ uri: 'file:///readme#moniker.docs' });
    expect(contents).toEqual([{ uri: 'file:///readme#moniker.docs', text: 'docs' }]);
    expect((await client.readResource({ uri: 'git://7/data' })).contents).toEqual([{ uri: 'git://7/data', text: 'git' }]);
    await client.complete({ ref: { type: 'ref/prompt', name: 'docs_review' }, argument: { name: 'file', value: 'a' } });
    expect(asked).toEqual([
      ['prompts/get', 'git', { name: 'review', arguments: { file: 'a.ts' } }],
      ['resources/read', 'docs', { uri: 'file:///readme' }],
      ['resources/read', 'git', { uri: 'git://7/data' }],
      ['completion/complete', 'docs', expect.objectContaining({ ref: { type: 'ref/prompt', name: 'review' } })],
    ]);
  });

  it('exclude servers that have no tool in it', async () => {
    const { client, asked } = await serving();
    for (const uri of ['file:///readme#moniker.other', 'other://one', 'file:///etc/passwd', 'file:///readme'])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
    for (const name of ['review', 'only_other']) await expect(client.getPrompt({ name })).rejects.toMatchObject({ code: -32602 });
    expect(asked).toEqual([]);
  });

  it('may request user input', async () => {
    const given: unknown[] = [];
    const { client } = await serving(
      {
        request: async (_server, { given: words }) => {
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

  it('report changes to a listening client, under the names that it knows', async () => {
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
    const subscription = await client.listen({ promptsListChanged: true, resourceSubscriptions: ['file:///readme#moniker.git'] });
    await expect.poll(() => heard.length).toBe(2);
    const git = heard.find(({ server }) => server === 'git');
    expect(git?.uris).toEqual(['file:///readme']);
    git?.hooks.onResourceUpdated?.('file:///readme');
    git?.hooks.onListChanged?.('prompts');
    git?.hooks.onListChanged?.('tools');
    await expect.poll(() => told.toSorted()).toEqual(['file:///readme#moniker.git', 'prompts']);
    expect(changed).toEqual(['git', 'git']);
    await subscription.close();
  });

  it('are returned unchanged, but for the secrets sent to the server, also where hidden characters split those', async () => {
    const hidden = 'a\u202eb\u001b[31mc\u{e0041} hun\u200bter\u001b[1m22\u00ad222';
    const { client } = await serving({
      async request(_server, { method }, hooks, context) {
        await context.secret('TOKEN');
        hooks.notice?.({ level: 'info', logger: hidden, data: { [hidden]: [hidden] } });
        hooks.progress?.({ progress: 1, message: hidden });
        const messages = [{ role: 'user', content: { type: 'text', text: hidden } }];
        if (method === 'completion/complete') return { kind: 'result', result: { completion: { values: [hidden] } } };
        // Members of other results are unknown ones.
        return { kind: 'result', result: { contents: [{ uri: 'git://one', text: hidden }], messages, description: hidden } };
      },
    });
    const told: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void told.push(params));
    const meta = { _meta: { [LOG_LEVEL_META_KEY]: 'info' } };
    const onprogress = (progress: unknown): void => void told.push(progress);
    told.push(await client.readResource({ uri: 'git://one', ...meta }, { onprogress }));
    told.push(await client.getPrompt({ name: 'only_git' }));
    told.push(await client.complete({ ref: { type: 'ref/prompt', name: 'only_git' }, argument: { name: 'x', value: '' } }));
    const text = JSON.stringify(told);
    expect(text.match(/a\u202eb\\u001b\[31mc\u{e0041} \[secret\]/gu)).toHaveLength(11);
    expect(text).not.toMatch(/hun|ter|222/);
  });

  it('are returned without what the redaction rules of the workspace find', async () => {
    const request: McpUpstream['request'] = async (_server, { method }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'ask ada@example.com' } }];
      if (method === 'completion/complete') return { kind: 'result', result: { completion: { values: ['ada@example.com'] } } };
      return {
        kind: 'result',
        result: method === 'prompts/get' ? { messages } : { contents: [{ uri: 'git://one', text: 'by ada@example.com' }] },
      };
    };
    const redact = await compileRedaction({ rules: ['email'], patterns: [], results: true, logs: true });
    const { client } = await serving({ request }, undefined, redact);
    expect((await client.readResource({ uri: 'git://one' })).contents).toEqual([{ uri: 'git://one', text: 'by [email]' }]);
    expect((await client.getPrompt({ name: 'only_git' })).messages[0]?.content).toEqual({ type: 'text', text: 'ask [email]' });
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'only_git' }, argument: { name: 'x', value: '' } });
    expect(completion.values).toEqual(['[email]']);
  });

  it('are withheld if the redaction rules cannot be applied to them within their bound', async () => {
    const request = async () => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'ask ada' } }];
      const result = { contents: [{ uri: 'git://one', text: 'by ada' }], messages, completion: { values: ['ada'] } };
      return { kind: 'result' as const, result };
    };
    const redact = createTextRedactor([{ name: 'endless', label: '[own]', find: () => [Number.MAX_SAFE_INTEGER] }]);
    const { client } = await serving({ request }, undefined, redact);
    const why = 'result is withheld: the redaction rule "endless" could not be applied to a text of';
    await expect(client.readResource({ uri: 'git://one' })).rejects.toThrow(why);
    await expect(client.getPrompt({ name: 'only_git' })).rejects.toThrow(why);
    const asked = { ref: { type: 'ref/prompt' as const, name: 'only_git' }, argument: { name: 'x', value: '' } };
    await expect(client.complete(asked)).rejects.toThrow(why);
  });

  it('fail without revealing the secrets sent to the server', async () => {
    const { client } = await serving({
      request: async (_server, _asked, _hooks, context) => {
        throw new Problem('upstream_error', `It says: who is ${await context.secret('TOKEN')}?`);
      },
    });
    await expect(client.readResource({ uri: 'git://one' })).rejects.toThrow('who is [secret]?');
  });
});

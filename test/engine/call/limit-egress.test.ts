/** Every kind of executor reaches only the hosts of the key (`egressHosts`), also through redirects, nested calls and changed rights. */
import { describe, expect, it } from 'vitest';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { contentText, textResult } from '../../../src/core/tools/tool.ts';
import { hostPatternCovers } from '../../../src/core/secrets/secret.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import type { CallDeps, CallScope } from '../../../src/engine/call/call-scope.ts';
import { executorByKind } from '../../../src/engine/call/executor-by-kind.ts';
import { createUpstreamContexts } from '../../../src/engine/servers/server-fetch.ts';
import { createOpenApiExecutor, createStaticExecutor } from '../../../src/http-tools/executor.ts';
import { createMcpExecutor } from '../../../src/mcp/executor.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import type { ToolExecutor } from '../../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { createCodeExecutor } from '../../../src/tools/executor.ts';
import { codeTools } from '../../../src/tools/registry.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';
import { answerOf, madeTool, toolNamed } from '../inner-run.ts';

type ServerKind = 'static' | 'mcp' | 'openapi';
const serverAt = (url: string, kind: ServerKind): ServerAccess =>
  ({ name: 's', kind, url, trusted: true, ready: ['ping'], held: [] }) as unknown as ServerAccess;
const servers: Record<string, ServerAccess> = {
  near: serverAt('https://api.example.com/call', 'static'),
  far: serverAt('https://evil.example/call', 'static'),
  nearmcp: serverAt('https://api.example.com/mcp', 'mcp'),
  farmcp: serverAt('https://evil.example/mcp', 'mcp'),
  nearapi: serverAt('https://docs.example/openapi.json', 'openapi'),
  farapi: serverAt('https://api.example.com/openapi.json', 'openapi'),
  command: serverAt('stdio://files.stdio', 'mcp'),
};
const serverOf = async (name: string): Promise<ServerAccess> => {
  const server = servers[name];
  if (server === undefined) throw new Error(`no server ${name}`);
  return server;
};

type Options = { egressHosts?: string[]; current?: () => Promise<readonly string[] | undefined>; redirectTo?: string };

/** Calls one tool, and returns its result with the hosts that were reached. */
async function call(tool: EditionTool, args: Record<string, unknown>, { egressHosts, current, redirectTo }: Options = {}) {
  const [clock, log, reached] = [fakeClock(), keptLog(), [] as string[]];
  const inner: ToolExecutor = {
    isSafe: () => true,
    async execute(_tool, given, { calls }) {
      const answer = await calls?.call('http_request', { url: String(given.url) });
      return textResult(answer?.waits === false ? `${answer.result.code ?? 'ok'}: ${contentText(answer.result.content)}` : 'waits');
    },
  };
  const deps = {
    ...{ clock, log },
    executor: executorByKind({
      builtin: createCodeExecutor(codeTools()),
      static: createStaticExecutor(serverOf),
      mcp: createMcpExecutor({
        server: serverOf,
        upstream: {
          callTool: async ({ url }, _call, _hooks, context) => {
            if (!url.startsWith('stdio:')) await context.fetch(new Request(url));
            reached.push('called');
            return { kind: 'result', result: textResult('done') };
          },
          request: () => Promise.reject(new Error('not in these tests')),
        },
      }),
      openapi: createOpenApiExecutor({
        server: serverOf,
        operation: async ({ server }) => ({
          ...{ method: 'GET', path: '/', parameters: [], body: null },
          baseUrl: server === 'nearapi' ? 'https://api.example.com' : 'https://evil.example',
        }),
      }),
      made: inner,
    }),
    server: serverOf,
    async fetch(request: Request, _signal: AbortSignal, onHop?: (to: URL, hop: number) => void) {
      onHop?.(new URL(request.url), 0);
      reached.push(new URL(request.url).host);
      if (redirectTo !== undefined) {
        onHop?.(new URL(redirectTo), 1);
        reached.push(new URL(redirectTo).host);
      }
      return new Response('pong');
    },
    secret: async () => '',
    ...(current && { egressHosts: current }),
  } as unknown as CallDeps;
  const names = buildAliasMap({ format: 1, workspace: 'default', toolset: 'demo', announce: 'none', tools: [tool] }, { aliases: true });
  const scope: CallScope = {
    ...{ keyId: 'k', session: 's', turn: 't', edition: null, results: null, timeoutMs: 5_000, rules: [], canWait: true },
    names: () => names,
    files: createMemoryFiles(clock.now),
    ...(egressHosts && { egressHosts }),
    audit: () => undefined,
  };
  const outcome = await callTool(deps, scope, { callId: 'c1', requested: tool.wireName, arguments: args }, new AbortController().signal);
  const result = answerOf(outcome);
  return { code: result.code ?? 'ok', text: contentText(result.content), reached };
}

const http = toolNamed('builtin.http_request', { approval: 'never' });
const shell = toolNamed('builtin.bash', { approval: 'never' });
const ofServer = (server: string, kind: ServerKind): EditionTool => toolNamed(`${server}.ping`, { kind, approval: 'never' });
const allowed = ['api.example.com', '*.example.org'];

describe('a call of a key with `egressHosts`', () => {
  it.each<[string, EditionTool, Record<string, unknown>]>([
    ['http_request', http, { url: 'https://evil.example/x' }],
    ['a static server', ofServer('far', 'static'), {}],
    ['an MCP server', ofServer('farmcp', 'mcp'), {}],
    ['an OpenAPI server', ofServer('farapi', 'openapi'), {}],
    ['a server that runs a command', ofServer('command', 'mcp'), {}],
  ])('is refused by %s', async (_title, tool, args) => {
    const { code, text, reached } = await call(tool, args, { egressHosts: allowed });
    expect({ code, reached }).toEqual({ code: 'not_allowed', reached: [] });
    expect(text).toMatch(/evil\.example|files\.stdio/);
    expect((await call(tool, args)).code).toBe('ok');
  });

  it.each<[string, EditionTool, Record<string, unknown>]>([
    ['http_request', http, { url: 'https://api.example.com/x' }],
    ['http_request to a sub-domain', http, { url: 'https://a.example.org/x' }],
    ['curl in the shell', shell, { command: 'curl -sS https://api.example.com/x' }],
    ['a static server', ofServer('near', 'static'), {}],
    ['an MCP server', ofServer('nearmcp', 'mcp'), {}],
    ['an OpenAPI server', ofServer('nearapi', 'openapi'), {}],
  ])('reaches its hosts by %s', async (_title, tool, args) => {
    expect((await call(tool, args, { egressHosts: allowed })).code).toBe('ok');
  });

  it('reaches a command that it names', async () => {
    expect((await call(ofServer('command', 'mcp'), {}, { egressHosts: ['files.stdio'] })).code).toBe('ok');
  });

  it.each([
    'https://example.org/',
    'https://api.example.com.evil.example/',
    'https://api.example.com./',
    'https://api.example.com@evil.example/',
    'http://[::ffff:127.0.0.1]/',
    'https://EVIL.example/#api.example.com',
  ])('does not reach %s', async (url) => {
    expect((await call(http, { url }, { egressHosts: allowed })).reached).toEqual([]);
  });

  it('does not follow a redirect to another host', async () => {
    const { code, text, reached } = await call(
      http,
      { url: 'https://api.example.com/' },
      { egressHosts: allowed, redirectTo: 'https://evil.example/' },
    );
    expect({ code, reached }).toEqual({ code: 'not_allowed', reached: ['api.example.com'] });
    expect(text).toContain('evil.example');
  });

  it('reaches nothing with an empty list', async () => {
    expect((await call(http, { url: 'https://api.example.com/' }, { egressHosts: [] })).code).toBe('not_allowed');
  });

  it('is limited in nested calls of made tools and code', async () => {
    const tool = madeTool('fetcher', [http], { approval: 'never' });
    const refused = await call(tool, { url: 'https://evil.example/' }, { egressHosts: allowed });
    expect(refused.text).toMatch(/^not_allowed: .*evil\.example/);
    expect(refused.reached).toEqual([]);
    expect((await call(tool, { url: 'https://api.example.com/' }, { egressHosts: allowed })).text).toMatch(/^ok: /);
  });

  it('says in the result of a script that continued what was not sent', async () => {
    const { code, text, reached } = await call(
      shell,
      { command: 'curl -s https://evil.example/ || echo continued' },
      { egressHosts: allowed },
    );
    expect({ code, reached }).toEqual({ code: 'ok', reached: [] });
    expect(text).toContain('continued');
    expect(text).toContain('evil.example');
  });

  it('is also limited by the current hosts of the key, and refused if they cannot be read', async () => {
    const url = 'https://api.example.com/';
    const narrowed = await call(http, { url }, { egressHosts: allowed, current: async () => ['other.example'] });
    expect(narrowed.code).toBe('not_allowed');
    expect(
      (await call(http, { url: 'https://other.example/' }, { egressHosts: allowed, current: async () => ['other.example'] })).code,
    ).toBe('not_allowed');
    expect((await call(http, { url }, { egressHosts: allowed, current: async () => undefined })).code).toBe('ok');
    const unknown = await call(http, { url }, { egressHosts: allowed, current: () => Promise.reject(new Error('the Catalog is away')) });
    expect({ code: unknown.code, reached: unknown.reached }).toEqual({ code: 'tool_error', reached: [] });
  });
});

it('limits the resources of servers as well', async () => {
  const sent: string[] = [];
  const context = createUpstreamContexts({
    ...{ clock: fakeClock(), log: keptLog() },
    fetch: async (request) => {
      sent.push(request.url);
      return new Response('');
    },
    ...{ tokens: () => null, secret: async () => '', document: async () => null, stdio: () => null },
  });
  const { signal } = new AbortController();
  const caller = { conversation: 'c', owner: 'k', egressHosts: allowed };
  expect(() => context('default', servers.farmcp as ServerAccess, caller, signal)).toThrow('evil.example');
  const near = context('default', servers.nearmcp as ServerAccess, caller, signal);
  await near.fetch(new Request('https://api.example.com/mcp'));
  await expect(near.fetch(new Request('https://evil.example/'))).rejects.toThrow('evil.example');
  expect(sent).toEqual(['https://api.example.com/mcp']);
});

it.each([
  ['api.example.com', 'api.example.com', true],
  ['api.example.com', 'api.example.com:8443', true],
  ['api.example.com:8443', 'api.example.com', false],
  ['*.example.com', 'api.example.com', true],
  ['*.example.com', '*.api.example.com', true],
  ['*.example.com', '*.example.com', true],
  ['*.example.com', 'example.com', false],
  ['example.com', '*.example.com', false],
  ['*.api.example.com', '*.example.com', false],
  ['*.example.com', 'notexample.com', false],
])('%s covers %s: %s', (outer, inner, expected) => {
  expect(hostPatternCovers(outer, inner)).toBe(expected);
});

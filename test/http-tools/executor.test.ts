/** Calls of static tools over HTTP, request and response, against an endpoint on this machine and through the outbound client. */
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ServerAccess } from '../../src/core/servers/server.ts';
import { contentText } from '../../src/core/tools/tool.ts';
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import { callTool } from '../../src/engine/call/call-tool.ts';
import { executorByKind } from '../../src/engine/call/executor-by-kind.ts';
import type { CallDeps } from '../../src/engine/call/call-scope.ts';
import { createStaticExecutor } from '../../src/http-tools/executor.ts';
import { createToolFetch } from '../../src/engine/servers/server-fetch.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';
import { keptLog } from '../fakes/runtime.ts';
import { listenToolServer, type ToolAnswers, type ToolServer } from '../fakes/tool-server.ts';

const running: ToolServer[] = [];
afterEach(() => {
  for (const server of running.splice(0)) server.close();
});

async function listen(answers?: ToolAnswers): Promise<ToolServer> {
  const server = await listenToolServer(answers);
  running.push(server);
  return server;
}

const secrets: Record<string, string> = { TOKEN: 'token-of-the-tools', BROKEN: 'line\nbreak-secret' };

/**
 * Returns a function that calls one tool of a server at `url`. `more`: further fields of the server; `allowed`: private hosts from the
 * settings.
 */
async function door(url: string, more: Partial<ServerAccess> = {}, { trusted = true, allowed = ['servers:127.0.0.1:*'], entry = {} } = {}) {
  const source = { state: 'ready' as const, trusted, pin: '' };
  const annotations = { readOnlyHint: true };
  const { edition } = await compile(
    { tools: [{ tool: 'weather.get.forecast', name: 'forecast', aliases: [], ...entry }] },
    knownTools([toolOf('weather', 'get.forecast', { kind: 'static', source, annotations })]),
  );
  const access: ServerAccess = {
    name: 'weather',
    kind: 'static',
    url,
    trusted,
    ready: ['get.forecast'],
    held: [],
    version: 1,
    connection: null,
    staleAt: null,
    ...more,
  };
  const outbound = createOutbound({ allowPrivateHosts: allowed, publicUrl: null });
  const server = async (): Promise<ServerAccess> => access;
  const asked: unknown[] = [];
  const deps: CallDeps = {
    clock: systemClock,
    log: keptLog(),
    executor: executorByKind({ static: createStaticExecutor(server) }),
    server,
    fetch: createToolFetch(outbound),
    secret: async (name, tool, host) => {
      asked.push({ name, tool, host });
      const value = secrets[name];
      if (value === undefined) throw new Problem('not_found', `There is no secret "${name}".`);
      return value;
    },
  };
  const names = buildAliasMap(edition, { aliases: true });
  const call = async (args: Record<string, unknown> = {}) => {
    const scope = {
      ...{ keyId: 'k', session: null, turn: null, names: () => names, edition: null, files: createMemoryFiles(() => 0), results: null },
      ...{ timeoutMs: 10_000, rules: [], canWait: false, audit: () => undefined },
    };
    const outcome = await callTool(deps, scope, { callId: 'call_7', requested: 'forecast', arguments: args }, new AbortController().signal);
    if (!('answer' in outcome)) throw new Error('the call waits');
    const { result } = outcome.answer;
    return { ...result, text: contentText(result.content) };
  };
  return { call, asked, deps, tool: edition.tools[0] };
}

describe('a call of a static tool', () => {
  it('is one POST with the tool’s own name, its arguments, the server’s headers and the idempotency key', async () => {
    const server = await listen();
    const { call, asked } = await door(server.url, {
      headers: { authorization: { secret: 'TOKEN' }, 'x-team': 'a', 'content-type': 'text/plain' },
    });
    expect(await call({ city: 'Wien' })).toMatchObject({ isError: false, text: '{"name":"get.forecast","arguments":{"city":"Wien"}}' });
    expect(server.refused).toEqual([]);
    expect(server.calls).toMatchObject([
      {
        name: 'get.forecast',
        arguments: { city: 'Wien' },
        headers: { authorization: secrets.TOKEN, 'x-team': 'a', 'idempotency-key': 'call_7', 'content-type': 'application/json' },
      },
    ]);
    expect(asked).toEqual([{ name: 'TOKEN', tool: 'weather.get.forecast', host: server.host }]);
  });

  it('has the query of the server, whose secrets appear in no result', async () => {
    const urls: string[] = [];
    const server = await listen();
    const { call, deps } = await door(`${server.url}?v=1`, { query: { key: { secret: 'TOKEN' } } });
    const send = deps.fetch;
    deps.fetch = (request, ...more) => {
      urls.push(request.url);
      return urls.length === 1 ? send(request, ...more) : Promise.reject(new Error(`could not get ${request.url}`));
    };
    expect(await call()).toMatchObject({ isError: false });
    expect(urls).toEqual([`${server.url}?v=1&key=${secrets.TOKEN}`]);
    const failed = await call();
    expect(failed.isError).toBe(true);
    expect(failed.text).not.toContain(secrets.TOKEN);
    expect(JSON.stringify((deps.log as ReturnType<typeof keptLog>).lines)).not.toContain(secrets.TOKEN);
  });

  it('puts a preset secret into the body and redacts it from the response', async () => {
    const server = await listen();
    const { call } = await door(server.url, {}, { entry: { arguments: { preset: { key: { secret: 'TOKEN' } } } } });
    expect((await call()).text).toBe('{"name":"get.forecast","arguments":{"key":"[secret]"}}');
    expect(server.calls[0]?.arguments).toEqual({ key: secrets.TOKEN });
  });

  it('reaches hosts that are allowed only for servers, and no others', async () => {
    const server = await listen();
    expect((await (await door(server.url, {}, { allowed: ['providers:127.0.0.1:*'] })).call()).text).toContain(
      'MONIKER_ALLOW_PRIVATE_HOSTS=servers:127.0.0.1',
    );
    expect(server.calls).toEqual([]);
  });

  it('names a missing secret, and never shows one that is invalid as a header value', async () => {
    const server = await listen();
    expect(await (await door(server.url, { headers: { a: { secret: 'NONE' } } })).call()).toMatchObject({
      code: 'tool_error',
      text: expect.stringContaining('There is no secret "NONE"'),
    });
    const { text } = await (await door(server.url, { headers: { a: { secret: 'BROKEN' } } })).call();
    expect(text).toContain('The header a of the server cannot be sent');
    expect(text).not.toContain('secret');
    expect(server.calls).toEqual([]);
  });

  it('may be retried only if a trusted server declares it safe', async () => {
    const { deps, tool } = await door('https://x.example/');
    if (tool === undefined) throw new Error('no tool');
    expect(deps.executor.isSafe(tool, {})).toBe(true);
    const { trusted: _trusted, ...untrusted } = tool;
    expect(deps.executor.isSafe(untrusted, {})).toBe(false);
    expect(deps.executor.isSafe({ ...tool, annotations: {} }, {})).toBe(false);
  });

  it('is rejected for a kind without an executor', async () => {
    const { tool } = await door('https://x.example/');
    if (tool === undefined) throw new Error('no tool');
    const executor = executorByKind({});
    expect(executor.isSafe(tool, {})).toBe(false);
    expect(await executor.host?.(tool)).toBeNull();
    expect((await executor.execute(tool, {}, {} as never)).code).toBe('tool_error');
  });
});

describe('a response', () => {
  const answered = async (answer: unknown) => await (await door((await listen(() => answer)).url)).call();

  it('that is an MCP result is returned as one', async () => {
    const content = [
      { type: 'text', text: 'a', annotations: { audience: ['user'] } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ];
    expect(await answered({ content, structuredContent: { n: 1 }, _meta: {} })).toMatchObject({
      isError: false,
      content: [{ type: 'text', text: 'a' }, content[1]],
      structuredContent: { n: 1 },
    });
    expect(await answered({ content: [{ type: 'text', text: 'no such city' }], isError: true })).toMatchObject({
      isError: true,
      code: 'tool_error',
      text: 'no such city',
    });
    expect(await answered({ content: [], structuredContent: { n: 1 } })).toMatchObject({ content: [], structuredContent: { n: 1 } });
  });

  it.each<[string, unknown, object]>([
    ['an object', { temperature: 3 }, { text: '{"temperature":3}', structuredContent: { temperature: 3 } }],
    ['content of another kind', { content: [{ type: 'paragraph' }] }, { structuredContent: { content: [{ type: 'paragraph' }] } }],
    ['an array', [1, 2], { text: '[1,2]' }],
    ['a number', 7, { text: '7' }],
    ['null', null, { text: 'null' }],
    ['text', new Response('It rains.'), { text: 'It rains.' }],
    ['text that begins like JSON', new Response('{it rains}'), { text: '{it rains}' }],
    ['nothing', new Response(null, { status: 204 }), { content: [] }],
    ['bytes', new Response(new Uint8Array([0, 1, 255])), { text: '[3 bytes of binary data, not shown]' }],
    ['an image', new Response('x', { headers: { 'content-type': 'image/png' } }), { text: '[1 bytes of image/png, not shown]' }],
  ])('of %s is converted by its type', async (_what, answer, shown) => {
    expect(await answered(answer)).toMatchObject({ isError: false, ...shown });
  });

  it.each<[string, () => Response, string]>([
    [
      'an error status',
      () => new Response('no quota left', { status: 429 }),
      'weather.get.forecast failed: its server returned status 429.\nno quota left',
    ],
    [
      'an error status and no words',
      () => new Response(null, { status: 500 }),
      'weather.get.forecast failed: its server returned status 500.',
    ],
    ['a redirect to nowhere', () => new Response(null, { status: 302 }), 'its server returned status 302'],
    ['broken JSON', () => new Response('{"a": ', { headers: { 'content-type': 'application/json' } }), 'returned invalid JSON'],
    ['a JSON bomb', () => new Response(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`), 'nested deeper than'],
    ['half a gzip', () => new Response('not gzip', { headers: { 'content-encoding': 'gzip' } }), 'broke off'],
    [
      'a gzip bomb',
      () =>
        new Response(gzipSync(new Uint8Array(50 * 1024 * 1024)), { headers: { 'content-encoding': 'gzip', 'content-type': 'text/plain' } }),
      `returned more than ${limits.maxToolReplyBytes} bytes`,
    ],
  ])('that is %s is an error that says so', async (_what, answer, words) => {
    const server = await listen(() => answer());
    expect(await (await door(server.url)).call()).toMatchObject({
      isError: true,
      code: 'tool_error',
      text: expect.stringContaining(words),
    });
  });

  it('with members such as __proto__ changes no object', async () => {
    const text = '{"structuredContent": {"__proto__": {"polluted": true}, "constructor": 1}, "content": []}';
    const shown = await answered(new Response(text, { headers: { 'content-type': 'application/json' } }));
    expect(JSON.stringify(shown.structuredContent)).toContain('"constructor":1');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('that redirects to another origin is not followed, and nothing is sent there', async () => {
    const other = await listen();
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await listen(() => new Response(null, { status, headers: { location: other.url } }));
      const { call } = await door(server.url, { headers: { authorization: { secret: 'TOKEN' } } });
      expect(await call(), String(status)).toMatchObject({ code: 'tool_error', text: expect.stringContaining('redirects') });
    }
    expect(other.calls).toEqual([]);
    expect(other.refused).toEqual([]);
  });

  it('that redirects within the same server is followed with the call', async () => {
    const moved = new URL('/moved', 'http://x').pathname;
    let first = true;
    const server = await listen(({ name }) => {
      if (!first) return { said: name };
      first = false;
      return new Response(null, { status: 307, headers: { location: moved } });
    });
    expect((await (await door(server.url)).call()).text).toBe('{"said":"get.forecast"}');
    expect(server.calls).toHaveLength(2);
  });

  it('that never arrives is a timeout', async () => {
    const server = await listen();
    server.close();
    expect(await (await door(server.url)).call()).toMatchObject({
      code: 'tool_error',
      text: expect.stringContaining('could not be reached'),
    });
  });
});

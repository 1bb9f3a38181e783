/** The edge handler in Node, in process: what it serves, what it refuses, and which projects and keys it rejects. */
import { Client } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { AuditRow } from '../../src/core/records/audit.ts';
import { Problem } from '../../src/core/problem.ts';
import { placeholder } from '../../src/core/project/expand-variables.ts';
import { createEdgeHandler, type EdgeOptions } from '../../src/edge.ts';
import type * as Declared from '../../src/local/build/edge.d.mts';
import { edgeProject, edgeUpstream } from './project.ts';
import { takeErrors } from '../service-errors.ts';

/** The types for users fit the implementation. */
export const declared: typeof Declared.createEdgeHandler = createEdgeHandler;

const rootKey = 'root-key-of-at-least-thirty-two-characters';
const env = { MONIKER_ROOT_KEY: rootKey, MONIKER_LOG: 'error' };

type Sent = { status: number; headers: Headers; text: string; json: () => Record<string, unknown> };

async function edge(options: Partial<EdgeOptions> = {}) {
  const handler = await createEdgeHandler({ project: edgeProject, env, fetch: edgeUpstream, ...options });
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Sent> => {
    const all = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json', ...headers };
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await handler(new Request(`https://edge.example${path}`, { method, headers: all, body: text }));
    const answer = await response.text();
    return { status: response.status, headers: response.headers, text: answer, json: () => JSON.parse(answer) };
  };
  return { handler, send };
}

const call = (name: string, args: unknown = {}) => ({ name, arguments: args });

describe('an edge handler', () => {
  it('serves health, models, chats of each dialect, and tools without storage', async () => {
    const { send } = await edge();
    expect((await send('GET', '/healthz')).json()).toMatchObject({ status: 'ok' });
    expect((await send('GET', '/readyz')).status).toBe(200);
    expect((await send('GET', '/v1/models')).text).toContain('"fast"');
    const messages = [{ role: 'user', content: 'Hello' }];
    expect((await send('POST', '/v1/chat/completions', { model: 'fast', messages })).text).toContain('Hello.');
    expect((await send('POST', '/v1/messages', { model: 'fast', max_tokens: 9, messages })).text).toContain('Hello.');
    expect((await send('POST', '/v1/responses', { model: 'smart', input: 'Hello' })).text).toContain('Hello.');
    expect((await send('POST', '/v1/toolsets/named/calls', call('sum', { expression: '6*7' }))).json()).toMatchObject({
      ...{ canonical: 'local.calculate', structuredContent: { value: 42 } },
    });
    expect((await send('POST', '/v1/toolsets/wide/calls', call('twice', { n: 21 }))).json()).toMatchObject({
      structuredContent: { value: 42 },
    });
  });

  it('serves a stock MCP client of the 2025 revisions without a session', async () => {
    const { handler } = await edge();
    const transport = new StreamableHTTPClientTransport(new URL('https://edge.example/mcp/named'), {
      fetch: async (url, init) => await handler(new Request(url, init)),
      requestInit: { headers: { authorization: `Bearer ${rootKey}` } },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('lookUp');
    expect(await client.callTool({ name: 'sum', arguments: { expression: '1+1' } })).toMatchObject({ structuredContent: { value: 2 } });
    expect(transport.sessionId).toBeUndefined();
    await client.close();
  });

  it.each<[method: string, path: string, body: unknown, headers?: Record<string, string>]>([
    ['POST', '/v1/sessions', { model: 'fast' }],
    ['PUT', '/v1/agents/helper', { model: 'fast' }],
    ['PUT', '/v1/toolsets/other', { tools: [{ tool: 'builtin.bash' }] }],
    ['DELETE', '/v1/servers/facts', undefined],
    ['PUT', '/v1/secrets/UP', { value: 'another value', hosts: ['up.example.com'] }],
    ['POST', '/v1/keys', { name: 'k', scopes: ['chat'] }],
    ['GET', '/v1/audit', undefined],
    ['GET', '/v1/usage', undefined],
    ['GET', '/v1/webhooks', undefined],
    ['GET', '/v1/sessions', undefined],
    ['GET', '/v1/replays', undefined],
    ['POST', '/v1/replays', { cases: [{ session: 's', turn: 't' }] }],
    ['POST', '/v1/toolsets/plain/calls', call('calculate', { expression: '1' }), { 'idempotency-key': 'once' }],
  ])('refuses %s %s, says where it works, and asks clients not to retry', async (method, path, body, headers = {}) => {
    const { send } = await edge();
    const { status, text, headers: answered } = await send(method, path, body, headers);
    expect([status, text]).toEqual([503, expect.stringContaining('not_configured')]);
    expect(text).toContain('npm run deploy');
    expect(answered.get('x-should-retry')).toBe('false');
  });

  it('refuses calls that require approval, with the reason and the ways without approval', async () => {
    const toolsets = { guarded: { tools: [{ tool: 'local.calculate', approval: 'always' }] } };
    const { send } = await edge({ project: { toolsets } });
    const { json } = await send('POST', '/v1/toolsets/guarded/calls', call('calculate', { expression: '1' }));
    expect(json()).toMatchObject({ isError: true, code: 'approval_required' });
    const text = JSON.stringify(json());
    expect(text).toContain('cannot be approved in an edge handler');
    expect(text).not.toContain('/v1/sessions');
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call('calculate', { expression: '1' }) };
    const served = await send('POST', '/mcp/guarded', asked, { accept: 'application/json, text/event-stream' });
    expect(served.text).toContain('cannot be approved in an edge handler');
  });

  it('passes audit rows on before the effect and the response, and fails the call if that fails', async () => {
    const rows: AuditRow[] = [];
    const { send } = await edge({ audit: (more) => void rows.push(...more) });
    await send('POST', '/v1/toolsets/plain/calls', call('look_up', { topic: 'bees' }));
    expect(rows.at(-1)).toMatchObject({ canonical: 'facts.look_up', verdict: 'ran', keyId: 'root' });
    const failing = await edge({ audit: () => Promise.reject(new Error('no disk')) });
    expect((await failing.send('POST', '/v1/toolsets/demand/calls', call('bash', { command: 'echo hi' }))).text).not.toContain('hi\\n');
    expect(takeErrors()).toMatchObject([
      { message: 'a call was not run: its audit row cannot be written', cause: 'Error: no disk' },
      { message: 'request failed', code: 'unavailable', cause: 'Error: no disk' },
    ]);
  });

  it('ignores variables with the names of bindings', async () => {
    const names = ['KV', 'CATALOG', 'SESSION', 'ASSETS', 'PUBLIC_NETWORK', 'USAGE', 'AUDIT_EXPORT', '__proto__', 'toString'];
    const { send } = await edge({ env: { ...env, ...Object.fromEntries(names.map((name) => [name, 'a text'])) } });
    expect((await send('POST', '/v1/toolsets/plain/calls', call('look_up', { topic: 'bees' }))).json()).toMatchObject({ isError: false });
    expect((await send('GET', '/')).status).toBe(200);
  });

  it('takes an empty master key as absent, and ignores spaces around it', async () => {
    for (const MONIKER_MASTER_KEY of ['', ' a master key of at least 32 characters\n']) {
      const { send } = await edge({ env: { ...env, MONIKER_MASTER_KEY } });
      expect((await send('POST', '/v1/toolsets/plain/calls', call('look_up', { topic: 'bees' }))).json()).toMatchObject({ isError: false });
    }
  });

  it('keeps two handlers in one process apart', async () => {
    const [one, other] = await Promise.all([edge(), edge({ project: { toolsets: { other: { tools: [{ tool: 'builtin.bash' }] } } } })]);
    expect((await one.send('GET', '/v1/toolsets/other/tools')).status).toBe(404);
    expect((await other.send('GET', '/v1/toolsets/plain/tools')).status).toBe(404);
  });
});

describe('every operation', () => {
  it('works or is refused with a reason, whatever it requires', async () => {
    const { send } = await edge({ env: { ...env, MONIKER_PUBLIC_URL: 'https://edge.example' } });
    const { paths } = (await send('GET', '/openapi.json')).json() as { paths: Record<string, Record<string, unknown>> };
    const names: Record<string, string> = {
      toolset: 'plain',
      server: 'facts',
      canonical: 'local.calculate',
      provider: 'up',
      secret: 'UP',
      id: 'x',
    };
    const faults: string[] = [];
    let count = 0;
    for (const [path, methods] of Object.entries(paths)) {
      const filled = path.replaceAll(/\{(\w+)\+?\}/g, (_whole, name: string) => names[name] ?? '0'.repeat(64));
      for (const method of Object.keys(methods).filter((name) => name !== 'parameters')) {
        count += 1;
        const body = method === 'get' || method === 'delete' ? undefined : {};
        const { status, text } = await send(method.toUpperCase(), filled, body, { accept: 'application/json, text/event-stream' });
        if (status >= 500 && !text.includes('npm run deploy')) faults.push(`${method} ${filled}: ${status} ${text.slice(0, 200)}`);
      }
    }
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });
});

describe('keys of an edge handler', () => {
  const bound = 'a-key-that-is-bound-to-one-toolset-0123456789';
  const old = 'a-key-that-has-expired-long-ago-0123456789';
  const keys = [
    { key: bound, name: 'app', scopes: ['tools' as const], toolsets: ['plain'] },
    { key: old, name: 'old', scopes: ['admin' as const], expiresAt: '2020-01-01T00:00:00.000Z' },
  ];
  const as = (key: string) => ({ authorization: `Bearer ${key}` });

  it('have their own rights, with and without a root key', async () => {
    for (const settings of [env, { MONIKER_LOG: 'error' }]) {
      const { send } = await edge({ keys, env: settings });
      expect((await send('POST', '/v1/toolsets/plain/calls', call('calculate', { expression: '1' }), as(bound))).status).toBe(200);
      expect((await send('GET', '/v1/toolsets/named/tools', undefined, as(bound))).status).toBe(403);
      expect((await send('POST', '/v1/chat/completions', { model: 'fast', messages: [] }, as(bound))).status).toBe(403);
      expect((await send('GET', '/v1/me', undefined, as(bound))).json()).toMatchObject({ workspace: 'default', scopes: ['tools'] });
    }
  });

  it('are rejected when unknown, expired, missing or from another workspace', async () => {
    const { send } = await edge({ keys });
    for (const key of [old, 'a-key-that-nobody-ever-made-0123456789', 'mk_other_abc_def', '__proto__'])
      expect((await send('GET', '/v1/models', undefined, as(key))).status, key).toBe(401);
    expect((await send('GET', '/v1/models', undefined, { authorization: '' })).status).toBe(401);
    await expect(edge({ env: {} })).rejects.toThrow('MONIKER_ROOT_KEY');
    await expect(edge({ env: { MONIKER_ROOT_KEY: 'short' } })).rejects.toThrow('MONIKER_ROOT_KEY');
  });

  it('must be long, and different', async () => {
    await expect(edge({ keys: [{ key: 'short', name: 'x', scopes: ['chat'] }] })).rejects.toThrow('keys[0].key');
    await expect(edge({ keys: [keys[0], keys[0]] as EdgeOptions['keys'] & {} })).rejects.toThrow('keys[1].key: is listed twice');
  });
});

describe('a project of an edge handler', () => {
  const toolset = (tools: unknown) => ({ toolsets: { t: { tools } } });

  it.each([
    ['an unknown field', { tolsets: {} }, 'tolsets'],
    ['no object', 7, 'invalid_request'],
    ['a text that is no YAML', 'toolsets: [', 'not valid YAML'],
    ['YAML with aliases', 'a: &a [x]\nb: *a', 'alias'],
    [
      'a name claimed twice',
      toolset([
        { tool: 'local.calculate', aliases: ['x1'] },
        { tool: 'builtin.bash', aliases: ['x1'] },
      ]),
      'x1',
    ],
    ['an unknown tool', toolset([{ tool: 'local.calculat' }]), 'local.calculate'],
    ['a variable that is not set', { servers: { s: { kind: 'mcp', url: placeholder('NO_SUCH') } } }, 'NO_SUCH'],
    ['a command', { servers: { s: { kind: 'mcp', command: 'npx', args: ['-y', 'some-server'] } } }, 'servers.s.command'],
    ['a reserved server', { servers: { builtin: { kind: 'mcp', url: 'https://a.example' } } }, 'servers.builtin'],
    ['a secret for another host', { ...secretOf('b.example'), ...serverAt('https://a.example/mcp') }, 'it is not bound to the host'],
    ['a secret that nothing names', { secrets: { A: { value: 'abcdefgh' } } }, 'secrets.A.hosts'],
    ['a made tool with the name of another', { tools: { 'made.bash': { description: 'x', implementation: 'x' } } }, 'builtin.bash'],
    ['the built-in provider', { providers: { rehearsal: { kind: 'openai', apiKey: 'abcdefgh' } } }, 'providers.rehearsal'],
  ])('with %s is rejected at the start', async (_what, project, expected) => {
    const error = await edge({ project }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Problem);
    expect(JSON.stringify(error instanceof Problem ? error.toBody() : null)).toContain(expected);
  });

  it('is rejected with all of its faults in one message', async () => {
    const tools = [{ tool: 'local.calculat' }, { tool: 'builtin.bash', aliases: ['not a name'] }];
    await expect(edge({ project: toolset(tools) })).rejects.toThrow(/tools\[0\]\.tool: .*\n.*tools\[1\]\.aliases\[0\]: /);
  });

  it('may be YAML, with variables from the environment', async () => {
    const project = `modelAliases: { quick: { model: "${placeholder('MODEL:-rehearsal/default')}" } }\ntoolsets: { t: { tools: [{ tool: local.calculate }] } }`;
    const { send } = await edge({ project });
    expect((await send('GET', '/v1/models')).text).toContain('quick');
    expect((await send('GET', '/v1/toolsets/t/tools')).status).toBe(200);
  });

  it('has prototype names as ordinary unknown names', async () => {
    const { send } = await edge();
    for (const name of ['__proto__', 'constructor', 'toString'])
      for (const path of [`/v1/toolsets/${name}/tools`, `/v1/servers/${name}`, `/v1/tools/${name}`, `/v1/providers/${name}`])
        expect((await send('GET', path)).status, path).toBe(404);
  });
});

function secretOf(host: string) {
  return { secrets: { A: { value: 'abcdefgh', hosts: [host] } } };
}

function serverAt(url: string) {
  return { servers: { s: { kind: 'mcp', url, headers: { authorization: { secret: 'A' } } } } };
}

/** Values that may be credentials are not shown by anything that shows a document, and are never lost. */
import { beforeAll, describe, expect, it } from 'vitest';
import { bodyOf } from './harness.ts';
import { createLauncherService, proof } from './launcher-service.ts';

let service: Awaited<ReturnType<typeof createLauncherService>>;
beforeAll(async () => {
  service = await createLauncherService();
});
const send: (typeof service)['send'] = (...request) => service.send(...request);

const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const random = '4eC39HqLyjWDarjtT1zdp7dc5Zr8Bq';
/** Documents with credentials in plain text, and the paths at which they are hidden. */
const cases: Readonly<Record<string, { kind: 'server' | 'provider'; body: Record<string, unknown>; hidden: Record<string, string> }>> = {
  'variables of a command': {
    kind: 'server',
    body: {
      kind: 'mcp',
      command: 'no-such-program',
      env: {
        SEED_PHRASE: phrase,
        DB_PASS: 'hunter2-of-db',
        RPC_URL: 'https://rpc.example.com/?api-key=key-of-rpc',
        HOOK: 'https://hooks.slack.com/services/T0/B0/hook-of-slack',
        OTHER: random,
        LEVEL: 'info',
      },
    },
    hidden: {
      'env.SEED_PHRASE': phrase,
      'env.DB_PASS': 'hunter2-of-db',
      'env.RPC_URL': 'key-of-rpc',
      'env.HOOK': 'hook-of-slack',
      'env.OTHER': random,
    },
  },
  'arguments of a command': {
    kind: 'server',
    body: {
      kind: 'mcp',
      command: 'no-such-program',
      args: ['-y', 'files@1.2.3', '--password', 'hunter2-of-args', 'postgres://ada:pw-of-url@db/app', '--token=token-of-args'],
    },
    hidden: { 'args[3]': 'hunter2-of-args', 'args[4]': 'pw-of-url', 'args[5]': 'token-of-args' },
  },
  'headers and query of an MCP server': {
    kind: 'server',
    body: {
      kind: 'mcp',
      url: 'http://127.0.0.1:9/mcp',
      headers: { 'x-signature': 'signature-of-mcp', 'x-plain': 'plain' },
      query: { account: random, region: 'eu' },
    },
    hidden: { 'headers.x-signature': 'signature-of-mcp', 'query.account': random },
  },
  'the URL of an MCP server': {
    kind: 'server',
    body: { kind: 'mcp', url: 'http://127.0.0.1:9/mcp?region=eu&api_key=key-in-url' },
    hidden: { url: 'key-in-url' },
  },
  'headers of a static server': {
    kind: 'server',
    body: {
      kind: 'static',
      url: 'https://tools.example.com/call',
      headers: { 'x-tools-pass': 'pass-of-tools' },
      tools: [{ name: 'a', inputSchema: { type: 'object' } }],
    },
    hidden: { 'headers.x-tools-pass': 'pass-of-tools' },
  },
  'headers of an OpenAPI server': {
    kind: 'server',
    body: {
      kind: 'openapi',
      headers: { 'x-access-token': 'token-of-api' },
      document: { openapi: '3.1.0', info: { title: 'P', version: '1' }, servers: [{ url: 'https://api.example.com' }], paths: {} },
    },
    hidden: { 'headers.x-access-token': 'token-of-api' },
  },
  'headers of a provider': {
    kind: 'provider',
    body: {
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
      headers: { 'x-portkey-virtual-key': 'virtual-key-of-it' },
      models: ['m'],
    },
    hidden: { 'headers.x-portkey-virtual-key': 'virtual-key-of-it' },
  },
};

const rows = Object.entries(cases).map(([title, one]) => ({ title, ...one }));
let count = 0;
async function create({ kind, body }: (typeof rows)[number]): Promise<{ path: string; name: string; text: string }> {
  count += 1;
  const name = `one-${count}`;
  const path = `/v1/${kind}s/${name}`;
  const created = await send('PUT', path, body, proof);
  const text = await created.text();
  expect(created.status, text).toBe(201);
  return { path, name, text };
}

/** What GET returned, as it is sent back. */
async function shownOf({ kind }: Pick<(typeof rows)[number], 'kind'>, path: string): Promise<Record<string, unknown>> {
  const {
    health: _health,
    offers: _offers,
    hasApiKey: _key,
    createdAt: _created,
    updatedAt: _updated,
    source: _source,
    ...shown
  } = await bodyOf(await send('GET', path));
  return kind === 'server' ? shown : { ...shown, name: undefined };
}

describe.each(rows)('$title', (row) => {
  const values = Object.values(row.hidden);
  const expectHidden = (text: string): void => {
    for (const value of values) expect(text).not.toContain(value);
  };

  it('are not shown by GET, lists, responses, plans, exports or the audit', async () => {
    const { path, name, text } = await create(row);
    expectHidden(text);
    const changed = await send('PATCH', path, row.kind === 'server' ? { instructions: 'Changed.' } : { models: ['m', 'n'] });
    expect(changed.status).toBe(200);
    const section = `${row.kind}s`;
    const project = {
      [section]: { [name]: { ...row.body, ...(row.kind === 'server' ? { instructions: 'Planned.' } : { models: ['o'] }) } },
    };
    const planned = await send('PUT', `/v1/projects/${name}?force=true&dryRun=true`, project, proof);
    expect(planned.status).toBe(200);
    const texts = [
      await changed.text(),
      await planned.text(),
      ...(await Promise.all(
        [path, `/v1/${section}?limit=100`, '/v1/export', '/v1/export?format=yaml', '/v1/audit?limit=100'].map(async (one) => {
          const answer = await send('GET', one);
          expect(answer.status).toBe(200);
          return await answer.text();
        }),
      )),
    ];
    for (const shown of texts) expectHidden(shown);
  });

  it('are named by path in the response of the write, with what to do', async () => {
    const { text } = await create(row);
    const { warnings } = JSON.parse(text) as { warnings: { path: string; message: string }[] };
    const named = warnings.filter(({ message }) => message.includes('secret'));
    expect(named.map(({ path }) => path)).toEqual(Object.keys(row.hidden));
    for (const { message } of named) expect(message).toContain('GET does not show it');
  });

  it('are kept by a PUT of what GET returned, a PATCH, and an import of the export', async () => {
    const { path, name } = await create(row);
    const before = await service.stored(row.kind, name);
    const put = await send('PUT', path, await shownOf(row, path));
    expect(put.status, await put.clone().text()).toBe(200);
    expect(await service.stored(row.kind, name)).toEqual(before);
    await send('PATCH', path, {});
    expect(await service.stored(row.kind, name)).toEqual(before);
    const exported = await bodyOf(await send('GET', '/v1/export'));
    const section = `${row.kind}s`;
    const own = { [section]: { [name]: exported[section][name] } };
    expect(JSON.stringify(own)).toContain(`\${${row.kind.toUpperCase()}_ONE_`);
    for (const imported of [await send('POST', '/v1/import', own), await send('PUT', `/v1/projects/${name}?force=true`, own)]) {
      const { unchanged, warnings } = await bodyOf(imported);
      expect(unchanged).toEqual([`${section}.${name}`]);
      const kept = warnings.filter(({ message }: { message: string }) => message.includes('A stored value stays'));
      expect(kept.map(({ path: at }: { path: string }) => at)).toEqual(Object.keys(row.hidden).map((at) => `${section}.${name}.${at}`));
    }
    expect(await service.stored(row.kind, name)).toEqual(before);
  });

  it('are refused where nothing is stored', async () => {
    const { path, name } = await create(row);
    const body = { ...(await shownOf(row, path)), name: undefined };
    const other = await send('PUT', path.replace('one-', 'other-'), body, proof);
    expect(other.status).toBe(422);
    expect((await bodyOf(other)).issues.map((issue: { path: string }) => issue.path)).toEqual(Object.keys(row.hidden));
    const exported = await bodyOf(await send('GET', '/v1/export'));
    const section = `${row.kind}s`;
    const again = { [section]: { [name]: exported[section][name] } };
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await bodyOf(await send('PUT', `/v1/projects/${name}`, again, proof))).skipped).toMatchObject([{ name: `${section}.${name}` }]);
    expect((await send('GET', path)).status).toBe(404);
  });
});

describe('a hidden value', () => {
  const row = (title: string): (typeof rows)[number] => ({ title, ...(cases[title] as (typeof cases)[string]) });
  const mcp = row('headers and query of an MCP server');
  const shownHeaders = { 'x-signature': { hidden: 'headers.x-signature' }, 'x-plain': 'plain' };
  const attempts: Readonly<Record<string, { of: (typeof rows)[number]; write: Record<string, unknown> }>> = {
    'is not sent to another address': { of: mcp, write: { url: 'http://127.0.0.1:10/mcp' } },
    'is not sent to another scheme': { of: mcp, write: { url: 'https://127.0.0.1:9/mcp' } },
    'is not sent by another kind of server to another address': {
      of: mcp,
      write: { kind: 'static', url: 'http://evil.example/call', tools: [{ name: 'a', inputSchema: { type: 'object' } }], query: undefined },
    },
    'does not get a name under which it would be shown': {
      of: mcp,
      write: { headers: { ...shownHeaders, 'x-plain': { hidden: 'headers.x-signature' } } },
    },
    'does not move to another member': { of: mcp, write: { query: { account: { hidden: 'headers.x-signature' } } } },
    'is not a member of objects': { of: mcp, write: { headers: { constructor: { hidden: 'headers.constructor' } } } },
    'is not one that is stored as a secret': { of: mcp, write: { headers: { 'x-plain': { hidden: 'headers.x-missing' } } } },
    'in a URL is not sent to another address': {
      of: row('the URL of an MCP server'),
      write: { url: 'http://127.0.0.1:10/mcp?region=eu&api_key=(hidden)' },
    },
    'in a URL does not become another parameter': {
      of: row('the URL of an MCP server'),
      write: { url: 'http://127.0.0.1:9/mcp?region=(hidden)&api_key=(hidden)' },
    },
    'is not sent to the addresses of another document': {
      of: row('headers of an OpenAPI server'),
      write: { document: { openapi: '3.1.0', info: { title: 'P', version: '1' }, servers: [{ url: 'https://evil.example' }], paths: {} } },
    },
    'is not sent to another base URL': { of: row('headers of an OpenAPI server'), write: { baseUrl: 'https://evil.example' } },
    'of a provider is not sent to another address': { of: row('headers of a provider'), write: { baseUrl: 'http://evil.example/v1' } },
    'of a command does not become a header': {
      of: row('variables of a command'),
      write: { command: undefined, env: undefined, url: 'http://evil.example/mcp', headers: { a: { hidden: 'env.SEED_PHRASE' } } },
    },
  };

  it.each(Object.entries(attempts))('stays hidden, since it %s', async (_title, { of, write }) => {
    const { path, name } = await create(of);
    const before = await service.stored(of.kind, name);
    const body = { ...(await shownOf(of, path)), ...write };
    const patch = Object.fromEntries(Object.entries(write).map(([member, value]) => [member, value ?? null]));
    const section = { [`${of.kind}s`]: { [name]: body } };
    const answers = [
      await send('PUT', path, body, proof),
      await send('PATCH', path, patch, proof),
      await send('PUT', `/v1/projects/${name}?force=true`, section, proof),
      await send('POST', '/v1/import', section, proof),
      ...(of.kind === 'server'
        ? [await send('POST', `${path}/test`, body, proof), await send('PUT', `${path}?dryRun=true`, body, proof)]
        : []),
    ];
    for (const answer of answers) {
      const text = await answer.text();
      expect([answer.status, text]).toEqual([422, expect.stringContaining('hidden')]);
      for (const value of Object.values(of.hidden)) expect(text).not.toContain(value);
    }
    expect(await service.stored(of.kind, name)).toEqual(before);
  });

  it('is given to the program, also in a test of the document that GET returned', async () => {
    const { path } = await create(row('variables of a command'));
    const shown = await bodyOf(await send('GET', path));
    service.runs.length = 0;
    expect((await send('POST', `${path}/test`, shown)).status).toBe(200);
    const [run] = service.runs.map((text) => JSON.parse(text) as { env: Record<string, string>; hidden: string[] });
    expect(run?.env).toMatchObject({ SEED_PHRASE: phrase, LEVEL: 'info' });
    expect(run?.hidden).toContain(phrase);
    expect(run?.hidden).not.toContain('info');
  });

  it('of an argument moves with it', async () => {
    const { path, name } = await create(row('arguments of a command'));
    const { args } = await bodyOf(await send('GET', path));
    expect(args).toEqual(['-y', 'files@1.2.3', '--password', { hidden: 'args[3]' }, { hidden: 'args[4]' }, { hidden: 'args[5]' }]);
    const moved = [args[5], ...args.slice(2, 4)];
    expect((await send('PATCH', path, { args: moved })).status).toBe(403);
    expect((await send('PATCH', path, { args: moved }, proof)).status).toBe(200);
    expect(JSON.parse((await service.stored('server', name))?.body ?? '').args).toEqual([
      '--token=token-of-args',
      '--password',
      'hunter2-of-args',
    ]);
  });

  it('is replaced by a value or a secret, and removed', async () => {
    const { path, name } = await create(mcp);
    const change = async (headers: object) => await send('PATCH', path, { headers });
    expect((await change({ 'x-signature': 'another signature' })).status).toBe(200);
    expect((await service.stored('server', name))?.body).toContain('another signature');
    expect((await bodyOf(await change({ 'x-signature': { secret: 'SIGNATURE' } }))).headers).toMatchObject({
      'x-signature': { secret: 'SIGNATURE' },
    });
    expect((await change({ 'x-signature': null })).status).toBe(200);
    expect((await bodyOf(await send('GET', path))).headers).toEqual({ 'x-plain': 'plain' });
  });

  it('that changes is named in a plan, without the values', async () => {
    const { name } = await create(mcp);
    const project = { servers: { [name]: { ...mcp.body, headers: { 'x-signature': 'another signature', 'x-plain': 'changed' } } } };
    const answer = await send('PUT', `/v1/projects/${name}?force=true&dryRun=true`, project);
    const text = await answer.text();
    expect(JSON.parse(text).changes).toEqual([
      { name: `servers.${name}`, path: 'headers.x-plain', before: '"plain"', after: '"changed"' },
      { name: `servers.${name}`, path: 'headers.x-signature' },
    ]);
    expect(text).not.toContain('signature-of-mcp');
    expect(text).not.toContain('another signature');
  });

  it('stays when the server moves within its origin', async () => {
    const { path, name } = await create(mcp);
    expect((await send('PATCH', path, { url: 'http://127.0.0.1:9/mcp/v2' })).status).toBe(200);
    expect((await service.stored('server', name))?.body).toContain('signature-of-mcp');
  });
});

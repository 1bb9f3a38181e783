import { describe, expect, it } from 'vitest';
import { createClient, fillPath } from '../../client/src/client.ts';
import { MonikerError } from '../../client/src/error.ts';
import { idempotentPaths } from '../../client/src/idempotent-paths.ts';
import { paginate } from '../../client/src/paginate.ts';
import { createHarness, rootKey } from '../http/harness.ts';

const baseUrl = 'http://moniker.example';

/** A client of the app of the harness, without a network. */
function connect(key = rootKey) {
  const harness = createHarness();
  const requests: Request[] = [];
  const client = createClient({
    baseUrl,
    key,
    fetch: async (request) => {
      requests.push(request.clone());
      return await harness.app.fetch(request);
    },
  });
  return { client, requests };
}

async function errorOf(work: Promise<unknown>): Promise<MonikerError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MonikerError)) throw new Error(`no MonikerError: ${String(error)}`);
  return error;
}

describe('the operations', () => {
  it('return the data of a success', async () => {
    const { client } = connect();
    const params = { path: { toolset: 'mine' } };
    await client.put('/v1/toolsets/{toolset}', { params, body: { tools: [{ tool: 'builtin.bash', name: 'run' }] } });
    expect(await client.get('/v1/toolsets/{toolset}', { params })).toMatchObject({ name: 'mine', tools: [{ name: 'run' }] });
    expect(await client.delete('/v1/toolsets/{toolset}', { params })).toBeUndefined();
  });

  it('throw the problem of a failure', async () => {
    const { client } = connect();
    const error = await errorOf(client.get('/v1/toolsets/{toolset}', { params: { path: { toolset: 'none' } } }));
    expect(error).toMatchObject({ code: 'not_found', status: 404, issues: [], name: 'MonikerError' });
    expect(error.detail).toContain('none');
    expect(error.requestId).toMatch(/^\S+$/);
  });

  it('throw every issue of an invalid body', async () => {
    const { client } = connect();
    const body = { tools: [{ tool: 'builtin.bash', name: 'no spaces' }] };
    const error = await errorOf(client.put('/v1/toolsets/{toolset}', { params: { path: { toolset: 'mine' } }, body }));
    expect(error).toMatchObject({ code: 'invalid_request', issues: [{ path: 'tools[0].name' }] });
    expect(error.message).toContain('tools[0].name: ');
  });

  it('return errors as values from GET, PUT, POST and DELETE', async () => {
    const { client } = connect();
    const { data, error, response } = await client.GET('/v1/agents/{agent}', { params: { path: { agent: 'none' } } });
    expect([data, error?.code, response.status]).toEqual([undefined, 'not_found', 404]);
  });

  it('read the errors of the OpenAI, Anthropic and MCP formats', async () => {
    const { client } = connect('wrong');
    const body = { model: 'rehearsal/default', messages: [] } as never;
    expect(await errorOf(client.post('/v1/chat/completions', { body }))).toMatchObject({ code: 'unauthenticated', status: 401 });
    expect(await errorOf(client.post('/v1/messages', { body }))).toMatchObject({ code: 'unauthenticated', status: 401 });
    expect(await errorOf(client.post('/mcp', { body }))).toMatchObject({ code: 'unauthenticated', status: 401 });
  });

  it('report a response that the service did not write', async () => {
    const client = createClient({ baseUrl, fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }) });
    expect(await errorOf(client.get('/healthz'))).toMatchObject({
      code: 'unexpected_response',
      status: 502,
      detail: '<h1>Bad gateway</h1>',
    });
  });
});

describe('idempotency keys', () => {
  it('are made for the operations that accept one, and only for these', async () => {
    const document = (await (await createHarness().send('GET', '/openapi.json')).json()) as {
      paths: Record<string, { post?: { parameters?: { name: string }[] } }>;
    };
    const documented = Object.entries(document.paths)
      .filter(([, { post }]) => post?.parameters?.some(({ name }) => name === 'idempotency-key'))
      .map(([path]) => path);
    expect([...idempotentPaths].sort()).toEqual(documented.sort());
  });

  it('are different for each request, and replaceable', async () => {
    const { client, requests } = connect();
    const body = { model: 'rehearsal/default' };
    for (const header of [{}, {}, { 'idempotency-key': 'mine' }]) await client.post('/v1/sessions', { body, params: { header } });
    const keys = requests.map((request) => request.headers.get('idempotency-key'));
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/), 'mine']);
    expect(keys[0]).not.toBe(keys[1]);
  });
});

describe('path parameters', () => {
  it('are escaped; the slashes of a file path stay', () => {
    expect(fillPath('/v1/models/{model}', { model: 'a/b c' })).toBe('/v1/models/a%2Fb%20c');
    expect(fillPath('/v1/sessions/{id}/files/{path}', { id: 's?', path: 'a b/c#.txt' })).toBe('/v1/sessions/s%3F/files/a%20b/c%23.txt');
  });

  it.each(['..', '.', '', undefined])('cannot be %j, which would be another operation', (id) => {
    expect(() => fillPath('/v1/sessions/{id}', { id })).toThrow(TypeError);
    if (id) expect(() => fillPath('/v1/sessions/{id}/files/{path}', { id: 's', path: `a/${id}` })).toThrow(TypeError);
  });

  it('reach the service', async () => {
    const { client } = connect();
    expect(await client.get('/v1/models/{model}', { params: { path: { model: 'rehearsal/default' } } })).toMatchObject({
      id: 'rehearsal/default',
    });
  });
});

describe('paginate', () => {
  it('yields the items of all pages, one request for a page', async () => {
    const { client, requests } = connect();
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const agent of names)
      await client.put('/v1/agents/{agent}', { params: { path: { agent } }, body: { model: 'rehearsal/default' } });
    requests.length = 0;
    const seen = [];
    for await (const agent of paginate(client, '/v1/agents', { query: { limit: 2 } })) seen.push(agent.name);
    expect(seen).toEqual(names);
    expect(requests).toHaveLength(3);
  });

  it('stops reading when the caller stops', async () => {
    const { client, requests } = connect();
    for await (const _tool of paginate(client, '/v1/tools', { query: { limit: 1 } })) break;
    expect(requests).toHaveLength(1);
  });

  it('ends with an error if the cursor does not advance', async () => {
    const client = createClient({ baseUrl, fetch: async () => Response.json({ items: [1], nextCursor: 'same' }) });
    const read = async () => {
      for await (const _ of paginate(client, '/v1/tools'));
    };
    await expect(read()).rejects.toThrow('does not advance');
  });
});

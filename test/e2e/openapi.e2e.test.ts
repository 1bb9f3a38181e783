/**
 * APIs by their OpenAPI documents over the running service: hundreds of operations are imported and called by the names of a toolset, and
 * the API's requests are checked. Once with a generated document in the shape of large ones, and once with GitHub's own (706 operations,
 * 3 MB): the file that `test/fetch-openapi-document.ts` fetches, or the path in `MONIKER_OPENAPI_DOCUMENT`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenApi, type ApiServer } from '../fakes/api-server.ts';
import { largeApiDocument } from '../fakes/large-api.ts';
import { realOpenApiDocument } from '../openapi-document.ts';
import { shareService } from './shared-service.ts';
import { isSkipped } from '../selection.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const realDocument = process.env.MONIKER_OPENAPI_DOCUMENT ?? realOpenApiDocument.path;

async function call(toolset: string, name: string, args: object): Promise<Record<string, unknown>> {
  return (await service.call('POST', `/v1/toolsets/${toolset}/calls`, { name, arguments: args })).json;
}

/** The requests that the API has received since the last call. */
function seen(api: ApiServer): string[] {
  return api.calls.splice(0).map(({ method, path, query, body }) => `${method} ${path}${query}${body === '' ? '' : ` ${body}`}`);
}

describe('a large API', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await listenApi(
      (origin) => JSON.stringify(largeApiDocument(100, [`${origin}/v1`])),
      ({ method, path }) => (method === 'GET' ? { id: path } : Response.json({ id: 'new' }, { status: 201 })),
    );
  });
  afterAll(() => api.close());

  it('is imported with all its operations, which are called by the names of a toolset', async () => {
    await service.call('PUT', '/v1/secrets/API', { value: 'Bearer the-token-of-the-api', hosts: [api.host] });
    const server = { kind: 'openapi', url: api.documentUrl, headers: { authorization: { secret: 'API' } }, trusted: true };
    const put = await service.call('PUT', '/v1/servers/large', server);
    expect([put.status, put.json]).toMatchObject([201, { toolCount: 600, health: { status: 'ok' }, warnings: [] }]);
    const tools = [
      { tool: 'large.resource7_list', name: 'list_sevens', aliases: ['sevens'] },
      { tool: 'large.resource7_create', name: 'make_seven', aliases: [] },
      { tool: 'large.resource8_get', name: 'get_eight', aliases: [] },
      { tool: 'large.resource8_remove', name: 'remove_eight', aliases: [] },
    ];
    expect((await service.call('PUT', '/v1/toolsets/large', { tools })).status).toBe(201);

    expect(await call('large', 'sevens', { page: 2, labels: ['a', 'b'] })).toMatchObject({
      isError: false,
      canonical: 'large.resource7_list',
    });
    expect(await call('large', 'make_seven', { title: 'T', kind: 'b', parent: { title: 'P' } })).toMatchObject({
      isError: false,
      structuredContent: { id: 'new' },
    });
    expect(await call('large', 'get_eight', { id: 'a/b' })).toMatchObject({ structuredContent: { id: '/v1/resource8/a%2Fb' } });
    expect(api.calls.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer the-token-of-the-api'));
    expect(seen(api)).toEqual([
      'GET /v1/resource7?page=2&labels=a,b',
      'POST /v1/resource7 {"title":"T","parent":{"title":"P"},"kind":"b"}',
      'GET /v1/resource8/a%2Fb',
    ]);
  });

  it('returns errors for invalid arguments, and requires approval for deletions', async () => {
    expect(await call('large', 'get_eight', { id: '..' })).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(await call('large', 'make_seven', { kind: 'x' })).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(await call('large', 'remove_eight', { id: '1' })).toMatchObject({ isError: true, code: 'approval_required' });
    expect(seen(api)).toEqual([]);
  });

  it('sends a secret where its document says, if it is bound to that host, and nowhere else', async () => {
    const docs = await listenApi(() => JSON.stringify(largeApiDocument(1, [`${api.origin}/v1`])));
    const server = { kind: 'openapi', url: docs.documentUrl, headers: { authorization: { secret: 'API' } }, trusted: true };
    expect((await service.call('PUT', '/v1/servers/apart', server)).json).toMatchObject({ toolCount: 6, health: { status: 'ok' } });
    expect(docs.reads[0]).not.toHaveProperty('authorization');
    docs.close();
    await service.call('PUT', '/v1/toolsets/apart', { tools: [{ tool: 'apart.resource0_get', name: 'get_it', aliases: [] }] });
    expect(await call('apart', 'get_it', { id: '1' })).toMatchObject({ isError: false });
    expect(api.calls[0]?.headers.authorization).toBe('Bearer the-token-of-the-api');
    expect(seen(api)).toEqual(['GET /v1/resource0/1']);
    await service.call('PUT', '/v1/secrets/API', { value: 'Bearer another', hosts: ['elsewhere.example'] });
    expect(await call('apart', 'get_it', { id: '1' })).toMatchObject({ isError: true, code: 'tool_error' });
    expect(seen(api)).toEqual([]);
    expect((await service.call('PUT', '/v1/servers/apart', { ...server, baseUrl: `${api.origin}/v1` })).status).toBe(422);
  });

  it('can be imported inline, in part, and without `servers` only with a baseUrl', async () => {
    const server = { kind: 'openapi', document: largeApiDocument(3, []), include: ['tag:resource1', 'GET /nothing'] };
    const lost = await service.call('PUT', '/v1/servers/part', server);
    expect([lost.status, lost.json]).toMatchObject([
      201,
      { health: { status: 'failing', reason: expect.stringContaining('Set baseUrl') } },
    ]);
    const put = await service.call('PUT', '/v1/servers/part', { ...server, baseUrl: `${api.origin}/v2` });
    expect([put.status, put.json]).toMatchObject([200, { toolCount: 6, health: { status: 'ok' } }]);
    expect(put.json.warnings).toContainEqual({ path: 'include[1]', message: '"GET /nothing" matches no operation of the document' });
    await service.call('PUT', '/v1/toolsets/part', {
      tools: [{ tool: 'part.resource1_get', name: 'get_one', aliases: [], approval: 'never' }],
    });
    expect(await call('part', 'get_one', { id: 5 })).toMatchObject({ isError: false });
    expect(seen(api)).toEqual(['GET /v2/resource1/5']);
  });
});

describe('an API of many shapes', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await listenApi(
      () => '{}',
      () => ({ ok: true }),
    );
  });
  afterAll(() => api.close());

  it('is imported from YAML with merge keys, and each call arrives as its document says', async () => {
    const document = `
openapi: 3.1.0
info: {title: Shapes, version: "1"}
servers: [{url: "${api.origin}/{stage}", variables: {stage: {default: v1, enum: [v1, v2]}}}]
security: [{id: [], secret: []}]
x-common: &common
  parameters: [{name: verbose, in: query, schema: {type: boolean}}]
paths:
  /items?beta=true:
    get: {<<: *common, operationId: beta}
  /items/{id}:
    get:
      operationId: styles
      parameters:
        - {name: id, in: path, required: true, style: matrix, explode: true, schema: {type: array, items: {type: string}}}
        - {name: piped, in: query, style: pipeDelimited, explode: false, schema: {type: array}}
        - {name: deep, in: query, style: deepObject, schema: {type: object}}
        - {name: json, in: query, content: {application/json: {schema: {type: object}}}}
        - {name: sid, in: cookie, schema: {type: string}}
  /upload:
    servers: [{url: "${api.origin}/uploads"}]
    post:
      operationId: upload
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, properties: {meta: {type: object}, file: {type: string, format: binary}}}
            encoding: {file: {contentType: image/png}}
  /form:
    post:
      operationId: form
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {filter: {type: object}}}
            encoding: {filter: {contentType: application/json}}
webhooks: {done: {post: {}}}
components:
  securitySchemes:
    id: {type: apiKey, in: header, name: X-Client}
    secret: {type: apiKey, in: header, name: X-Secret}
`;
    const send = await fetch(`${service.url}/v1/import?fileName=shapes.yaml`, {
      ...{ method: 'POST', body: document, headers: { authorization: `Bearer ${service.key}` } },
    });
    const { created, warnings } = (await send.json()) as { created: string[]; warnings: { path: string; message: string }[] };
    expect(created).toEqual(['servers.shapes', 'toolsets.shapes']);
    expect(warnings.map(({ path }) => path).toSorted()).toEqual([
      // Merge keys.
      '',
      'servers.shapes.paths./items?beta=true',
      'servers.shapes.security',
      'servers.shapes.servers[0].variables.stage',
      'servers.shapes.webhooks',
    ]);
    const headers = { 'X-Client': 'c', 'X-Secret': { secret: 'SHAPES' } };
    await service.call('PUT', '/v1/secrets/SHAPES', { value: 'the-secret-of-shapes', hosts: [api.host] });
    const patched = await service.call('PATCH', '/v1/servers/shapes', { headers, trusted: true });
    expect(patched.json.warnings.map(({ path }: { path: string }) => path)).not.toContain('security');
    const calls: [string, object][] = [
      ['beta', { verbose: true }],
      ['styles', { id: ['a', 'b'], piped: [1, 2], deep: { x: { y: 1 } }, json: { z: [1] }, sid: 's;1' }],
      ['upload', { meta: { a: 1 }, file: btoa('PNG') }],
      ['form', { filter: { a: 1 } }],
    ];
    for (const [name, args] of calls) expect(await call('shapes', name, args)).toMatchObject({ isError: false });
    expect(api.calls.every(({ headers }) => headers['x-client'] === 'c' && headers['x-secret'] === 'the-secret-of-shapes')).toBe(true);
    expect(api.calls[1]?.headers.cookie).toBe('sid=s%3B1');
    const [beta, styles, upload = '', form] = seen(api);
    expect([beta, styles, form]).toEqual([
      'GET /v1/items?beta=true&verbose=true',
      'GET /v1/items/;id=a;id=b?piped=1%7C2&deep%5Bx%5D%5By%5D=1&json=%7B%22z%22%3A%5B1%5D%7D',
      'POST /v1/form filter=%7B%22a%22%3A1%7D',
    ]);
    expect(upload.replaceAll(/moniker-[0-9a-f-]{36}/g, 'B')).toBe(
      'POST /uploads/upload --B\r\ncontent-disposition: form-data; name="meta"\r\ncontent-type: application/json\r\n\r\n{"a":1}\r\n--B\r\ncontent-disposition: form-data; name="file"; filename="file"\r\ncontent-type: image/png\r\n\r\nPNG\r\n--B--\r\n',
    );
  });
});

describe.skipIf(isSkipped(!existsSync(realDocument), 'GitHub’s API', 'node test/fetch-openapi-document.ts fetches its document'))(
  'GitHub’s API',
  () => {
    let api: ApiServer;
    beforeAll(async () => {
      const text = readFileSync(realDocument, 'utf8');
      api = await listenApi(
        () => text,
        ({ method, path }) => {
          if (path === '/api/v3/search/repositories')
            return { total_count: 1, incomplete_results: false, items: [{ full_name: 'octo/cat' }] };
          if (method === 'POST') return Response.json({ number: 42 }, { status: 201 });
          return path === '/api/v3/repos/octo/cat' ? { full_name: 'octo/cat' } : Response.json({ message: 'Not Found' }, { status: 404 });
        },
      );
    });
    afterAll(() => api.close());

    it('is imported, and three calls succeed', async () => {
      const server = { kind: 'openapi', url: api.documentUrl, baseUrl: `${api.origin}/api/v3`, trusted: true };
      const put = await service.call('PUT', '/v1/servers/github', server);
      expect([put.status, put.json]).toMatchObject([201, { health: { status: 'ok' } }]);
      expect(put.json.toolCount).toBeGreaterThan(500);
      const tools = ['search_repos', 'repos_get', 'issues_create'].map((name) => ({
        tool: `github.${name}`,
        name: `my_${name}`,
        aliases: [],
      }));
      expect((await service.call('PUT', '/v1/toolsets/github', { tools })).status).toBe(201);
      expect(await call('github', 'my_search_repos', { q: 'cats language:c++', per_page: 5 })).toMatchObject({
        structuredContent: { total_count: 1 },
      });
      expect(await call('github', 'my_repos_get', { owner: 'octo', repo: 'cat' })).toMatchObject({
        structuredContent: { full_name: 'octo/cat' },
      });
      const issue = { owner: 'octo', repo: 'cat', title: 'It purrs', labels: ['bug'] };
      expect(await call('github', 'my_issues_create', issue)).toMatchObject({ isError: false, structuredContent: { number: 42 } });
      expect(seen(api)).toEqual([
        'GET /api/v3/search/repositories?q=cats%20language%3Ac%2B%2B&per_page=5',
        'GET /api/v3/repos/octo/cat',
        'POST /api/v3/repos/octo/cat/issues {"title":"It purrs","labels":["bug"]}',
      ]);
      expect(await call('github', 'my_repos_get', { owner: 'octo', repo: 'dog' })).toMatchObject({ isError: true, code: 'tool_error' });
    });
  },
);

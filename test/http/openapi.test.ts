import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { challengeHeader, proofHeader, proofOf } from '../../src/core/servers/service-proof.ts';
import { version } from '../../src/core/version.ts';
import { loadRoutes, routeRoot, routeModules } from '../../src/http/route-modules.ts';
import { bodyOf, createHarness } from './harness.ts';
import { statusCounts } from '../../src/core/servers/server-state.ts';

const methods = ['get', 'put', 'post', 'patch', 'delete'];
const h = createHarness();
/** Untyped, as in `bodyOf`: the tests below check the shape. */
type Loose = Awaited<ReturnType<typeof bodyOf>>;
let document: Loose;
beforeAll(async () => {
  document = await bodyOf(await h.send('GET', '/openapi.json', undefined, { authorization: undefined }));
});

const operations = (): { method: string; path: string; operation: Loose }[] =>
  Object.entries<Loose>(document.paths).flatMap(([path, item]) =>
    Object.entries<Loose>(item).map(([method, operation]) => ({ method, path, operation })),
  );

/** Every object in a JSON value, with its path. */
function* objectsIn(value: unknown, path = '#'): Generator<[path: string, object: Record<string, unknown>]> {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [key, child] of Object.entries(value)) yield* objectsIn(child, `${path}/${key}`);
}

describe('the OpenAPI document', () => {
  it('is of 3.1 and of this version', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Moniker', version: packageJson.version }, servers: [{ url: '/' }] });
    expect(version).toBe(packageJson.version);
  });

  it('has only fields of OpenAPI', () => {
    const Content = z.record(z.string(), z.strictObject({ schema: z.record(z.string(), z.unknown()) }));
    const Parameter = z.strictObject({
      name: z.string(),
      in: z.enum(['path', 'query', 'header']),
      required: z.boolean().optional(),
      description: z.string().optional(),
      example: z.unknown().optional(),
      schema: z.record(z.string(), z.unknown()),
    });
    const Operation = z.strictObject({
      operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
      tags: z.tuple([z.enum(document.tags.map((tag: { name: string }) => tag.name))]),
      summary: z.string().min(1),
      description: z.string().min(1),
      security: z.array(
        z.union([
          z.strictObject({ bearer: z.tuple([]) }),
          z.strictObject({ apiKey: z.tuple([]) }),
          z.strictObject({ googleApiKey: z.tuple([]) }),
        ]),
      ),
      parameters: z.array(Parameter).optional(),
      requestBody: z.strictObject({ required: z.boolean(), description: z.string().optional(), content: Content }).optional(),
      responses: z.record(
        z.string().regex(/^(?:101|[2-5](?:[0-9][0-9]|XX))$/),
        z.strictObject({
          description: z.string().min(1),
          headers: z.record(z.string(), z.object({ schema: z.unknown() })).optional(),
          content: Content.optional(),
        }),
      ),
    });
    for (const { method, path, operation } of operations()) {
      expect(methods, path).toContain(method);
      expect(Operation.safeParse(operation).error?.issues, `${method} ${path}`).toBeUndefined();
    }
  });

  it('names every operation once', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has no dangling reference and no unused schema', () => {
    const used = new Set<string>();
    for (const [path, object] of objectsIn(document)) {
      if (typeof object.$ref !== 'string') continue;
      const name = /^#\/components\/schemas\/(.+)$/.exec(object.$ref)?.[1];
      expect(document.components.schemas[name ?? ''], `${path} → ${object.$ref}`).toBeDefined();
      used.add(name ?? '');
    }
    expect(Object.keys(document.components.schemas).filter((name) => !used.has(name))).toEqual([]);
  });

  it('describes exactly the parameters of each path', () => {
    for (const { path, operation } of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const described = (operation.parameters ?? [])
        .filter((parameter: { in: string }) => parameter.in === 'path')
        .map((parameter: { name: string }) => parameter.name);
      expect(described, path).toEqual(inPath);
    }
  });

  it('has patterns that compile and examples that fit their schemas', () => {
    for (const [path, object] of objectsIn(document))
      if (typeof object.pattern === 'string') expect(() => new RegExp(object.pattern as string, 'u'), path).not.toThrow();
    for (const [name, schema] of Object.entries<Loose>(document.components.schemas)) {
      for (const field of schema.example === undefined ? [] : (schema.required ?? [])) expect(schema.example, name).toHaveProperty(field);
    }
  });

  it('describes for each route with a key the missing-key error, and every error in its format', () => {
    for (const { path, operation } of operations()) {
      const faults = Object.entries<Loose>(operation.responses).filter(([status]) => Number(status) >= 400);
      const [type, name] = faultShapes.find(([root]) => path === root || path.startsWith(`${root}/`))?.[1] ?? [
        'application/problem+json',
        'Problem',
      ];
      for (const [, fault] of faults) expect(fault.content).toMatchObject({ [type]: { schema: { $ref: `#/components/schemas/${name}` } } });
      if (operation.security.length > 0) expect(faults.map(([status]) => status)).toEqual(expect.arrayContaining(['401', '403', '503']));
    }
  });

  it('has an example of each kind of server, which is accepted', async () => {
    const { oneOf, example } = document.components.schemas.Server;
    const examples: Loose[] = [example, ...oneOf.map((kind: Loose) => kind.example)].filter((shown) => shown !== undefined);
    expect(examples.map(({ kind }) => kind)).toEqual(['static', 'mcp', 'openapi']);
    for (const shown of examples) expect((await h.send('PUT', `/v1/servers/shown-${shown.kind}?dryRun=true`, shown)).status).toBe(200);
  });

  it('describes requests, responses and errors of /mcp', async () => {
    const { post, get } = document.paths['/mcp/{toolset}'];
    const message = { schema: { $ref: '#/components/schemas/McpMessage' } };
    expect(post.requestBody.content).toEqual({ 'application/json': message });
    expect(post.responses['200'].content).toEqual({ 'application/json': message, 'text/event-stream': { schema: { type: 'string' } } });
    await h.send('PUT', '/v1/toolsets/told', { tools: [{ tool: 'builtin.bash' }] });
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    const refused = { post: await h.send('POST', '/mcp/told', initialize, { accept: '*/*' }), get: await h.send('GET', '/mcp/told') };
    expect(Object.keys(post.responses)).toContain(String(refused.post.status));
    expect(Object.keys(get.responses)).toContain(String(refused.get.status));
  });

  it.each([
    ['x-api-key', 'apiKey', ['/v1/messages', '/v1/models']],
    ['x-goog-api-key', 'googleApiKey', ['/v1/models', '/v1beta/models']],
  ])('lists the paths that accept %s, and they do', async (header, scheme, roots) => {
    const takes = operations().filter(({ operation }) => operation.security.some((way: object) => scheme in way));
    expect([...new Set(takes.map(({ path }) => path.split('/').slice(0, 3).join('/')))].toSorted()).toEqual(roots);
    for (const { method, path, operation } of operations()) {
      if (operation.security.length === 0) continue;
      const without = await h.send(method.toUpperCase(), path, undefined, { authorization: undefined });
      const told = operation.security.some((way: object) => scheme in way);
      expect((await without.text()).includes(header), `${method} ${path}`).toBe(told);
    }
  });

  it('has an example for each path parameter of tools and servers', () => {
    const paths = operations().filter(({ path }) => /^\/v1\/(toolsets|tools|servers|skills|agents)\/\{/.test(path));
    expect(paths.length).toBeGreaterThan(0);
    for (const { method, path, operation } of paths) {
      for (const { name, example } of operation.parameters.filter((parameter: Loose) => parameter.in === 'path'))
        expect(example, `${method} ${path}: ${name}`).toBeTypeOf('string');
    }
  });

  it('has examples for the first steps, and each is accepted', async () => {
    for (const path of ['/v1/toolsets/{toolset}', '/v1/agents/{agent}', '/v1/providers/{provider}', '/v1/servers/{server}', '/v1/keys']) {
      const operation = document.paths[path].put ?? document.paths[path].post;
      const name = operation.requestBody.content['application/json'].schema.$ref.split('/').at(-1);
      const { example } = document.components.schemas[name];
      const answer = await h.send(path === '/v1/keys' ? 'POST' : 'PUT', path.replace(/\{\w+\}/, 'first'), example);
      expect([answer.status, await answer.text()], path).toEqual([201, expect.any(String)]);
    }
  });

  it('has every route of the app', async () => {
    const described = Map.groupBy(operations(), ({ path }) => path);
    for (const [path, documented] of described) {
      const answer = await h.send('OPTIONS', path.replaceAll(/\{\w+\}/g, 'x'), undefined, { authorization: undefined });
      const served = (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
      expect(served.toSorted(), path).toEqual(documented.map(({ method }) => method.toUpperCase()).toSorted());
    }
    const mounted = (await loadRoutes(routeModules)).map(({ spec }) => `${spec.method} ${spec.path.replaceAll('+}', '}')}`);
    expect(mounted.toSorted()).toEqual(
      operations()
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    );
  });

  it('loads each route for requests to its path', async () => {
    for (const { roots, load } of routeModules) {
      const served = new Set((await load()).flatMap(({ spec: { path, alsoAt = path } }) => [routeRoot(path), routeRoot(alsoAt)]));
      expect([...served].toSorted()).toEqual(roots.toSorted());
    }
  });

  it('names every schema', () => {
    expect(Object.keys(document.components.schemas).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
  });

  it('shares a schema without changing it', () => {
    const { Via, TurnAnswer } = document.components.schemas;
    expect(Via).toEqual({ type: 'string', enum: ['wire', 'canonical', 'alias', 'own', 'folded'] });
    expect(TurnAnswer.properties.toolCalls.items.properties.via).toEqual({
      anyOf: [{ $ref: '#/components/schemas/Via' }, { type: 'null' }],
    });
  });
});

describe('the pages', () => {
  it.each(['/', '/docs'])('%s loads only own files and has no inline code', async (path) => {
    const answer = await h.send('GET', path, undefined, { authorization: undefined });
    const html = await answer.text();
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).toContain('/openapi.json');
    expect(html).not.toMatch(/<style|<script(?! src="\/assets\/)|\son\w+=|style=|javascript:/i);
    for (const [, url] of html.matchAll(/(?:src|href)="([^"]*)"/g)) expect(url).toMatch(/^[/#]/);
    for (const [, asset] of html.matchAll(/"(\/assets\/[^"]*)"/g)) expect((await h.send('GET', asset ?? '')).status).toBe(200);
  });

  it.each(['/console', '/docs'])('%s is found with a slash at its end, too', async (path) => {
    const response = await h.send('GET', `${path}/`);
    expect([response.status, response.headers.get('location')]).toEqual([308, path]);
    expect((await h.send('POST', `${path}/`)).status).toBe(404);
  });

  it('Every response has a date, also one of an error', async () => {
    for (const path of ['/healthz', '/v1/toolsets', '/nowhere'])
      expect(Date.parse((await h.send('GET', path)).headers.get('date') ?? '')).toBeGreaterThan(0);
  });

  it('/healthz responds whatever else is missing', async () => {
    const bare = createHarness({ MONIKER_ROOT_KEY: '' });
    expect(await bodyOf(await bare.send('GET', '/healthz'))).toEqual({ status: 'ok', version });
  });

  it('/healthz proves that it has the token of the launcher, without a key and without showing it', async () => {
    const token = 'token-of-the-launcher';
    const local = createHarness({ MONIKER_LAUNCHER_TOKEN: token, MONIKER_STDIO_URL: 'http://127.0.0.1:1/' });
    const ask = (service: typeof local, challenge: string) =>
      service.send('GET', '/healthz', undefined, { authorization: undefined, [challengeHeader]: challenge });
    const [one, other] = ['0'.repeat(64), '1'.repeat(64)];
    const proofs = await Promise.all([one, other, one].map(async (challenge) => (await ask(local, challenge)).headers.get(proofHeader)));
    expect(proofs).toEqual([await proofOf(token, one), await proofOf(token, other), proofs[0]]);
    expect(proofs[0]).not.toBe(proofs[1]);
    expect((await local.send('GET', '/healthz')).headers.get(proofHeader)).toBeNull();
    // A deployed service has no launcher.
    expect((await ask(createHarness({}), one)).headers.get(proofHeader)).toBeNull();
    for (const challenge of ['', 'x', '0'.repeat(63), '0'.repeat(65), 'A'.repeat(64), token]) {
      const refused = await ask(local, challenge);
      expect([challenge, refused.status, refused.headers.get(proofHeader)]).toEqual([challenge, 422, null]);
    }
  });

  it('/readyz names the checks, with 503 if one failed, and without the cause', async () => {
    const ready = await h.send('GET', '/readyz', undefined, { authorization: undefined });
    expect([ready.status, await bodyOf(ready)]).toEqual([
      200,
      { status: 'ok', checks: { storage: 'ok', kv: 'ok', keys: 'ok', disk: 'ok' }, staleToolsets: 0, servers: statusCounts([]) },
    ]);
    const checks = { storage: 'ok', kv: 'fail', keys: 'ok', disk: 'ok' } as const;
    const failing = createHarness({}, { readiness: async () => ({ checks, staleToolsets: 0, servers: null }) });
    const unready = await failing.send('GET', '/readyz');
    expect(unready.status).toBe(503);
    const detail = 'The service is not ready: kv failed. The log has the cause.';
    expect(await bodyOf(unready)).toMatchObject({ code: 'unavailable', detail, checks });
  });
});

/** Paths on which clients of a dialect, or of MCP, expect their own format. */
const faultShapes = [
  ['/v1/chat/completions', ['application/json', 'OpenAiError']],
  ['/v1/embeddings', ['application/json', 'OpenAiError']],
  ['/v1/rerank', ['application/json', 'OpenAiError']],
  ['/v1/moderations', ['application/json', 'OpenAiError']],
  ['/v1/audio', ['application/json', 'OpenAiError']],
  ...['images', 'files', 'batches'].map((name) => [`/v1/${name}`, ['application/json', 'OpenAiError']] as [string, [string, string]]),
  ['/v1/responses', ['application/json', 'OpenAiError']],
  ['/v1/conversations', ['application/json', 'OpenAiError']],
  ['/v1/messages', ['application/json', 'AnthropicError']],
  ['/v1beta', ['application/json', 'GoogleError']],
  ...['register', 'token', 'revoke'].map((name) => [`/oauth/${name}`, ['application/json', 'OAuthError']] as [string, [string, string]]),
  ['/mcp', ['application/json', 'RpcError']],
  ['/sse', ['application/json', 'RpcError']],
] as const;

/** Keys, scopes, bindings, origins, and the hostile requests of the corpus. */
import { createApp } from '../../src/http/app.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { Scope } from '../../src/core/people/principal.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { bodyOf, createHarness, demo, rootKey, type Harness, problemIn } from './harness.ts';
import { sample } from '../selection.ts';

type Operation = { operationId: string; description: string; security: unknown[] };
const methods = ['get', 'put', 'post', 'delete'] as const;

/** Every route of the document, with existing names in its path. */
async function keyedRoutes(h: Harness): Promise<{ method: string; path: string; scopes: Scope[]; operationId: string }[]> {
  const { paths } = await bodyOf(await h.send('GET', '/openapi.json'));
  return Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, operations]) =>
    methods.flatMap((method) => {
      const operation = operations[method];
      if (operation === undefined || operation.security.length === 0) return [];
      const scopes = [...(/Scope: (.*)\./.exec(operation.description)?.[1] ?? '').matchAll(/`(\w+)`/g)].map((match) =>
        Scope.parse(match[1]),
      );
      return [{ method: method.toUpperCase(), path: path.replaceAll(/\{(\w+)\}/g, 'demo'), scopes, operationId: operation.operationId }];
    }),
  );
}

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

describe('a key', () => {
  it('is required by every route except health, document and pages', async () => {
    const routes = await keyedRoutes(h);
    expect(routes.length).toBeGreaterThan(40);
    for (const { method, path } of routes) {
      const answer = await h.send(method, path, undefined, { authorization: undefined });
      expect([method, path, answer.status, answer.headers.get('www-authenticate')]).toEqual([method, path, 401, 'Bearer realm="moniker"']);
    }
    for (const path of ['/healthz', '/openapi.json', '/docs', '/', '/console', '/assets/pages.css']) {
      expect((await h.send('GET', path, undefined, { authorization: undefined })).status).toBe(200);
    }
  });

  it('that is wrong is rejected by every route', async () => {
    for (const { method, path } of await keyedRoutes(h)) {
      const answer = await h.send(method, path, undefined, { authorization: 'Bearer mk_default_nobody_1' });
      expect([method, path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
        method,
        path,
        401,
        'Bearer realm="moniker", error="invalid_token"',
      ]);
    }
  });

  /** These are refused to every created key. */
  const ofRootKey = new Set([
    'readBackup',
    'getRestore',
    'restoreWorkspace',
    'abandonRestore',
    'listWorkspaces',
    'getWorkspace',
    'putWorkspace',
    'patchWorkspace',
    'deleteWorkspace',
    'getMasterKey',
    'resealWithMasterKey',
    'checkPrograms',
    'reportHost',
  ]);

  it('requires one of the scopes of the route', async () => {
    const routes = sample('routes with scopes', await keyedRoutes(h), (_, index) => index % 4 === 0);
    for (const { method, path, scopes, operationId } of routes) {
      expect(scopes.length, operationId).toBeGreaterThan(0);
      const others = Scope.options.filter((scope) => scope !== 'admin' && !scopes.includes(scope));
      // Some routes need no particular scope.
      if (others.length > 0) {
        const refused = await h.send(method, path, undefined, await h.key({ scopes: others }));
        expect([operationId, refused.status]).toEqual([operationId, 403]);
        const problem = await refused.text();
        for (const scope of scopes) expect(problem).toContain(scope);
      }
      for (const scope of [...scopes, 'admin' as const]) {
        const { status } = await h.send(method, path, undefined, await h.key({ scopes: [scope] }));
        // A person sees their own grants; a key has none, and needs `admin` for those of others.
        const isForPeople = ['listGrants', 'endGrant'].includes(operationId) && scope !== 'admin';
        if (ofRootKey.has(operationId) || isForPeople) expect([operationId, status]).toEqual([operationId, 403]);
        else expect([401, 403], operationId).not.toContain(status);
      }
    }
  });

  it('is checked before the body is read', async () => {
    const answer = await h.send('PUT', '/v1/toolsets/demo', 'not json', await h.key({ scopes: ['tools'] }));
    expect(answer.status).toBe(403);
  });

  it('is reported as not configured without a root key', async () => {
    const bare = createHarness({ MONIKER_ROOT_KEY: 'too short' });
    const answer = await bare.send('GET', '/v1/toolsets');
    const problem = await bodyOf(answer);
    expect([answer.status, problem.code]).toEqual([503, 'not_configured']);
    expect(problem.detail).toContain('MONIKER_ROOT_KEY');
    for (const path of ['/healthz', '/', '/docs', '/openapi.json']) expect((await bare.send('GET', path)).status).toBe(200);
  });

  it('created with POST works until it is revoked', async () => {
    const made = await h.send('POST', '/v1/keys', { name: 'reader', scopes: ['tools'] });
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { key, id } = await bodyOf(made);
    expect(made.headers.get('location')).toBe(`/v1/keys/${id}`);
    const headers = { authorization: `Bearer ${key}` };
    expect((await h.send('GET', '/v1/toolsets', undefined, headers)).status).toBe(200);
    expect(await (await h.send('GET', '/v1/keys')).text()).not.toContain(key);
    expect(await bodyOf(await h.send('GET', `/v1/keys/${id}`))).toMatchObject({ id, name: 'reader', scopes: ['tools'], revokedAt: null });
    expect((await h.send('DELETE', `/v1/keys/${id}`)).status).toBe(204);
    expect((await h.send('GET', '/v1/toolsets', undefined, headers)).status).toBe(401);
    expect((await h.send('GET', '/v1/keys/nobody')).status).toBe(404);
  });

  it.each([
    [{}, 'name'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['root'] }, 'scopes[0]'],
    [{ name: 'x', scopes: ['chat'], workspace: 'other' }, 'workspace'],
    [{ name: 'x', scopes: ['chat'], expiresAt: 'soon' }, 'expiresAt'],
  ])('cannot be created from %j', async (body, path) => {
    const answer = await h.send('POST', '/v1/keys', body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });
});

describe('a key bound to toolsets', () => {
  let bound: Record<string, string>;
  beforeEach(async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    await h.send('PUT', '/v1/toolsets/other', { tools: [{ tool: 'local.roll_dice' }] });
    await h.send('PUT', '/v1/agents/theirs', { model: 'rehearsal/default', toolset: 'other' });
    await h.send('PUT', '/v1/agents/mine', { model: 'rehearsal/default', toolset: 'demo' });
    bound = await h.key({ scopes: ['tools', 'toolsets', 'chat'], toolsets: ['demo', 'gone'] });
  });

  it.each([
    ['GET', '/v1/toolsets/other'],
    ['GET', '/v1/toolsets/other/versions'],
    ['GET', '/v1/toolsets/other/tools'],
    ['GET', '/v1/toolsets/other/resolve?name=x'],
    ['GET', '/v1/toolsets/unheard-of'],
    ['DELETE', '/v1/toolsets/other'],
    ['PUT', '/v1/toolsets/other', demo],
    ['POST', '/v1/toolsets/other/calls', { name: 'roll_dice' }],
    ['POST', '/v1/toolsets/other/calls?dryRun=true', { name: 'roll_dice' }],
    ['PUT', '/v1/agents/new', { model: 'rehearsal/default', toolset: 'other' }],
    ['GET', '/v1/agents/theirs'],
    ['PUT', '/v1/agents/theirs', { model: 'rehearsal/default', toolset: 'demo' }],
    ['DELETE', '/v1/agents/theirs'],
    ['POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'other' }],
    ['POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'other@1' }],
    ['POST', '/v1/sessions', { agent: 'theirs' }],
    ['POST', '/v1/chat/completions', { model: 'rehearsal/default', toolset: 'other', messages: [{ role: 'user', content: 'x' }] }],
    ['POST', '/v1/chat/completions', { model: 'agent/theirs', messages: [{ role: 'user', content: 'x' }] }],
    ['POST', '/v1/chat/completions', { model: 'agent/theirs', toolset: 'demo', messages: [{ role: 'user', content: 'x' }] }],
    ['GET', '/v1/tools/local.roll_dice'],
    ['PUT', '/v1/tools/builtin.bash/aliases', { aliases: [] }],
    ['DELETE', '/v1/tools/builtin.bash/aliases'],
  ] as const)('is refused at %s %s', async (method, path, body?: unknown) => {
    expect((await h.send(method, path, body, bound)).status).toBe(403);
  });

  it('sees and uses its own', async () => {
    const names = (body: { items: { name?: string; canonical?: string }[] }) => body.items.map((item) => item.canonical ?? item.name);
    expect(names(await bodyOf(await h.send('GET', '/v1/toolsets', undefined, bound)))).toEqual(['demo']);
    expect(names(await bodyOf(await h.send('GET', '/v1/agents', undefined, bound)))).toEqual(['mine']);
    expect(names(await bodyOf(await h.send('GET', '/v1/tools', undefined, bound)))).toEqual(['builtin.bash', 'builtin.read_file']);
    const models = (await bodyOf(await h.send('GET', '/v1/models', undefined, bound))).data.map((model: { id: string }) => model.id);
    expect(models).toEqual(['agent/mine', 'rehearsal/default']);
    expect((await h.send('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: 'ls' } }, bound)).status).toBe(200);
    expect((await h.send('POST', '/v1/sessions', { agent: 'mine' }, bound)).status).toBe(201);
  });
});

describe('a key bound to agents', () => {
  let bound: Record<string, string>;
  beforeEach(async () => {
    for (const name of ['mine', 'theirs']) await h.send('PUT', `/v1/agents/${name}`, { model: 'rehearsal/default' });
    await h.send('PUT', '/v1/toolsets/demo', demo);
    bound = await h.key({ scopes: ['toolsets', 'chat'], agents: ['mine'] });
  });

  it.each([
    ['GET', '/v1/agents/theirs'],
    ['PUT', '/v1/agents/theirs', { model: 'rehearsal/default' }],
    ['DELETE', '/v1/agents/theirs'],
    ['POST', '/v1/sessions', { agent: 'theirs' }],
    ['POST', '/v1/sessions', { model: 'rehearsal/default' }],
    ['POST', '/v1/chat/completions', { model: 'agent/theirs', messages: [{ role: 'user', content: 'x' }] }],
    ['POST', '/v1/chat/completions', { model: 'rehearsal/default', messages: [{ role: 'user', content: 'x' }] }],
    ['POST', '/v1/chat/completions', { model: 'agent/mine', toolset: 'demo', messages: [{ role: 'user', content: 'x' }] }],
  ] as const)('is refused at %s %s', async (method, path, body?: unknown) => {
    expect((await h.send(method, path, body, bound)).status).toBe(403);
    expect(h.proxied).toEqual([]);
  });

  it('sees and uses its own', async () => {
    expect((await bodyOf(await h.send('GET', '/v1/models', undefined, bound))).data.map((model: { id: string }) => model.id)).toEqual([
      'agent/mine',
    ]);
    const answer = await h.send('POST', '/v1/chat/completions', { model: 'agent/mine', messages: [{ role: 'user', content: 'x' }] }, bound);
    expect(answer.status).toBe(200);
  });
});

describe('an admin key bound to a part', () => {
  it.each([
    ['POST', '/v1/keys', { name: 'wider', scopes: ['admin'] }],
    ['DELETE', '/v1/keys/some'],
    ['PUT', '/v1/providers/acme', { kind: 'openai' }],
    ['GET', '/v1/secrets/GH'],
    ['PUT', '/v1/secrets/GH', { value: 'x', hosts: ['api.example.com'] }],
    ['DELETE', '/v1/secrets/GH'],
  ] as const)('does not reach what belongs to the whole workspace: %s %s', async (method, path, body?: unknown) => {
    const bound = await h.key({ scopes: ['admin'], toolsets: ['demo'] });
    expect((await h.send(method, path, body, bound)).status).toBe(403);
  });
});

describe('pages of other origins', () => {
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, content-type, x-stainless-os',
  };

  it('get no header without configured origins', async () => {
    const answer = await h.send('OPTIONS', '/v1/models', undefined, { origin: 'https://app.example', ...preflight });
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('are allowed if listed exactly, without credentials', async () => {
    const open = createHarness({ MONIKER_ALLOWED_ORIGINS: 'https://app.example' });
    const asked = await open.send('OPTIONS', '/v1/models', undefined, {
      origin: 'https://app.example',
      authorization: undefined,
      ...preflight,
    });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example']);
    expect(asked.headers.get('access-control-allow-headers')).toBe(preflight['access-control-request-headers']);
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull();
    const answer = await open.send('GET', '/v1/models', undefined, { origin: 'https://app.example' });
    expect([answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]).toEqual(['https://app.example', 'origin']);
    expect(answer.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
      expect.arrayContaining(['x-request-id', 'request-id', 'retry-after', 'x-moniker-session', 'x-moniker-completion']),
    );
    const proxied = createApp(() => open.services);
    proxied.get('/varied', () => new Response('', { headers: { vary: 'accept-encoding' } }));
    const varied = await proxied.request('/varied', { headers: { origin: 'https://app.example' } });
    expect(varied.headers.get('vary')).toBe('accept-encoding, origin');
    const failed = await open.send('GET', '/v1/models', undefined, { origin: 'https://app.example', authorization: undefined });
    expect([failed.status, failed.headers.get('access-control-allow-origin')]).toEqual([401, 'https://app.example']);
  });

  it.each([
    'https://evil.example',
    'null',
    'https://app.example.evil.example',
    'http://app.example',
    'https://APP.example',
    'https://app.example:443',
  ])('are rejected as %s', async (origin) => {
    const open = createHarness({ MONIKER_ALLOWED_ORIGINS: 'https://app.example' });
    for (const method of ['OPTIONS', 'GET']) {
      const answer = await open.send(method, '/v1/models', undefined, { origin, ...preflight });
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('every response', () => {
  it('has an id: the caller’s if it is plain, otherwise a new one', async () => {
    expect((await h.send('GET', '/healthz', undefined, { 'x-request-id': 'trace-1.2_3' })).headers.get('x-request-id')).toBe('trace-1.2_3');
    for (const id of ['a b', 'x'.repeat(65), 'ä', '']) {
      expect((await h.send('GET', '/nix', undefined, { 'x-request-id': encodeURI(id) || ' ' })).headers.get('x-request-id')).toMatch(
        /^req_[0-9]+$/,
      );
    }
  });

  it('to an internal error reveals no details, and logs it once', async () => {
    const broken = createHarness(
      {},
      {
        catalog: () => {
          throw new TypeError('binding CATALOG at /srv/secret.ts');
        },
      },
    );
    const answer = await broken.send('GET', '/v1/toolsets');
    const text = await answer.text();
    expect([answer.status, JSON.parse(text).code, JSON.parse(text).requestId]).toEqual([
      500,
      'internal',
      answer.headers.get('x-request-id'),
    ]);
    expect(text).not.toMatch(/CATALOG|secret\.ts|TypeError|at /);
    const errors = broken.log.lines.filter((line) => line.level === 'error');
    expect(errors).toEqual([
      expect.objectContaining({
        fields: expect.objectContaining({ requestId: answer.headers.get('x-request-id'), cause: expect.stringContaining('CATALOG') }),
      }),
    ]);
  });

  it('to a wrong method names the allowed ones', async () => {
    const answer = await h.send('POST', '/v1/toolsets/demo', {});
    expect([answer.status, answer.headers.get('allow'), (await bodyOf(answer)).code]).toEqual([
      405,
      'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
      'method_not_allowed',
    ]);
  });

  it('at an unknown path is a problem', async () => {
    for (const path of ['/nix', '/v1', '/v1/sessions/', '/v1/toolsets/demo/', '//v1/toolsets', '/V1/toolsets', '/v1/toolsets;x=1']) {
      const answer = await h.send('GET', path);
      expect([path, answer.status, answer.headers.get('content-type'), (await bodyOf(answer)).code]).toEqual([
        path,
        404,
        'application/problem+json',
        'not_found',
      ]);
    }
  });
});

describeCorpus('security/http-probes.json', (path) => {
  type Probe = { id: string; request: Awaited<ReturnType<typeof bodyOf>>; expect: unknown };
  const { cases } = readJson<{ cases: Probe[] }>(path);
  const probe = (id: string): Probe => {
    const found = cases.find((row) => row.id === id);
    if (found === undefined) throw new Error(`the corpus has no probe ${id}`);
    return found;
  };
  let session: string;
  beforeEach(async () => {
    h = createHarness({ MONIKER_PUBLIC_URL: 'https://moniker.example' });
    session = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default' }))).id;
  });
  const turn = (body: unknown, headers?: Record<string, string | undefined>) =>
    h.send('POST', `/v1/sessions/${session}/turns`, body, headers);

  it.each(['not-json', 'empty', 'bom', 'utf16', 'invalid-utf8', 'wrong-type', 'no-type', 'form-post', 'text-plain-json'])(
    'refuses a body that is unreadable or of the wrong type: %s',
    async (id) => {
      const { body, bytes, contentType } = probe(id).request;
      const raw = bytes === undefined ? Buffer.from(body) : Buffer.from(bytes, 'hex');
      const typed = ['bom', 'utf16', 'invalid-utf8'].includes(id) ? 'application/json' : contentType;
      const answer = await turn(new Uint8Array(raw), { 'content-type': typed });
      const expected: Record<string, number> = { bom: 422, 'wrong-type': 415, 'no-type': 415, 'form-post': 415, 'text-plain-json': 415 };
      expect(answer.status).toBe(expected[id] ?? 400);
    },
  );

  // The corpus expects 400; an invalid root is `invalid_request`, which is 422 here.
  it.each(['array-root', 'null-root', 'extra-field', 'api-base-in-body'])('names the place of what a turn cannot have: %s', async (id) => {
    const { json } = probe(id).request;
    const answer = await turn(JSON.stringify(json ?? null));
    const { code, issues } = await bodyOf(answer);
    expect([answer.status, code]).toEqual([422, 'invalid_request']);
    const isRoot = id === 'array-root' || id === 'null-root';
    expect(issues.map(({ path }: { path: string }) => path)).toEqual(isRoot ? [''] : expect.arrayContaining(['message', 'input']));
    expect(h.sessions.submitted).toEqual([]);
  });

  it.each(['depth-1000', 'depth-1000000'])('refuses JSON that is nested too deep: %s', async (id) => {
    const { s, n, close } = probe(id).request.json.repeat;
    expect(await problemIn(await turn(s.repeat(n) + close.repeat(n)))).toBe('400 invalid_json');
  });

  it('refuses a body with 100,000 fields', async () => {
    const { keys } = probe('keys-100000').request.json.generate;
    const body = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 1]));
    expect([400, 413, 422]).toContain((await turn(body)).status);
  });

  it('refuses bodies that exceed the size limit', async () => {
    expect((await turn(new Uint8Array(probe('body-10mb-plus').request.bodySize))).status).toBe(413);
    expect((await h.send('PUT', '/v1/toolsets/demo', new Uint8Array(1024 * 1024 + 1))).status).toBe(413);
  });

  // The corpus expects 400; an invalid parameter is `invalid_request`, which is 422 here.
  it.each(['negative-limit', 'huge-limit', 'nan-limit', 'array-param', 'cursor-garbage'])(
    'refuses an invalid parameter of every list: %s',
    async (id) => {
      for (const list of [
        '/v1/toolsets',
        '/v1/tools',
        '/v1/providers',
        '/v1/secrets',
        '/v1/agents',
        '/v1/keys',
        '/v1/sessions',
        '/v1/audit',
      ]) {
        const answer = await h.send('GET', list + probe(id).request.query);
        expect([list, answer.status]).toEqual([list, 422]);
      }
    },
  );

  it.each(['path-traversal', 'double-encoded', 'nul-in-path', 'id-proto', 'id-constructor', 'id-empty'])(
    'finds nothing under the path of %s',
    async (id) => {
      const answer = await h.send('GET', probe(id).request.path);
      expect([answer.status, (await bodyOf(answer)).code]).toEqual([404, 'not_found']);
    },
  );

  it.each(['encoded-slash-prefix', 'double-slash', 'trailing-slash', 'upper-case-path', 'semicolon'])(
    '%s has the same access rule',
    async (id) => {
      const variant = probe(id)
        .request.path.replace('dmin/', 'udit/')
        .replace('/ADMIN', '/V1/AUDIT')
        .replace('/keys', '')
        .replace('%61udit', 'v1/%61udit')
        .replace('admin', 'v1/audit')
        .replace('/audit', '/v1/audit');
      for (const authorization of [undefined, 'Bearer nobody', (await h.key({ scopes: ['chat'] })).authorization]) {
        expect([401, 403, 404]).toContain((await h.send('GET', variant, undefined, { authorization })).status);
      }
    },
  );

  it('answers a path of any length with a short 404', async () => {
    for (const length of [probe('long-path').request.pathLength, probe('id-100k').request.pathIdLength]) {
      const answer = await h.send('GET', `/v1/toolsets/${'x'.repeat(length)}`);
      expect(answer.status).toBe(404);
      expect((await answer.text()).length).toBeLessThan(1000);
      expect((await h.send('GET', `/${'x'.repeat(length)}`)).status).toBe(404);
    }
  });

  it('id-other-tenant: the session of another key is reported as unknown', async () => {
    const stranger = await h.key({ scopes: ['chat', 'tools', 'approve'] });
    await h.send('PUT', '/v1/toolsets/demo', demo);
    for (const [method, rest, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/messages'],
      ['GET', '/events'],
      ['POST', '/turns', { input: 'x' }],
      ['POST', '/cancel'],
      ['GET', '/approvals'],
      ['GET', '/approvals/call_1'],
      ['POST', '/approvals/call_1', { decision: 'approve' }],
      ['POST', '/approvals/call_1/link'],
      ['POST', '/tool-results', { callId: 'call_1', content: 'x' }],
      ['GET', '/files'],
      ['GET', '/files/workspace/a'],
      ['PUT', '/files/workspace/a', 'x'],
      ['DELETE', '/files/workspace/a'],
    ] as const) {
      const [theirs, unknown] = await Promise.all(
        [session, 'ses999'].map((id) => h.send(method, `/v1/sessions/${id}${rest}`, body, stranger)),
      );
      expect([rest, theirs?.status, unknown?.status]).toEqual([rest, 404, 404]);
      const [a, b] = [await bodyOf(theirs as Response), await bodyOf(unknown as Response)];
      expect({ ...a, requestId: '' }).toEqual({ ...b, requestId: '' });
    }
    const chat = await h.send(
      'POST',
      '/v1/chat/completions',
      { model: 'rehearsal/default', messages: [{ role: 'user', content: 'x' }] },
      { ...stranger, 'x-moniker-session': session },
    );
    expect(chat.status).toBe(404);
    expect((await h.send('POST', '/v1/toolsets/demo/calls', { name: 'shell', session }, stranger)).status).toBe(404);
  });

  it('ignores a header that names another method', async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    expect((await h.send('POST', '/v1/toolsets/demo', {}, { 'x-http-method-override': 'DELETE' })).status).toBe(405);
    expect((await h.send('GET', '/v1/toolsets/demo')).status).toBe(200);
  });

  it.each([
    ['auth-basic', 401],
    ['auth-lower', 200],
    ['auth-two-spaces', 200],
    ['auth-trailing', 401],
    ['auth-empty', 401],
    ['auth-sql', 401],
    ['auth-sql-2', 401],
    ['auth-null', 401],
    ['auth-undefined', 401],
    ['auth-proto', 401],
  ] as const)('reads the Authorization header of %s and responds with %i', async (id, status) => {
    const authorization = (probe(id).request.headers as { authorization: string }).authorization.replace('<key>', rootKey);
    expect((await h.send('GET', '/v1/toolsets', undefined, { authorization })).status).toBe(status);
  });

  it('refuses keys that are long, changed, cut or in the query', async () => {
    for (const key of ['x'.repeat(8000), rootKey.toUpperCase(), rootKey.slice(0, 12), Buffer.from('ключ').toString('latin1')]) {
      expect((await h.send('GET', '/v1/toolsets', undefined, { authorization: `Bearer ${key}` })).status).toBe(401);
    }
    expect((await h.send('GET', `/v1/toolsets?api_key=${rootKey}`, undefined, { authorization: undefined })).status).toBe(401);
  });
});

describeCorpus('security/naughty-strings.json', (path) => {
  const strings = readJson<unknown>(path);
  const list = (Array.isArray(strings) ? strings : (Object.values(strings as object).find(Array.isArray) as unknown[])).map(String);

  it('in names, paths, queries and texts never cause an internal error', async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    const { id } = await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default' }));
    for (const text of sample('naughty strings', list, (_, index) => index % 5 === 0)) {
      const encoded = encodeURIComponent(text.toWellFormed());
      const answers = await Promise.all([
        h.send('GET', `/v1/toolsets/${encoded}`),
        h.send('GET', `/v1/tools/${encoded}`),
        h.send('GET', `/v1/sessions/${encoded}/messages`),
        h.send('GET', `/v1/toolsets/demo/resolve?name=${encoded}`),
        h.send('PUT', `/v1/agents/${encoded}`, { model: text }),
        h.send('PUT', '/v1/toolsets/naughty', { description: text, tools: [{ tool: text, name: text, aliases: [text] }] }),
        h.send('POST', '/v1/toolsets/demo/calls', { name: text, arguments: { command: text } }),
        h.send('POST', `/v1/sessions/${id}/turns`, { input: text === '' ? ' ' : text }),
        h.send('PUT', `/v1/sessions/${id}/files/workspace/${encoded}`, text),
      ]);
      for (const answer of answers) expect(answer.status, text).toBeLessThan(500);
    }
    expect(h.log.lines.filter((line) => line.level === 'error')).toEqual([]);
  });
});

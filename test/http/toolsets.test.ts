import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

describe('the approval setting of an entry', () => {
  const entry = { tool: 'builtin.bash', name: 'run', aliases: [] };
  const never = { ...entry, approval: 'never' };

  it('is stored unchanged, and shown in a dry run', async () => {
    const put = await h.send('PUT', '/v1/toolsets/demo', { tools: [{ ...entry, approval: 'always' }, { tool: 'builtin.read_file' }] });
    expect(put.status).toBe(201);
    const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/demo'));
    expect([tools[0].approval, 'approval' in tools[1]]).toEqual(['always', false]);
    const dry = async (name: string, args: object) =>
      (await bodyOf(await h.send('POST', '/v1/toolsets/demo/calls?dryRun=true', { name, arguments: args }))).verdict;
    expect([await dry('run', { command: 'ls' }), await dry('read_file', { path: 'x' })]).toEqual(['ask', 'allow']);
    expect(await bodyOf(await h.send('POST', '/v1/toolsets/demo/calls', { name: 'run', arguments: { command: 'ls' } }))).toMatchObject({
      isError: true,
      code: 'approval_required',
    });
    await h.send('PUT', '/v1/toolsets/demo', { tools: [never] });
    expect(await dry('run', { command: 'ls' })).toBe('allow');
  });

  it('can be "never" only by an administrator, with the path in the error', async () => {
    const editor = await h.key({ scopes: ['toolsets', 'tools'] });
    const refused = await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.read_file' }, never] }, editor);
    expect([refused.status, await bodyOf(refused)]).toMatchObject([
      403,
      { code: 'forbidden', detail: expect.stringContaining('tools[1].approval'), issues: [{ path: 'tools[1].approval' }] },
    ]);
    expect((await h.send('PUT', '/v1/toolsets/demo?dryRun=true', { tools: [never] }, editor)).status).toBe(403);
    expect((await h.send('GET', '/v1/toolsets/demo')).status).toBe(404);
    expect((await h.send('PUT', '/v1/toolsets/demo', { tools: [never] })).status).toBe(201);
  });

  it('can be kept by other keys, but not changed', async () => {
    const editor = await h.key({ scopes: ['toolsets'] });
    await h.send('PUT', '/v1/toolsets/demo', { tools: [never] });
    const put = async (tools: object[], headers = {}) =>
      (await h.send('PUT', '/v1/toolsets/demo', { tools }, { ...editor, ...headers })).status;
    expect(await put([{ tool: 'builtin.read_file' }, never])).toBe(200);
    expect(await put([{ ...never, name: 'other' }])).toBe(403);
    expect(await put([never, { ...never, tool: 'local.roll_dice', name: 'dice' }])).toBe(403);
    expect(await put([never], { 'if-match': '"1"' })).toBe(412);
    expect(await put([never], { 'if-match': '"2"' })).toBe(200);
    expect(await put([entry])).toBe(200);
    expect(await put([never])).toBe(403);
  });

  it('cannot be restored by a write that races its removal by an administrator', async () => {
    const editor = await h.key({ scopes: ['toolsets'] });
    await h.send('PUT', '/v1/toolsets/demo', { tools: [never] });
    const { get } = h.catalog;
    h.catalog.get = async (...asked) => {
      const document = await get(...asked);
      h.catalog.get = get;
      await h.catalog.put('toolset', 'demo', { name: 'demo', tools: [entry] });
      return document;
    };
    const answer = await h.send('PUT', '/v1/toolsets/demo', { tools: [never] }, { ...editor, 'if-match': '"2"' });
    expect(answer.status).toBe(412);
    expect((await bodyOf(await h.send('GET', '/v1/toolsets/demo'))).tools[0].approval).toBeUndefined();
  });
});

describe('writing a toolset', () => {
  it('returns 201 with location, version and ETag, then 200 for the next version', async () => {
    const made = await h.send('PUT', '/v1/toolsets/demo', demo);
    expect(made.status).toBe(201);
    expect(made.headers.get('etag')).toBe('"1"');
    expect(made.headers.get('location')).toBe('/v1/toolsets/demo');
    expect(await bodyOf(made)).toEqual({ toolset: 'demo', version: 1, warnings: [] });
    const again = await h.send('PUT', '/v1/toolsets/demo', { ...demo, description: 'new' });
    expect(again.status).toBe(200);
    expect(again.headers.get('etag')).toBe('"2"');
    expect(again.headers.get('location')).toBeNull();
  });

  it('creates no version for an identical document', async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    expect((await h.send('PUT', '/v1/toolsets/demo', demo)).headers.get('etag')).toBe('"1"');
  });

  it('returns a document that can be sent back', async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    const document = await bodyOf(await h.send('GET', '/v1/toolsets/demo'));
    expect(document).toMatchObject({ name: 'demo', ...demo });
    const again = await h.send('PUT', '/v1/toolsets/demo', document);
    expect([again.status, again.headers.get('etag')]).toEqual([200, '"1"']);
  });

  it.each(['"1"', '1', '*', ' "1" '])('writes when If-Match is %j and the version is 1', async (tag) => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    expect((await h.send('PUT', '/v1/toolsets/demo', { ...demo, description: 'x' }, { 'if-match': tag })).status).toBe(200);
  });

  it.each(['"2"', 'W/"1"', '"abc"', '"0"', '""'])('returns 412 when If-Match is %j and the version is 1', async (tag) => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    const lost = await h.send('PUT', '/v1/toolsets/demo', { ...demo, description: 'x' }, { 'if-match': tag });
    expect([lost.status, (await bodyOf(lost)).code]).toEqual([412, 'precondition_failed']);
    expect((await h.send('GET', '/v1/toolsets/demo')).headers.get('etag')).toBe('"1"');
  });

  it('treats If-None-Match: * as "must not exist"', async () => {
    expect((await h.send('PUT', '/v1/toolsets/demo', demo, { 'if-none-match': '*' })).status).toBe(201);
    expect((await h.send('PUT', '/v1/toolsets/demo', demo, { 'if-none-match': '*' })).status).toBe(412);
  });

  it('validates without storing with dryRun', async () => {
    const checked = await h.send('PUT', '/v1/toolsets/demo?dryRun=true', demo);
    expect([checked.status, await bodyOf(checked)]).toEqual([200, { toolset: 'demo', version: 1, warnings: [] }]);
    expect((await h.send('GET', '/v1/toolsets/demo')).status).toBe(404);
  });

  it('rejects a misspelled dryRun instead of writing', async () => {
    const refused = await h.send('PUT', '/v1/toolsets/demo?dryrun=true', demo);
    expect([refused.status, (await bodyOf(refused)).issues]).toEqual([422, [{ path: 'dryrun', message: 'unknown field' }]]);
    expect((await h.send('GET', '/v1/toolsets/demo')).status).toBe(404);
  });

  it('names both tools and a fix when an alias is claimed twice, in either order', async () => {
    const entries = [
      { tool: 'builtin.bash', aliases: ['run'] },
      { tool: 'local.roll_dice', aliases: ['run'] },
    ];
    for (const tools of [entries, entries.toReversed()]) {
      const answer = await h.send('PUT', '/v1/toolsets/demo', { tools });
      const body = await bodyOf(answer);
      expect([answer.status, body.code]).toEqual([409, 'name_conflict']);
      expect(body.conflicts[0].tools.toSorted()).toEqual(['builtin.bash', 'local.roll_dice']);
      expect(body.conflicts[0].suggestion).toEqual(expect.any(String));
    }
  });

  it.each([
    [{ tools: [{ tool: 'builtin.bash' }, { tool: 'builtin.read_file', aliases: [7] }] }, 'tools[1].aliases[0]'],
    [{ tools: [{ tool: 'builtin.bash', aliases: ['ok', { name: 'fine', mode: 'loud' }] }] }, 'tools[0].aliases[1].mode'],
    [{ tools: [{ tool: 'builtin.bash', surprise: 1 }] }, 'tools[0].surprise'],
    [{ tools: [{ tool: 'builtin.bash' }], surprise: 1 }, 'surprise'],
    [{ tools: [{ tool: 'builtin.nash' }] }, 'tools[0].tool'],
    [{ tools: [{ tool: 'builtin.bash', aliases: ['constructor'] }] }, 'tools[0].aliases[0]'],
    [{ tools: [] }, 'tools'],
    [{ tools: 'all' }, 'tools'],
    [{}, 'tools'],
    [{ ...demo, name: 'other' }, 'name'],
    [{ ...demo, announce: 'shout' }, 'announce'],
    [[], ''],
    [null, ''],
    ['"text"', ''],
    ['{"tools":[{"tool":"builtin.bash","__proto__":{"aliases":["x"]}}]}', 'tools[0].__proto__'],
    ['{"tools":[{"tool":"builtin.bash"}],"\\u005f_proto__":{}}', '__proto__'],
  ])('names the fault of %j at %j', async (body, path) => {
    const answer = await h.send('PUT', '/v1/toolsets/demo', body === null ? 'null' : body);
    const problem = await bodyOf(answer);
    expect([answer.status, problem.code]).toEqual([422, 'invalid_request']);
    expect(problem.issues.map((issue: { path: string }) => issue.path)).toContain(path);
  });

  it.each(['Demo', 'a b', 'ä', '-x', 'x'.repeat(51)])('rejects a toolset named %j', async (name) => {
    const answer = await h.send('PUT', `/v1/toolsets/${encodeURIComponent(name)}`, demo);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, 'toolset']);
  });
});

describe('reading toolsets', () => {
  beforeEach(async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    await h.send('PUT', '/v1/toolsets/demo', { ...demo, description: 'second' });
  });

  it('returns an older version and lists the stored ones', async () => {
    const old = await h.send('GET', '/v1/toolsets/demo?version=1');
    expect([old.headers.get('etag'), (await bodyOf(old)).description]).toEqual(['"1"', undefined]);
    const { items, nextCursor } = await bodyOf(await h.send('GET', '/v1/toolsets/demo/versions'));
    expect(items.map((item: { version: number }) => item.version)).toEqual([2, 1]);
    expect(nextCursor).toBeNull();
    expect((await h.send('GET', '/v1/toolsets/demo?version=9')).status).toBe(404);
  });

  it('returns 304 to a client that has it', async () => {
    const answer = await h.send('GET', '/v1/toolsets/demo', undefined, { 'if-none-match': '"1", "2"' });
    expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', '"2"']);
  });

  it('pages by cursor', async () => {
    await h.send('PUT', '/v1/toolsets/extra', demo);
    const first = await bodyOf(await h.send('GET', '/v1/toolsets?limit=1'));
    expect(first.items).toEqual([expect.objectContaining({ name: 'demo', version: 2, description: 'second', toolCount: 2 })]);
    const second = await bodyOf(await h.send('GET', `/v1/toolsets?limit=1&cursor=${first.nextCursor}`));
    expect([second.items[0].name, second.nextCursor]).toEqual(['extra', null]);
  });

  it('deletes, and never reuses a version number', async () => {
    expect((await h.send('DELETE', '/v1/toolsets/demo', undefined, { 'if-match': '"1"' })).status).toBe(412);
    expect((await h.send('DELETE', '/v1/toolsets/demo')).status).toBe(204);
    expect((await h.send('DELETE', '/v1/toolsets/demo')).status).toBe(404);
    expect((await h.send('PUT', '/v1/toolsets/demo', demo)).headers.get('etag')).toBe('"4"');
  });

  it('shows the tools as sent, with the block for the prompt', async () => {
    const answer = await h.send('GET', '/v1/toolsets/demo/tools');
    expect(answer.headers.get('x-moniker-edition')).toBe('demo@2.1');
    const body = await bodyOf(answer);
    expect(body).toMatchObject({ toolset: 'demo', version: 2, provider: 'openai', warnings: [] });
    expect(body.tools[0]).toMatchObject({
      canonical: 'builtin.bash',
      wireName: 'shell',
      aliases: ['shell', 'terminal'],
      state: 'ready',
      definition: { type: 'function', function: { name: 'shell', parameters: { required: ['command'] } } },
    });
    expect(body.prompt).toContain('shell = builtin.bash (aliases: terminal)');
    expect((await h.send('GET', '/v1/toolsets/demo/tools?provider=nobody')).status).toBe(404);
    expect((await h.send('GET', '/v1/toolsets/demo/tools?provider=rehearsal')).status).toBe(200);
  });

  it('shows no aliases when they are switched off', async () => {
    const off = createHarness({ MONIKER_ALIASES: 'off' });
    await off.send('PUT', '/v1/toolsets/demo', demo);
    const body = await bodyOf(await off.send('GET', '/v1/toolsets/demo/tools'));
    expect(body.tools[0]).toMatchObject({ wireName: 'bash', aliases: [] });
    expect(body.prompt).toBeNull();
    expect((await off.send('GET', '/v1/toolsets/demo/resolve?name=terminal')).status).toBe(404);
  });

  it.each([
    ['shell', 'wire'],
    ['builtin.bash', 'canonical'],
    ['terminal', 'alias'],
    ['bash', 'own'],
    ['Terminal', 'folded'],
    ['functions.shell', 'folded'],
  ])('resolves %j via %s', async (name, via) => {
    const answer = await h.send('GET', `/v1/toolsets/demo/resolve?name=${name}`);
    expect(await bodyOf(answer)).toMatchObject({
      requested: name,
      canonical: 'builtin.bash',
      wireName: 'shell',
      via,
      aliases: ['shell', 'terminal'],
    });
    expect(answer.headers.get('x-moniker-edition')).toBe('demo@2.1');
  });

  it('returns similar names for an unknown name', async () => {
    const answer = await h.send('GET', '/v1/toolsets/demo/resolve?name=shel');
    expect([answer.status, await bodyOf(answer)]).toEqual([
      404,
      expect.objectContaining({ code: 'unknown_tool', requested: 'shel', suggestions: ['shell'] }),
    ]);
  });

  it('reports a tool outside the toolset to keys that may see all tools', async () => {
    const answer = await bodyOf(await h.send('GET', '/v1/toolsets/demo/resolve?name=local.roll_dice'));
    expect(answer).toMatchObject({
      code: 'unknown_tool',
      elsewhere: ['local.roll_dice'],
      detail: expect.stringContaining('outside this toolset'),
    });
    const bound = await h.key({ scopes: ['tools'], toolsets: ['demo'] });
    const less = await bodyOf(await h.send('GET', '/v1/toolsets/demo/resolve?name=local.roll_dice', undefined, bound));
    expect([less.code, less.elsewhere, less.detail]).toEqual(['unknown_tool', undefined, expect.not.stringContaining('outside')]);
  });

  it('explains why a name resolves, with the path of its entry', async () => {
    expect(await bodyOf(await h.send('GET', '/v1/toolsets/demo/resolve?name=terminal'))).toEqual({
      requested: 'terminal',
      canonical: 'builtin.bash',
      wireName: 'shell',
      via: 'alias',
      aliases: ['shell', 'terminal'],
      because: '"terminal" is an announced alias of builtin.bash; the wire name is "shell".',
      entry: 'tools[0]',
      server: 'builtin',
      ownName: 'bash',
      kind: 'builtin',
      state: 'ready',
      approval: 'policy',
      refId: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('returns the candidates of an ambiguous name', async () => {
    await h.send('PUT', '/v1/toolsets/two', {
      tools: [
        { tool: 'docs.search', name: 'search_docs' },
        { tool: 'web.search', name: 'search_web' },
      ],
    });
    const answer = await h.send('GET', '/v1/toolsets/two/resolve?name=search');
    expect([answer.status, await bodyOf(answer)]).toEqual([
      409,
      expect.objectContaining({ code: 'ambiguous_tool', requested: 'search', candidates: ['search_docs', 'search_web'] }),
    ]);
  });

  it('requires the name to resolve', async () => {
    const answer = await h.send('GET', '/v1/toolsets/demo/resolve');
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, 'name']);
  });
});

describe('calling a tool', () => {
  beforeEach(async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
  });

  it('runs it by an alias and returns its canonical name', async () => {
    const answer = await h.send('POST', '/v1/toolsets/demo/calls', { name: 'terminal', arguments: { command: 'ls' } });
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
    expect(await bodyOf(answer)).toEqual({
      requested: 'terminal',
      canonical: 'builtin.bash',
      via: 'alias',
      isError: false,
      content: [{ type: 'text', text: 'ran with {"command":"ls"}' }],
      durationMs: 0,
    });
    const { items } = await bodyOf(await h.send('GET', '/v1/audit'));
    expect(items).toEqual([
      expect.objectContaining({ requested: 'terminal', canonical: 'builtin.bash', via: 'alias', keyId: 'root', verdict: 'ran' }),
    ]);
  });

  it('returns 200 with isError for errors of the call', async () => {
    const unknown = await h.send('POST', '/v1/toolsets/demo/calls', { name: 'nix' });
    expect([unknown.status, await bodyOf(unknown)]).toEqual([
      200,
      expect.objectContaining({ isError: true, code: 'unknown_tool', canonical: null, via: null }),
    ]);
    const bad = await bodyOf(await h.send('POST', '/v1/toolsets/demo/calls', { name: 'shell' }));
    expect(bad).toMatchObject({ isError: true, code: 'invalid_arguments', issues: [{ path: 'command' }] });
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'x'.repeat(513) }, 'name'],
    [{ name: 'shell', arguments: 'ls' }, 'arguments'],
    [{ name: 'shell', arguments: [] }, 'arguments'],
    [{ name: 'shell', arguments: null }, 'arguments'],
    [{ name: 'shell', session: 7 }, 'session'],
    [{ name: 'shell', approve: true }, 'approve'],
  ])('returns 422 for %j, naming %s', async (body, path) => {
    const answer = await h.send('POST', '/v1/toolsets/demo/calls', body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });

  it('returns 404 for a missing toolset', async () => {
    expect((await h.send('POST', '/v1/toolsets/other/calls', { name: 'shell' })).status).toBe(404);
  });

  it('uses the names of the requested version', async () => {
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash', name: 'renamed', aliases: [] }] });
    const call = (query: string) => h.send('POST', `/v1/toolsets/demo/calls${query}`, { name: 'shell', arguments: { command: 'ls' } });
    expect(await bodyOf(await call(''))).toMatchObject({ isError: true, code: 'unknown_tool' });
    const old = await call('?version=1');
    expect(old.headers.get('x-moniker-edition')).toBe('demo@1.1');
    expect(await bodyOf(old)).toMatchObject({ isError: false, canonical: 'builtin.bash' });
    expect(await bodyOf(await call('?version=1&dryRun=true'))).toMatchObject({ valid: true, verdict: 'allow' });
    expect((await call('?version=7')).status).toBe(404);
  });

  it('reports with dryRun what a call would do, and runs nothing', async () => {
    const fine = await bodyOf(await h.send('POST', '/v1/toolsets/demo/calls?dryRun=true', { name: 'shell', arguments: { command: 'ls' } }));
    expect(fine).toEqual({ requested: 'shell', canonical: 'builtin.bash', via: 'wire', valid: true, issues: [], verdict: 'allow' });
    const bad = await bodyOf(await h.send('POST', '/v1/toolsets/demo/calls?dryRun=true', { name: 'shell', arguments: { command: 7 } }));
    expect(bad).toMatchObject({ valid: false, issues: [{ path: 'command' }] });
    expect((await bodyOf(await h.send('GET', '/v1/audit'))).items).toEqual([]);
  });

  it('runs in a session of the caller', async () => {
    const { id } = await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default' }));
    const answer = await bodyOf(await h.send('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: {}, session: id }));
    expect(answer.content).toEqual([{ type: 'text', text: `in ${id}` }]);
    expect((await h.send('POST', '/v1/toolsets/demo/calls', { name: 'shell', session: 'other' })).status).toBe(404);
    expect((await h.send('POST', '/v1/toolsets/demo/calls?dryRun=true', { name: 'shell', session: 'other' })).status).toBe(404);
  });
});

describe('a wildcard entry', () => {
  it('is stored as the tools that the server has at the time', async () => {
    const put = await h.send('PUT', '/v1/toolsets/all', { tools: [{ tool: 'builtin.*', except: ['bash'] }, { tool: 'local.roll_dice' }] });
    expect(put.status).toBe(201);
    const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/all'));
    expect(tools).toEqual([{ tool: 'builtin.read_file' }, { tool: 'local.roll_dice' }]);
    const wrong = await h.send('PUT', '/v1/toolsets/all', { tools: [{ tool: 'builtin.*', except: ['bsh'] }] });
    expect([wrong.status, (await bodyOf(wrong)).issues[0].path]).toEqual([422, 'tools[0].except[0]']);
  });

  it('of a bound key has only the tools of its toolsets, and no "never" of a key without the right', async () => {
    await h.send('PUT', '/v1/toolsets/own', { tools: [{ tool: 'builtin.read_file' }] });
    const bound = await h.key({ scopes: ['toolsets', 'tools'], toolsets: ['own'] });
    expect((await h.send('PUT', '/v1/toolsets/own', { tools: [{ tool: 'builtin.*', result: { maxBytes: 500 } }] }, bound)).status).toBe(
      200,
    );
    const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/own'));
    expect(tools).toEqual([{ tool: 'builtin.read_file', result: { maxBytes: 500 } }]);
    const editor = await h.key({ scopes: ['toolsets'] });
    expect((await h.send('PUT', '/v1/toolsets/all', { tools: [{ tool: 'builtin.*', approval: 'never' }] }, editor)).status).toBe(403);
  });
});

describe('a copy of a toolset', () => {
  const source = { description: 'First.', announce: 'none', tools: [{ tool: 'builtin.bash', name: 'run', aliases: ['go'] }] };

  it('has the members of the source, or of one version, except those that are given', async () => {
    await h.send('PUT', '/v1/toolsets/source', source);
    await h.send('PUT', '/v1/toolsets/source', { ...source, description: 'Second.' });
    expect((await h.send('PUT', '/v1/toolsets/copy', { from: 'source' })).status).toBe(201);
    expect(await bodyOf(await h.send('GET', '/v1/toolsets/copy'))).toEqual({ ...source, description: 'Second.', name: 'copy' });
    await h.send('PUT', '/v1/toolsets/copy', { from: 'source@1', announce: 'prompt' });
    expect(await bodyOf(await h.send('GET', '/v1/toolsets/copy'))).toEqual({ ...source, announce: 'prompt', name: 'copy' });
  });

  it('needs an existing source and no tools', async () => {
    await h.send('PUT', '/v1/toolsets/source', source);
    expect((await h.send('PUT', '/v1/toolsets/copy', { from: 'nothing' })).status).toBe(404);
    expect((await h.send('PUT', '/v1/toolsets/copy', { from: 'source@7' })).status).toBe(404);
    for (const body of [{ from: 'source', tools: source.tools }, { description: 'x' }]) {
      const refused = await h.send('PUT', '/v1/toolsets/copy', body);
      expect([refused.status, (await bodyOf(refused)).issues[0].path]).toEqual([422, 'tools']);
    }
  });

  it('needs the rights to read the source and to write its entries', async () => {
    await h.send('PUT', '/v1/toolsets/source', { tools: [{ tool: 'builtin.bash', approval: 'never' }] });
    const editor = await h.key({ scopes: ['toolsets', 'tools'] });
    expect((await h.send('PUT', '/v1/toolsets/copy', { from: 'source' }, editor)).status).toBe(403);
    const bound = await h.key({ scopes: ['toolsets', 'tools'], toolsets: ['copy'] });
    expect((await h.send('PUT', '/v1/toolsets/copy', { from: 'source' }, bound)).status).toBeGreaterThanOrEqual(403);
    expect((await h.send('GET', '/v1/toolsets/copy')).status).toBe(404);
  });
});

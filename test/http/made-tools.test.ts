import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const shout = {
  description: 'Reads a file in capitals.',
  parameters: [{ name: 'path', type: 'string', description: 'The file', required: true }],
  implementation: 'const { output } = await tools.read_file({ path: args.path });\nreturn output.toUpperCase();',
};

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const put = (canonical: string, body: unknown = shout, headers = {}, query = '') =>
  h.send('PUT', `/v1/tools/${canonical}${query}`, body, headers);
const paths = async (answer: Response): Promise<string[]> => (await bodyOf(answer)).issues.map((issue: { path: string }) => issue.path);

describe('/v1/tools/made.{name}', () => {
  it('is written, read with its code, written again and deleted', async () => {
    const made = await put('made.shout', { name: 'shout', ...shout });
    expect([made.status, made.headers.get('etag'), made.headers.get('location')]).toEqual([201, '"1"', '/v1/tools/made.shout']);
    expect(await bodyOf(made)).toEqual({ tool: 'made.shout', version: 1, uses: ['builtin.read_file'], warnings: [] });

    const read = await h.send('GET', '/v1/tools/made.shout');
    expect(read.headers.get('etag')).toBe('"1"');
    const view = await bodyOf(read);
    expect(view).toMatchObject({
      ...{ canonical: 'made.shout', server: 'made', kind: 'made', state: 'ready', description: shout.description },
      inputSchema: { properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
      made: { version: 1, implementation: shout.implementation, parameters: shout.parameters, uses: ['builtin.read_file'] },
    });
    const { items } = await bodyOf(await h.send('GET', '/v1/tools'));
    const [listed] = items.filter(({ kind }: { kind: string }) => kind === 'made');
    expect([listed.canonical, listed.made]).toEqual(['made.shout', undefined]);

    const { version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...again } = view.made;
    const same = await put('made.shout', { ...again, description: view.description });
    expect([same.status, same.headers.get('etag')]).toEqual([200, '"1"']);
    const other = await put('made.shout', { ...shout, description: 'Shouts.' }, { 'if-match': '"1"' });
    expect([other.status, (await bodyOf(other)).version]).toEqual([200, 2]);
    expect((await put('made.shout', shout, { 'if-match': '"1"' })).status).toBe(412);
    expect((await put('made.shout', shout, { 'if-none-match': '*' })).status).toBe(412);

    expect((await h.send('DELETE', '/v1/tools/made.shout', undefined, { 'if-match': '"1"' })).status).toBe(412);
    expect((await h.send('DELETE', '/v1/tools/made.shout')).status).toBe(204);
    expect((await h.send('GET', '/v1/tools/made.shout')).status).toBe(404);
    expect((await h.send('DELETE', '/v1/tools/made.shout')).status).toBe(404);
    expect((await bodyOf(await put('made.shout'))).version).toBe(4);
  });

  it('is validated by a dry run like a write, and not stored', async () => {
    const dry = await put('made.shout', shout, {}, '?dryRun=true');
    expect([dry.status, dry.headers.get('etag')]).toEqual([200, null]);
    expect(await bodyOf(dry)).toMatchObject({ tool: 'made.shout', version: 1, uses: ['builtin.read_file'] });
    expect(await problemIn(await put('made.shout', { ...shout, implementation: 'return (' }, {}, '?dryRun=true'))).toBe(
      '422 invalid_request at implementation',
    );
    expect((await h.send('GET', '/v1/tools/made.shout')).status).toBe(404);
  });

  it('is in a toolset under an alias, and resolves by it', async () => {
    await put('made.shout', { ...shout, aliases: ['yell'] });
    await h.send('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'made.shout', aliases: ['scream'] }, { tool: 'builtin.bash' }] });
    await h.send('PUT', '/v1/toolsets/plain', { tools: [{ tool: 'made.shout' }] });
    const resolve = async (toolset: string, name: string) => bodyOf(await h.send('GET', `/v1/toolsets/${toolset}/resolve?name=${name}`));
    expect(await resolve('desk', 'scream')).toMatchObject({ canonical: 'made.shout', via: 'wire' });
    expect(await resolve('desk', 'made.shout')).toMatchObject({ canonical: 'made.shout', via: 'canonical' });
    expect(await resolve('plain', 'Yell')).toMatchObject({ canonical: 'made.shout', via: 'folded' });
    expect((await h.send('PUT', '/v1/tools/made.shout/aliases', { aliases: ['roar'] })).status).toBe(201);
    // A stored toolset keeps its wire name.
    expect(await resolve('plain', 'roar')).toMatchObject({ canonical: 'made.shout', via: 'alias' });
    await h.send('DELETE', '/v1/tools/made.shout');
    const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/desk/tools'));
    expect(
      tools
        .map(({ canonical, state }: Record<string, string>) => `${canonical} ${state}`)
        .sort()
        .reverse(),
    ).toEqual(['made.shout missing', 'builtin.bash ready']);
    const { content } = await bodyOf(await h.send('POST', '/v1/toolsets/desk/calls', { name: 'scream', arguments: {} }));
    expect(content[0].text).toContain('it was deleted; create it again with PUT /v1/tools/made.shout');
  });

  it.each([
    ['made.shout', { ...shout, implementation: 'return (' }, 'implementation'],
    ['made.shout', { ...shout, implementation: '} async function x() {' }, 'implementation'],
    ['made.shout', { ...shout, implementation: 'return await tools.raed_file({})' }, 'implementation'],
    ['made.shout', { ...shout, uses: ['ui.camera'] }, 'uses[0]'],
    ['made.shout', { ...shout, parameters: [{ name: '1st', type: 'string' }] }, 'parameters[0].name'],
    ['made.shout', { ...shout, parameters: [{ name: 'n', type: 'integer' }] }, 'parameters[0].type'],
    ['made.shout', { ...shout, parameters: [{ name: '__proto__', type: 'string' }] }, 'parameters[0].name'],
    ['made.shout', { ...shout, aliases: ['Loud'] }, 'aliases[0]'],
    ['made.shout', { ...shout, name: 'whisper' }, 'name'],
    ['made.shout', { ...shout, description: ' ' }, 'description'],
    ['made.shout', { description: 'x' }, 'implementation'],
    ['made.bash', shout, 'name'],
    ['made.create_tool', shout, 'name'],
    ['made.__proto__', shout, 'canonical'],
  ])('rejects %s as %j at its path', async (canonical, body, path) => {
    await h.send('PUT', '/v1/tools/ui.camera', { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: [] });
    const answer = await put(canonical, body);
    expect(answer.status).toBe(422);
    expect(await paths(answer)).toContain(path);
    expect((await bodyOf(await h.send('GET', '/v1/tools'))).items.some(({ kind }: { kind: string }) => kind === 'made')).toBe(false);
  });
});

describe('hints for mistakes', () => {
  it.each([
    [{ aliases: ['Bad One'] }, 'aliases[0]: "Bad One" cannot be an alias: it contains a space'],
    [{ parameters: { type: 'object', properties: {} } }, 'parameters: must be a list with {name, type, description, required, default}'],
    [
      { implementation: 'return await tools.builtin.raed_file({})' },
      'there is no tool "builtin.raed_file"; did you mean builtin.read_file',
    ],
  ])('suggest what to write: %j', async (change, told) => {
    const answer = await put('made.shout', { ...shout, ...change });
    expect([answer.status, (await bodyOf(answer)).detail]).toEqual([422, expect.stringContaining(told)]);
  });

  it('are absent if the meaning is clear', async () => {
    const implementation = '```js\nreturn await tools.builtin.read_file({ path: "a" })\n```';
    expect(await bodyOf(await put('made.shout', { ...shout, implementation, aliases: [' yell '] }))).toMatchObject({
      uses: ['builtin.read_file'],
    });
    const read = await bodyOf(await h.send('GET', '/v1/tools/made.shout'));
    expect([read.made.implementation, read.aliases]).toEqual(['return await tools.builtin.read_file({ path: "a" })', ['yell']]);
  });
});

describe('a key that writes made tools', () => {
  const headers = async (scopes: readonly ('tools' | 'toolsets')[], more: { toolsets?: string[]; agents?: string[] } = {}) =>
    h.key({ scopes, ...more });
  beforeEach(async () => {
    await h.send('PUT', '/v1/toolsets/files', { tools: [{ tool: 'builtin.read_file' }] });
    await h.send('PUT', '/v1/toolsets/shells', { tools: [{ tool: 'builtin.bash' }] });
  });

  it('requires the scope', async () => {
    expect((await put('made.shout', shout, await headers(['tools']))).status).toBe(403);
    expect((await put('made.shout', shout, await headers(['toolsets']))).status).toBe(201);
    expect((await put('made.other', shout, await headers(['toolsets'], { agents: ['helper'] }))).status).toBe(403);
    expect((await h.send('DELETE', '/v1/tools/made.shout', undefined, await headers(['tools']))).status).toBe(404);
  });

  it('must be an unbound administrator if a secret is bound to the tool', async () => {
    await h.send('PUT', '/v1/secrets/GH', { value: 'v', hosts: ['api.example.com'], tools: ['made.shout'] });
    expect((await put('made.shout', shout, await headers(['toolsets']))).status).toBe(403);
    expect((await put('made.shout', shout, await headers(['toolsets'], { toolsets: ['files'] }))).status).toBe(403);
    expect((await put('made.shout', shout)).status).toBe(201);
    expect((await put('made.shout', { ...shout, description: 'x' }, await headers(['toolsets']))).status).toBe(403);
  });

  it('if bound to toolsets, can use only their tools, and learns nothing about others', async () => {
    expect((await put('made.shout', shout, await headers(['toolsets'], { toolsets: ['files'] }))).status).toBe(201);
    const other = await put('made.run', shout, await headers(['toolsets'], { toolsets: ['shells', 'gone'] }));
    expect(other.status).toBe(422);
    const { issues } = await bodyOf(other);
    expect(issues).toEqual([{ path: 'implementation', message: 'line 1: there is no tool "read_file"' }]);
  });

  it('if bound, can replace and delete none', async () => {
    await put('made.shout');
    const bound = await headers(['toolsets'], { toolsets: ['files'] });
    expect((await put('made.shout', { ...shout, description: 'x' }, bound)).status).toBe(403);
    expect((await h.send('DELETE', '/v1/tools/made.shout', undefined, bound)).status).toBe(403);
  });
});

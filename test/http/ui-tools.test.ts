import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness } from './harness.ts';

const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'], href: '/camera' };

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const put = (canonical: string, body: unknown = camera, headers = {}) => h.send('PUT', `/v1/tools/${canonical}`, body, headers);

describe('/v1/tools/ui.{name}', () => {
  it('is written, read as a tool, written again and deleted', async () => {
    const made = await put('ui.camera');
    expect([made.status, made.headers.get('etag'), made.headers.get('location')]).toEqual([201, '"1"', '/v1/tools/ui.camera']);
    expect(await bodyOf(made)).toEqual({ canonical: 'ui.camera', ...camera });
    expect(await bodyOf(await h.send('GET', '/v1/tools/ui.camera'))).toMatchObject({
      canonical: 'ui.camera',
      server: 'ui',
      kind: 'ui',
      description: 'Takes a photo.',
    });

    const same = await put('ui.camera');
    expect([same.status, same.headers.get('etag')]).toEqual([200, '"1"']);
    const other = await put('ui.camera', { ...camera, label: 'Lens' });
    expect([other.status, other.headers.get('etag'), (await bodyOf(other)).label]).toEqual([200, '"2"', 'Lens']);

    expect((await h.send('DELETE', '/v1/tools/ui.camera')).status).toBe(204);
    expect((await h.send('GET', '/v1/tools/ui.camera')).status).toBe(404);
    expect((await h.send('DELETE', '/v1/tools/ui.camera')).status).toBe(404);
  });

  it('is written conditionally', async () => {
    await put('ui.camera');
    expect((await put('ui.camera', { ...camera, label: 'x' }, { 'if-match': '"7"' })).status).toBe(412);
    expect((await put('ui.camera', camera, { 'if-none-match': '*' })).status).toBe(412);
    expect((await h.send('DELETE', '/v1/tools/ui.camera', undefined, { 'if-match': '"7"' })).status).toBe(412);
    expect((await bodyOf(await h.send('GET', '/v1/tools/ui.camera'))).description).toBe('Takes a photo.');
  });

  it('does not conflict with the default aliases route', async () => {
    await put('ui.camera');
    expect((await h.send('PUT', '/v1/tools/ui.camera/aliases', { aliases: ['webcam'] })).status).toBe(201);
    expect((await bodyOf(await h.send('GET', '/v1/tools/ui.camera'))).aliases).toEqual(['webcam']);
  });

  it.each([
    ['builtin.bash', 'canonical: only ui.<name> and made.<name> can be written here'],
    ['made.a', 'canonical: must be "made." and 2 to 64 of a-z'],
    ['docs.search', 'PUT /v1/servers/{server}'],
    ['ui.Camera', 'canonical: must be "ui." and 2 to 64 of a-z'],
    ['ui.c', 'canonical: must be "ui." and 2 to 64 of a-z'],
    ['ui.__proto__', 'canonical: must be "ui." and 2 to 64 of a-z'],
    ['ui.a.b', 'canonical: must be "ui." and 2 to 64 of a-z'],
  ])('rejects %s with what can be written here, before it reads the body', async (canonical, why) => {
    const answer = await put(canonical, { nonsense: true });
    const { code, detail } = await bodyOf(answer);
    expect([answer.status, code]).toEqual([422, 'invalid_request']);
    expect(detail).toContain(why);
    expect((await h.send('DELETE', `/v1/tools/${canonical}`)).status).toBe(404);
  });

  it('reports why other tools cannot be deleted', async () => {
    const answer = await bodyOf(await h.send('DELETE', '/v1/tools/builtin.bash'));
    expect(answer).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('only ui.<name> and made.<name> can be written here'),
    });
  });

  it.each([
    [{ ...camera, href: 'javascript:alert(1)' }, 'href'],
    [{ ...camera, href: '//evil.example' }, 'href'],
    [{ ...camera, triggers: ['photo', ''] }, 'triggers[1]'],
    [{ ...camera, triggers: Array.from({ length: 51 }, () => 'x') }, 'triggers'],
    [{ ...camera, label: '' }, 'label'],
    [{ ...camera, inputSchema: {} }, 'inputSchema'],
    [{ label: 'Camera' }, 'description'],
  ])('rejects %j at its path, and keeps the stored one', async (body, path) => {
    await put('ui.camera');
    const answer = await put('ui.camera', body);
    const { issues } = await bodyOf(answer);
    expect(answer.status).toBe(422);
    expect(issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect((await put('ui.camera')).headers.get('etag')).toBe('"1"');
  });

  it('requires an unbound key with the scope toolsets', async () => {
    const headers = async (scopes: readonly ('tools' | 'toolsets')[], toolsets?: string[]) =>
      await h.key({ scopes, ...(toolsets && { toolsets }) });
    expect((await put('ui.camera', camera, await headers(['tools']))).status).toBe(403);
    expect((await put('ui.camera', camera, await headers(['toolsets'], ['demo']))).status).toBe(403);
    expect((await put('ui.camera', camera, await headers(['toolsets']))).status).toBe(201);
    expect((await h.send('DELETE', '/v1/tools/ui.camera', undefined, await headers(['tools']))).status).toBe(404);
    expect((await h.send('GET', '/v1/tools/ui.camera')).status).toBe(200);
  });
});

describe('a toolset with UI tools', () => {
  beforeEach(async () => {
    await put('ui.camera');
    await h.send('PUT', '/v1/toolsets/study', { tools: [{ tool: 'ui.camera', aliases: ['webcam'] }, { tool: 'builtin.bash' }] });
    await h.send('PUT', '/v1/toolsets/pages', { tools: [{ tool: 'ui.camera' }] });
  });

  it.each(['openai', 'anthropic', 'gemini', 'cohere', 'openai-responses', 'text'])('shows a model of %s none of them', async (provider) => {
    const { tools, prompt } = await bodyOf(await h.send('GET', `/v1/toolsets/study/tools?provider=${provider}`));
    const sent = tools.filter(({ definition }: { definition: unknown }) => definition !== null && definition !== undefined);
    expect(sent.map(({ canonical }: { canonical: string }) => canonical)).toEqual(['builtin.bash']);
    expect(JSON.stringify([sent, prompt])).not.toMatch(/camera|webcam|photo/);
  });

  it.each(['camera', 'webcam', 'ui.camera', 'Camera'])('rejects a call of %s, which is not callable', async (name) => {
    const call = (query: string) => h.send('POST', `/v1/toolsets/study/calls${query}`, { name, arguments: {} });
    const answer = await call('');
    expect(answer.status).toBe(200);
    expect(await bodyOf(answer)).toMatchObject({
      canonical: 'ui.camera',
      isError: true,
      code: 'not_allowed',
      content: [{ text: expect.stringContaining('shown to the user and cannot be called') }],
    });
    expect(await bodyOf(await call('?dryRun=true'))).toMatchObject({ canonical: 'ui.camera', verdict: 'deny' });
  });

  it('proposes none of them to a model that called a similar name', async () => {
    const { code, content } = await bodyOf(await h.send('POST', '/v1/toolsets/study/calls', { name: 'camara', arguments: {} }));
    expect([code, content[0].text]).toEqual(['unknown_tool', expect.not.stringContaining('camera')]);
  });
});

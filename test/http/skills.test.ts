import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { zipOf } from '../formats/zips.ts';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const content = '---\nname: notes\ndescription: Writes notes.\nallowed-tools: Bash(git:*) Read\nx-own: kept\n---\nUse `bash`.\n';
const skill = { content, resources: { 'scripts/run.sh': 'ls\n', 'logo.png': { base64: 'AP8B' } } };
const path = '/v1/skills/notes';
const zip = { 'content-type': 'application/zip' };

describe('/v1/skills', () => {
  it('is created, read, listed, replaced and deleted conditionally', async () => {
    const made = await h.send('PUT', path, skill, { 'if-none-match': '*' });
    expect([made.status, made.headers.get('etag'), made.headers.get('location')]).toEqual([201, '"1"', path]);
    const summary = {
      name: 'notes',
      description: 'Writes notes.',
      allowedTools: ['Bash(git:*)', 'Read'],
      version: 1,
      resources: [
        { path: 'logo.png', bytes: 3 },
        { path: 'scripts/run.sh', bytes: 3 },
      ],
    };
    expect(await bodyOf(made)).toEqual({ ...summary, warnings: [] });
    expect(await bodyOf(await h.send('GET', '/v1/skills'))).toEqual({ items: [summary], nextCursor: null });
    const changed = await h.send('PUT', path, { content }, { 'if-match': '"1"' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect((await h.send('PUT', path, skill, { 'if-match': '"1"' })).status).toBe(412);
    expect((await h.send('GET', path, undefined, { 'if-none-match': '"2"' })).status).toBe(304);
    expect((await h.send('DELETE', path)).status).toBe(204);
    expect((await h.send('GET', path)).status).toBe(404);
  });

  it('can be sent back unchanged without a new version', async () => {
    await h.send('PUT', path, skill);
    const shown = await bodyOf(await h.send('GET', path));
    expect(shown).toMatchObject({
      content,
      resources: { 'scripts/run.sh': { text: 'ls\n', bytes: 3 }, 'logo.png': { base64: 'AP8B', bytes: 3 } },
    });
    const again = await h.send('PUT', path, shown);
    expect([again.status, again.headers.get('etag')]).toEqual([200, '"1"']);
  });

  it('accepts the same files as a zip archive without a new version', async () => {
    await h.send('PUT', path, skill);
    const archive = zipOf({
      'notes/SKILL.md': content,
      'notes/scripts/run.sh': 'ls\n',
      'notes/logo.png': new Uint8Array([0, 255, 1]),
      'notes/.env': 'x',
    });
    const answer = await h.send('PUT', path, archive, zip);
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"1"']);
    expect((await bodyOf(answer)).warnings).toEqual([{ path: 'resources', message: expect.stringContaining('notes/.env') }]);
  });

  it('returns the bytes of a resource', async () => {
    await h.send('PUT', path, skill);
    const answer = await h.send('GET', `${path}/resources/logo.png`);
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 255, 1]);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toBe('attachment');
    expect(await (await h.send('GET', `${path}/resources/scripts/run.sh`)).text()).toBe('ls\n');
    for (const missing of ['SKILL.md', 'scripts', 'constructor', '..%2fx'])
      expect((await h.send('GET', `${path}/resources/${missing}`)).status, missing).toBe(404);
  });

  it.each([
    ['a name that differs', { content: content.replace('notes', 'other') }, 'SKILL.md: name'],
    ['a name in the body that differs', { name: 'other', content }, 'name'],
    ['no content', { resources: {} }, 'content'],
    ['an unknown field', { content, surprise: 1 }, 'surprise'],
    ['a resource that climbs', { content, resources: { '../x': 'a' } }, 'resources.../x'],
    ['a resource under an absolute path', { content, resources: { '/x': 'a' } }, 'resources./x'],
    ['SKILL.md as a resource', { content, resources: { 'SKILL.md': 'a' } }, 'resources.SKILL.md'],
    ['a file in a file', { content, resources: { a: 'a', 'a/b': 'b' } }, 'resources.a/b'],
    ['a resource with a long path', { content, resources: { ['x'.repeat(201)]: 'a' } }, `resources.${'x'.repeat(200)}`],
    ['a resource that is a number', { content, resources: { a: 1 } }, 'resources.a'],
    ['a resource that is both', { content, resources: { a: { text: 'a', base64: 'AA==' } } }, 'resources.a.base64'],
    ['no base64', { content, resources: { a: { base64: '%' } } }, 'resources.a.base64'],
    ['a lone surrogate', `{"content":${JSON.stringify(content)},"resources":{"a":"\\ud800"}}`, 'resources.a'],
    ['a large resource', { content, resources: { a: 'x'.repeat(limits.maxSkillFileBytes + 1) } }, 'resources.a'],
    [
      'large resources together',
      {
        content,
        resources: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, 'x'.repeat(limits.maxSkillFileBytes)])),
      },
      'resources',
    ],
    [
      'many resources',
      { content, resources: Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`f${index}`, ''])) },
      'resources',
    ],
  ])('%s is rejected at its path, and the stored one stays', async (_what, body, at) => {
    await h.send('PUT', path, skill);
    const answer = await h.send('PUT', path, body);
    expect(answer.status).toBe(422);
    expect((await bodyOf(answer)).issues[0].path).toBe(at);
    expect((await h.send('GET', path)).headers.get('etag')).toBe('"1"');
  });

  it('keeps half a megabyte of control characters small enough to be stored', async () => {
    const noise = '\u0001'.repeat(90 * 1024);
    const resources = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, noise]));
    await h.send('PUT', path, { content, resources });
    expect(JSON.stringify((await h.catalog.get('skill', 'notes')).body).length).toBeLessThan(1024 * 1024);
  });

  it('skips hidden files with a warning', async () => {
    const answer = await bodyOf(await h.send('PUT', path, { content, resources: { '.env': 'x', 'a/.git/b': 'y', 'a.txt': 'z' } }));
    expect([answer.resources, answer.warnings.length]).toEqual([[{ path: 'a.txt', bytes: 1 }], 1]);
  });

  it('accepts only JSON and zip, and rejects an invalid archive', async () => {
    expect((await h.send('PUT', path, content, { 'content-type': 'text/markdown' })).status).toBe(415);
    expect(await problemIn(await h.send('PUT', path, 'no archive', zip))).toBe('422 invalid_request');
    expect(await problemIn(await h.send('PUT', path, '{', {}))).toBe('400 invalid_json');
    expect((await h.send('PUT', path, new Uint8Array(limits.maxLargeBodyBytes + 1), zip)).status).toBe(413);
  });

  it.each(['Notes', 'a--b', '-a', 'a-', 'x'.repeat(65), 'a_b', 'a.b'])('rejects the name %s', async (name) => {
    expect(await problemIn(await h.send('PUT', `/v1/skills/${name}`, { content }))).toBe('422 invalid_request at skill');
    expect((await h.send('GET', `/v1/skills/${name}`)).status).toBe(404);
  });

  it('requires an unbound key with the scope', async () => {
    const chat = await h.key({ scopes: ['chat'] });
    const bound = await h.key({ scopes: ['toolsets'], toolsets: ['demo'] });
    const writer = await h.key({ scopes: ['toolsets'] });
    expect((await h.send('PUT', path, skill, chat)).status).toBe(403);
    expect((await h.send('PUT', path, skill, bound)).status).toBe(403);
    expect((await h.send('GET', '/v1/skills', undefined, bound)).status).toBe(403);
    expect((await h.send('PUT', path, skill, writer)).status).toBe(201);
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { createClient } from '../../../client/src/index.ts';
import { Problem } from '../../../src/core/problem.ts';
import { loadSkills as load } from '../../../src/local/launch/skills.ts';
import { readSkill } from '../../../src/formats/read-skill.ts';

const folders = mkdtempSync(join(tmpdir(), 'moniker-skills-'));
afterAll(() => rmSync(folders, { recursive: true }));

/** Creates a folder with these files, by path. */
function folderOf(files: Record<string, string | Uint8Array>): string {
  const folder = mkdtempSync(join(folders, 'of-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** With a new data folder by default. */
const loadSkills = (client: Parameters<typeof load>[0], folder: string, dataDir = folderOf({})) => load(client, folder, dataDir);

const skill = (name: string): string => `---\nname: ${name}\ndescription: About ${name}.\n---\nDo it.\n`;

/** The sent bodies, by path; rejects what `readSkill` rejects. `changed`: paths that someone else has changed since. */
function service() {
  const sent = new Map<string, { content: string; resources: Record<string, unknown> }>();
  const changed = new Set<string>();
  const client = createClient({
    baseUrl: 'http://localhost',
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      if (request.method === 'DELETE') {
        const code = !sent.has(path)
          ? 'not_found'
          : changed.has(path) || request.headers.get('if-match') !== '"1"'
            ? 'precondition_failed'
            : null;
        const problem = code === null ? null : new Problem(code, 'Not deleted.');
        if (problem !== null) return Response.json(problem.toBody(), { status: problem.status });
        sent.delete(path);
        return new Response(null, { status: 204 });
      }
      const given = (await request.json()) as { content: string; resources: Record<string, string | { base64: string }> };
      const resources = Object.entries(given.resources).map(([at, file]) =>
        typeof file === 'string' ? { path: at, text: file } : { path: at, ...file },
      );
      try {
        readSkill(decodeURIComponent(path.replace('/v1/skills/', '')), { content: given.content, resources });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return Response.json(error.toBody(), { status: error.status });
      }
      sent.set(path, given);
      return Response.json({ version: 1, warnings: [] });
    },
  });
  return { sent, changed, client };
}

it('every folder with a SKILL.md is a skill, with its files as text or bytes', async () => {
  const folder = folderOf({
    'one/SKILL.md': skill('one'),
    'one/scripts/run.sh': 'ls\n',
    'one/logo.png': new Uint8Array([0, 255, 1]),
    'one/.git/config': 'x',
    'one/node_modules/x/index.js': 'x',
    'two/SKILL.md': skill('two'),
    'notes/readme.md': 'no skill',
    '.git/SKILL.md': skill('git'),
    'node_modules/SKILL.md': skill('node'),
  });
  const api = service();
  expect(await loadSkills(api.client, folder)).toEqual({ folder, names: ['one', 'two'], left: [], notes: [] });
  expect(api.sent.get('/v1/skills/one')).toEqual({
    content: skill('one'),
    resources: { 'logo.png': { base64: 'AP8B' }, 'scripts/run.sh': 'ls\n' },
  });
});

it('the folder itself may be the skill', async () => {
  const folder = folderOf({ 'pdf/SKILL.md': skill('pdf'), 'pdf/a/SKILL.md': 'a file of it' });
  const api = service();
  expect((await loadSkills(api.client, join(folder, 'pdf'))).names).toEqual(['pdf']);
  expect(api.sent.get('/v1/skills/pdf')?.resources).toEqual({ 'a/SKILL.md': 'a file of it' });
});

it('an invalid skill is reported, and the others are loaded', async () => {
  const folder = folderOf({
    'bad/SKILL.md': 'no frontmatter',
    'good/SKILL.md': skill('good'),
    'large/SKILL.md': skill('large'),
    'large/file.txt': 'x'.repeat(limits.maxSkillFileBytes + 1),
    'many/SKILL.md': skill('many'),
    ...Object.fromEntries(Array.from({ length: limits.maxSkillResources + 2 }, (_, index) => [`many/${index}.txt`, ''])),
    'bytes/SKILL.md': new Uint8Array([255, 254]),
    'Other_Name/SKILL.md': skill('other'),
    'undescribed/SKILL.md': '---\nname: undescribed\n---\nx',
    'deep/SKILL.md': skill('deep'),
    [`deep/${'d/'.repeat(20)}x.txt`]: '',
  });
  const { names, notes } = await loadSkills(service().client, folder);
  expect(names).toEqual(['good']);
  expect(notes).toHaveLength(7);
  expect(notes.join('\n')).toMatch(/skill bad was not loaded: SKILL.md: must begin with its frontmatter/);
  expect(notes.join('\n')).toMatch(/skill large was not loaded: file.txt is \d+ bytes/);
  expect(notes.join('\n')).toMatch(/skill undescribed was not loaded: SKILL.md: description: is missing/);
});

it('links are followed to files in the folder, and never out of it', async () => {
  const outside = folderOf({ 'secret.txt': 'secret', 'skill/SKILL.md': skill('linked') });
  const folder = folderOf({ 'one/SKILL.md': skill('one'), 'shared.txt': 'shared' });
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'one/secret.txt'));
  symlinkSync(outside, join(folder, 'one/outside'));
  symlinkSync('..', join(folder, 'one/circle'));
  symlinkSync('nowhere', join(folder, 'one/dangling'));
  symlinkSync('../shared.txt', join(folder, 'one/shared.txt'));
  symlinkSync(join(outside, 'skill'), join(folder, 'linked'));
  const api = service();
  const { names, notes } = await loadSkills(api.client, folder);
  expect(names).toEqual(['one']);
  expect(api.sent.get('/v1/skills/one')?.resources).toEqual({ 'shared.txt': 'shared' });
  expect(notes.map((note) => note.split(' was ')[0])).toEqual([
    'skill linked',
    'skill one: circle',
    'skill one: dangling',
    'skill one: outside',
    'skill one: secret.txt',
  ]);
});

it('a missing folder, or one without skills, is reported and stops nothing', async () => {
  expect((await loadSkills(service().client, join(folders, 'nowhere'))).notes).toEqual([expect.stringContaining('not a readable folder')]);
  expect((await loadSkills(service().client, folderOf({ 'a/b.txt': '' }))).notes).toEqual([
    expect.stringContaining('no folder with a SKILL.md'),
  ]);
});

it('a skill that leaves the folder leaves the workspace, unless someone has changed it since', async () => {
  const dataDir = folderOf({});
  const folder = folderOf({ 'one/SKILL.md': skill('one'), 'two/SKILL.md': skill('two'), 'three/SKILL.md': skill('three') });
  const { sent, changed, client } = service();
  await loadSkills(client, folder, dataDir);
  for (const name of ['two', 'three']) rmSync(join(folder, name), { recursive: true });
  changed.add('/v1/skills/three');
  expect(await loadSkills(client, folder, dataDir)).toMatchObject({
    names: ['one'],
    left: ['two'],
    notes: [
      'skill three is no longer in the folder, and stays (it was changed since): delete it with DELETE /v1/skills/three',
      'skill two is no longer in the folder, and was deleted',
    ],
  });
  expect([...sent.keys()].sort()).toEqual(['/v1/skills/one', '/v1/skills/three']);
  sent.delete('/v1/skills/three');
  expect(await loadSkills(client, folder, dataDir)).toMatchObject({ left: ['three'], notes: [] });
  expect(await loadSkills(client, folder, dataDir)).toMatchObject({ left: [], notes: [] });
});

it('a skill that is invalid now, or was never of the folder, stays', async () => {
  const dataDir = folderOf({});
  const folder = folderOf({ 'one/SKILL.md': skill('one'), 'two/SKILL.md': skill('two') });
  const { sent, client } = service();
  sent.set('/v1/skills/own', { content: skill('own'), resources: {} });
  await loadSkills(client, folder, dataDir);
  writeFileSync(join(folder, 'two/SKILL.md'), 'no frontmatter');
  expect((await loadSkills(client, folder, dataDir)).left).toEqual([]);
  expect([...sent.keys()].sort()).toEqual(['/v1/skills/one', '/v1/skills/own', '/v1/skills/two']);
});

it('a folder that is empty or gone removes nothing, and says what stays', async () => {
  const dataDir = folderOf({});
  const folder = folderOf({ 'one/SKILL.md': skill('one') });
  const { sent, client } = service();
  await loadSkills(client, folder, dataDir);
  for (const left of [folderOf({ 'a/b.txt': '' }), join(folders, 'nowhere')])
    expect((await loadSkills(client, left, dataDir)).notes[1]).toBe(
      'skills that it had before stay (one): delete them with DELETE /v1/skills/{skill}',
    );
  expect([...sent.keys()]).toEqual(['/v1/skills/one']);
});

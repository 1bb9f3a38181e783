import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { createClient } from '../../../client/src/index.ts';
import { Problem } from '../../../src/core/problem.ts';
import { loadSkills } from '../../../src/local/launch/skills.ts';
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

const skill = (name: string): string => `---\nname: ${name}\ndescription: About ${name}.\n---\nDo it.\n`;

/** The sent bodies, by path; rejects what `readSkill` rejects. */
function service() {
  const sent = new Map<string, { content: string; resources: Record<string, unknown> }>();
  const client = createClient({
    baseUrl: 'http://localhost',
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
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
      return Response.json({ warnings: [] });
    },
  });
  return { sent, client };
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
  expect(await loadSkills(api.client, folder)).toEqual({ folder, names: ['one', 'two'], notes: [] });
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

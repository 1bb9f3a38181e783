/**
 * The tests of skills from the seed "skills framework", as this product responds. Deliberate differences: skills come through the API as
 * well as from a folder, so a missing folder is not an error; an agent's `skills` select its skills, instead of include and exclude; and an
 * unknown skill is an error result that lists the known ones, not a plain text.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createClient } from '../../client/src/index.ts';
import type { Skill } from '../../src/core/skills/skill.ts';
import { skillText } from '../../src/core/skills/skill-prompt.ts';
import { systemPrompt } from '../../src/core/turn/system-prompt.ts';
import { createSkillReader, planSkills } from '../../src/engine/plan/plan-skills.ts';
import { turnNames } from '../../src/engine/plan/plan-names.ts';
import { readEnvironment } from '../../src/local/launch/environment.ts';
import { loadSkills } from '../../src/local/launch/skills.ts';
import { readSkill } from '../../src/formats/read-skill.ts';
import { toolBench } from '../tools/run-tool.ts';

const folders = mkdtempSync(join(tmpdir(), 'moniker-seed-skills-'));
afterAll(() => rmSync(folders, { recursive: true }));

const skill = (name: string): Skill =>
  readSkill(name, {
    content: `---\nname: ${name}\ndescription: About ${name}.\nversion: 1.2.0\nauthor: me\ntags: [a, b]\n---\nDo it.`,
    resources: [{ path: 'run.sh', text: 'ls' }],
  }).skill;

const accepted = createClient({ baseUrl: 'http://localhost', fetch: async () => Response.json({ warnings: [] }) });

describe('skills', () => {
  it('no directory: nothing is loaded, without an error', () => {
    expect(readEnvironment({}).skillsDir).toBeNull();
    expect(readEnvironment({ MONIKER_SKILLS_DIR: ' ' }).skillsDir).toBeNull();
    expect(readEnvironment({ MONIKER_SKILLS_DIR: '/a/skills' })).toMatchObject({ skillsDir: '/a/skills', unknown: [] });
  });

  it('have an entry that names a missing directory, and do not fail', async () => {
    const { names, notes } = await loadSkills(accepted, join(folders, 'missing'));
    expect([names, notes.length]).toEqual([[], 1]);
  });

  it('a SKILL.md without a description is rejected with an error', () => {
    expect(() => readSkill('a', { content: '---\nname: a\n---\nx', resources: [] })).toThrow('SKILL.md: description: is missing');
  });

  it('a folder that itself contains SKILL.md works', async () => {
    mkdirSync(join(folders, 'alone'));
    writeFileSync(join(folders, 'alone', 'SKILL.md'), '---\nname: alone\ndescription: x\n---\nx');
    expect((await loadSkills(accepted, join(folders, 'alone'))).names).toEqual(['alone']);
  });

  it('an agent has the skills that it names', async () => {
    const all = new Map(['one', 'two', 'three'].map((name) => [name, skill(name)]));
    const directory = { skill: async (_workspace: string, name: string) => all.get(name) ?? Promise.reject(new Error('none')) };
    expect((await planSkills(directory, 'default', ['three', 'one'], null)).skills.map(({ name }) => name)).toEqual(['three', 'one']);
  });

  it('add no section to the prompt when there are none', () => {
    const names = turnNames(null, { aliases: true, allow: null, skills: [] });
    expect(systemPrompt({ instructions: 'Be brief.', skills: [] }, names)).toBe('Be brief.');
  });

  it('SKILL.md is not listed as a resource', () => {
    expect(skill('one').resources.map(({ path }) => path)).toEqual(['run.sh']);
    expect(skillText(skill('one'), null)).not.toContain('SKILL.md');
  });

  it('unknown frontmatter, such as version, author and tags, is allowed', () => {
    expect(skill('one')).toMatchObject({ name: 'one', description: 'About one.' });
  });

  it('an unknown skill is reported with the known ones, and without any skills with where they come from', async () => {
    const reader = createSkillReader([skill('one'), skill('two')], () => null);
    const asked = await toolBench({ skills: reader }).run('builtin.use_skill', { name: 'three' });
    expect([asked.isError, asked.text]).toEqual([true, 'Unknown skill "three". Available skills: one, two.']);
    expect((await toolBench().run('builtin.use_skill', { name: 'one' })).text).toContain('Only agents that list skills can use them');
    expect((await toolBench({ skills: reader }).run('builtin.use_skill', { name: ' one ' })).text).toContain('Do it.');
  });
});

import { describe, expect, it } from 'vitest';
import { buildAliasMap, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import { compileEdition } from '../../../src/core/toolset/edition.ts';
import type { Skill } from '../../../src/core/skills/skill.ts';
import { skillsBlock, skillText } from '../../../src/core/skills/skill-prompt.ts';
import { systemPrompt } from '../../../src/core/turn/system-prompt.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { createSkillReader, planSkills, readPlanSkills } from '../../../src/engine/plan/plan-skills.ts';
import { turnNames } from '../../../src/engine/plan/plan-names.ts';
import { Problem } from '../../../src/core/problem.ts';
import { readSkill } from '../../../src/formats/read-skill.ts';
import { toolDefinitions } from '../../../src/tools/registry.ts';

const known = new Map(toolDefinitions().map((definition) => [definition.canonical as string, definition]));

async function namesOf(...tools: object[]): Promise<AliasMap> {
  const toolset = Toolset.parse({ tools });
  const registry = { get: (name: string) => known.get(name), all: () => known.values(), hasServer: () => true };
  const { edition } = await compileEdition({ workspace: 'default', name: 'demo', toolset, known: registry });
  return buildAliasMap(edition, { aliases: true });
}

function skillOf(name: string, frontmatter: string, body: string, resources: Record<string, string> = {}): Skill {
  const content = `---\nname: ${name}\ndescription: About ${name}.\n${frontmatter}\n---\n${body}`;
  const files = Object.entries(resources).map(([path, text]) => ({ path, text }));
  return readSkill(name, { content, resources: files }).skill;
}

const directoryOf = (...skills: Skill[]) => ({
  skill: async (_workspace: string, name: string) => {
    const skill = skills.find((candidate) => candidate.name === name);
    if (skill === undefined) throw new Problem('not_found', 'There is none.');
    return skill;
  },
});

const renamed = () =>
  namesOf({ tool: 'builtin.bash', name: 'terminalRun', aliases: [] }, { tool: 'builtin.read_file', name: 'openDocument', aliases: [] });

describe('the tools that a skill names', () => {
  it('are named as in the plan, in inline code and on separate lines, and nowhere else', async () => {
    const skill = skillOf(
      'deploy',
      'allowed-tools: Bash(git:*) Read',
      'Use the `bash` tool, then `Read` and `read_file`. Run `bash -c x` and read on.\n\n```bash\nbash x\n```\n',
    );
    const text = skillText(skill, await renamed());
    expect(text).toContain('Use the `terminalRun` tool, then `openDocument` and `openDocument`. Run `bash -c x` and read on.');
    expect(text).toContain('```bash\nbash x\n```');
    expect(text).toContain('Its tools have other names here: `Bash` is `terminalRun`, `Read` is `openDocument`.');
    expect(text).not.toContain('Unavailable');
  });

  it.each([
    ['bash', 'terminalRun'],
    ['Bash', 'terminalRun'],
    ['run_shell_command', 'terminalRun'],
    ['execute_command', 'terminalRun'],
    ['Grep', 'terminalRun'],
    ['LS', 'terminalRun'],
    ['Read', 'openDocument'],
    ['builtin.read_file', 'openDocument'],
  ])('%s is %s here', async (name, now) => {
    expect(skillText(skillOf('a', '', `Use \`${name}\`.`), await renamed())).toContain(`Use \`${now}\`.`);
  });

  it('are unchanged where the name means another thing', async () => {
    const body = 'Run `ls`, `grep` and `cat x`; see `README`, `Edit` and `constructor`.';
    expect(skillText(skillOf('a', '', body), await renamed())).toContain(body);
    const plain = await namesOf({ tool: 'builtin.bash', aliases: [] });
    expect(skillText(skillOf('a', 'requires: bash', 'Use `bash`.'), plain)).toBe('# Skill: a\n\n---\n\nUse `bash`.');
  });

  it('that are missing are reported in the prompt and with the text, which is still returned', async () => {
    const names = await renamed();
    const skill = skillOf('mail', 'requires: [send_mail, bash]\nallowed-tools: WebFetch(domain:x) Bash', 'Send it.');
    const {
      skills: [planned],
    } = await planSkills(directoryOf(skill), 'default', ['mail'], names);
    expect(planned).toEqual({ name: 'mail', description: 'About mail.', unavailable: ['send_mail', 'WebFetch'] });
    expect(skillsBlock(planned && [planned], turnNames(names, { aliases: true, allow: null, skills: planned && [planned] }))).toContain(
      '- mail (unavailable: needs send_mail, WebFetch): About mail.',
    );
    expect(skillText(skill, names)).toMatch(/Unavailable: needs `send_mail`, `WebFetch`.*\n\n[\s\S]*Send it\.$/);
  });

  it('count as missing if the agent may not use them, or if no model could', async () => {
    const both = await namesOf({ tool: 'builtin.bash' }, { tool: 'builtin.read_file' });
    const narrow = buildAliasMap(both.edition, { aliases: true, allow: ['builtin.read_file'] });
    const {
      skills: [planned],
    } = await planSkills(directoryOf(skillOf('a', 'requires: bash', 'x')), 'default', ['a'], narrow);
    expect(planned?.unavailable).toEqual(['bash']);
    const {
      skills: [without],
    } = await planSkills(directoryOf(skillOf('a', 'requires: bash', 'x')), 'default', ['a'], null);
    expect(without?.unavailable).toEqual(['bash']);
  });

  it('are both named where two could be meant, and are not missing', async () => {
    const twice = await namesOf({ tool: 'builtin.bash', name: 'one', aliases: [] }, { tool: 'builtin.bash', name: 'two', aliases: [] });
    const text = skillText(skillOf('a', 'requires: bash', 'Use `bash`.'), twice);
    expect(text).toContain('`bash` is `one` or `two`');
    expect(text).toContain('Use `bash`.');
    expect(text).not.toContain('Unavailable');
  });

  it('are not replaced by a pattern', async () => {
    const names = await renamed();
    await planSkills(directoryOf(skillOf('a', 'allowed-tools: Bash(rm:*) Write', 'x')), 'default', ['a'], names);
    expect(names.tools.map(({ canonical }) => canonical)).toEqual(['builtin.bash', 'builtin.read_file']);
  });
});

describe('the skills of a plan', () => {
  const skills = [skillOf('one', '', 'First.'), skillOf('two-words', '', 'Second.', { 'scripts/run.sh': 'ls\n' })];
  const planned = [
    { name: 'one', description: 'About one.\n- two: a line of its own' },
    { name: 'two-words', description: 'x' },
  ];

  it('are listed in one block after the tools, one line each, and byte for byte the same', async () => {
    const names = turnNames(await renamed(), { aliases: true, allow: null, skills: planned });
    const prompt = systemPrompt({ instructions: 'Be brief.', skills: planned }, names);
    expect(prompt.endsWith('- one: About one. - two: a line of its own\n- two-words: x')).toBe(true);
    expect(prompt).toContain('call `use_skill`');
    expect(prompt.indexOf('## Skills')).toBeGreaterThan(prompt.indexOf('terminalRun'));
    expect(systemPrompt({ instructions: 'Be brief.', skills: planned }, names)).toBe(prompt);
  });

  it('that has none adds nothing to the prompt', async () => {
    const names = await renamed();
    expect(turnNames(names, { aliases: true, allow: null })).toBe(names);
    expect(turnNames(null, { aliases: true, allow: null, skills: [] })).toBeNull();
    expect(skillsBlock([], names)).toBe('');
    expect(await readPlanSkills({ skill: () => Promise.reject(new Error('asked')) }, 'default', {})).toEqual([]);
    expect(createSkillReader([], () => names)).toBeNull();
  });

  it('add use_skill, with and without a toolset, before the client tools, and once', async () => {
    const own = { name: 'mine', description: '', inputSchema: { type: 'object' } };
    const plan = { aliases: true, allow: [], skills: planned, clientTools: [own] };
    expect(turnNames(await renamed(), plan)?.tools.map(({ wireName }) => wireName)).toEqual(['use_skill', 'mine']);
    expect(turnNames(null, { ...plan, clientTools: [] })?.tools.map(({ wireName }) => wireName)).toEqual(['use_skill']);
    const listed = await namesOf({ tool: 'builtin.use_skill', name: 'readSkill' });
    const names = turnNames(listed, { aliases: true, allow: null, skills: planned });
    expect(names).toBe(listed);
    expect(skillsBlock(planned, names)).toContain('call `readSkill`');
  });

  it('that were removed are omitted, and those named twice are listed once', async () => {
    const { skills: found } = await planSkills(directoryOf(...skills), 'default', ['gone', 'one', 'one'], null);
    expect(found.map(({ name }) => name)).toEqual(['one']);
  });

  it('that cannot be read at the moment are not treated as missing', async () => {
    const away = { skill: () => Promise.reject(new Problem('upstream_timeout', 'away')) };
    await expect(planSkills(away, 'default', ['one'], null)).rejects.toThrow('away');
  });

  it('name the tools that a conversation discovers with them, where most are given on demand', async () => {
    const body =
      'Use the `bash` tool, `list_directory` and `rm`; then read_file.\n\n```sh\ndelete_file `write_file\n```\nNever `http_request`.';
    const skill = skillOf('tidy', 'allowed-tools: Bash(ls:*) Read', body);
    const own = ['bash', 'list_directory', 'read_file', 'delete_file', 'write_file'].map((name) => ({
      tool: `builtin.${name}`,
      aliases: [],
    }));
    const listed = Toolset.parse({ tools: [{ ...own[0], name: 'terminalRun' }, ...own.slice(1)], onDemandAbove: 2 });
    const registry = { get: (name: string) => known.get(name), all: () => known.values(), hasServer: () => true };
    const { edition } = await compileEdition({ workspace: 'default', name: 'demo', toolset: listed, known: registry });
    const names = buildAliasMap(edition, { aliases: true });
    const told = (offered: AliasMap) => createSkillReader([skill], () => offered)?.tools('Tidy');
    expect(told(names)).toEqual([
      { name: 'terminalRun', canonical: 'builtin.bash' },
      { name: 'read_file', canonical: 'builtin.read_file' },
      { name: 'list_directory', canonical: 'builtin.list_directory' },
    ]);
    expect(told(buildAliasMap({ ...edition, onDemandAbove: 100 }, { aliases: true }))).toEqual([]);
    expect(createSkillReader([skill], () => names)?.tools('none')).toEqual([]);
  });

  it('can be read by their names in any spelling, with their files', async () => {
    const names = await renamed();
    const reader = createSkillReader(skills, () => names);
    expect(reader?.names()).toEqual(['one', 'two-words']);
    expect(reader?.read('Two Words')).toBe(reader?.read('two-words'));
    expect(reader?.read('two-words')).toContain(
      'Its files (read-only; read them with `openDocument` or `terminalRun`). Paths in the text are relative to /skills/two-words/:\n- /skills/two-words/scripts/run.sh (3 bytes)',
    );
    for (const name of ['three', 'constructor', '__proto__', '', '-']) expect(reader?.read(name)).toBeNull();
  });
});

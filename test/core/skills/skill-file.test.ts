import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { readSkillFile, splitToolList } from '../../../src/core/skills/skill-file.ts';
import { skillInstructions, toolOfPattern, toolsOf } from '../../../src/core/skills/skill.ts';
import { isStray, skillPathFault } from '../../../src/core/skills/skill.ts';
import { readFrontmatter } from '../../../src/formats/read-skill.ts';

const read = (frontmatter: string, { name = 'pdf', body = 'Do it.' } = {}) =>
  readSkillFile(name, `---\n${frontmatter}\n---\n\n${body}\n`, readFrontmatter);
const fieldsOf = (frontmatter: string, name = 'pdf') => {
  const skill = read(frontmatter, { name });
  if ('issues' in skill) throw new Error(JSON.stringify(skill.issues));
  return skill.fields;
};
const issuesOf = (frontmatter: string, options?: Parameters<typeof read>[1]): string[] => {
  const skill = read(frontmatter, options);
  return 'issues' in skill ? skill.issues.map(({ path, message }) => `${path}: ${message}`) : [];
};

it('reads allowedTools like allowed-tools, also both together', () => {
  expect(fieldsOf('name: pdf\ndescription: x\nallowedTools: [Read, Bash]').allowedTools).toEqual(['Read', 'Bash']);
  expect(fieldsOf('name: pdf\ndescription: x\nallowed-tools: Read\nallowedTools: Read, Grep').allowedTools).toEqual(['Read', 'Grep']);
  expect(issuesOf('name: pdf\ndescription: x\nallowedTools: 7')).toEqual([expect.stringContaining('allowedTools: must be names of tools')]);
});

describe('SKILL.md', () => {
  it('is parsed with all its fields and keeps unknown ones', () => {
    const fields = fieldsOf(
      'name: pdf\ndescription: |\n  Reads PDF files.\n  Use for forms.\nlicense: MIT\ncompatibility: Needs Python 3\nmetadata:\n  author: acme\n  version: 1.0\nallowed-tools: Bash(python3:*) Read\nrequires: [grep, bash]\nmodel: opus\n',
    );
    expect(fields).toEqual({
      name: 'pdf',
      description: 'Reads PDF files.\nUse for forms.',
      license: 'MIT',
      compatibility: 'Needs Python 3',
      metadata: { author: 'acme', version: '1.0' },
      allowedTools: ['Bash(python3:*)', 'Read'],
      requires: ['grep', 'bash'],
    });
  });

  it('may have a byte order mark and Windows line ends', () => {
    const content = '\ufeff---\r\nname: pdf\r\ndescription: Reads.\r\n---\r\n# Do\r\nit\r\n';
    expect(readSkillFile('pdf', content, readFrontmatter)).toEqual({ fields: { name: 'pdf', description: 'Reads.' }, warnings: [] });
    expect(skillInstructions(content)).toBe('# Do\nit');
  });

  it('keeps a line of dashes further down as text', () => {
    expect(skillInstructions('---\nname: a\ndescription: b\n---\none\n---\ntwo')).toBe('one\n---\ntwo');
  });

  it.each([
    ['# no frontmatter', 'must begin with its frontmatter'],
    ['', 'must begin with its frontmatter'],
    ['\n---\nname: pdf\n---\nx', 'must begin with its frontmatter'],
    ['---', 'unterminated'],
    ['---\nname: pdf\ndescription: x\n', 'unterminated'],
    ['---\nname: pdf\ndescription: x\n---', 'no text below'],
    ['---\nname: pdf\ndescription: x\n---\n \n\t\n', 'no text below'],
    ['---\n- name\n---\nx', 'must be a map'],
    ['---\n---\nx', 'must be a map'],
    ['---\nname: pdf\n\tdescription: x\n---\nx', 'in line 3: tab characters must not be used'],
    ['---\nname: pdf\nname: pdf\ndescription: x\n---\nx', 'in line 3: "name" is given twice'],
    ['---\nname: pdf\ndescription: x\nmetadata: {a: 1, a: 2}\n---\nx', '"a" is given twice'],
    ['---\nname: &n pdf\ndescription: *n\n---\nx', 'uses an alias'],
    ['---\nname: [pdf\n---\nx', 'in line 3: a list [, a map { or a text was not closed'],
    ['---\nname: pdf\ndescription: x\n---\nbell \u0007', 'control character in line 5'],
    ['---\nname: pdf\ndescription: x\n---\nlone \ud800', 'lone surrogate'],
    [`---\nname: pdf\ndescription: x\n---\n${'x'.repeat(limits.maxSkillFileBytes)}`, 'a file of a skill is at most'],
    [`---\nname: pdf\ndescription: x\nlong: ${'x'.repeat(limits.maxFrontmatterBytes)}\n---\nx`, 'has a frontmatter of more than'],
    [`---\ndeep: ${'['.repeat(4000)}${']'.repeat(4000)}\n---\nx`, 'frontmatter'],
  ])('%j is rejected with the reason', (content, reason) => {
    const skill = readSkillFile('pdf', content, readFrontmatter);
    expect(skill).toHaveProperty('issues');
    expect('issues' in skill && skill.issues[0]?.path).toBe('SKILL.md');
    expect('issues' in skill && skill.issues[0]?.message).toContain(reason);
  });

  it.each([
    ['description: x', 'SKILL.md: name: is missing'],
    ['name: pdf', 'SKILL.md: description: is missing'],
    ['name: pdf\ndescription:', 'SKILL.md: description: must be text: put it in quotes'],
    ['name: pdf\ndescription: ""', 'SKILL.md: description: must not be empty'],
    ['name: pdf\ndescription: 42', 'SKILL.md: description: must be text'],
    ['name: pdf\ndescription: [a]', 'SKILL.md: description: must be text'],
    [`name: pdf\ndescription: ${'x'.repeat(1025)}`, 'SKILL.md: description: is longer than 1024'],
    [`name: pdf\ndescription: x\ncompatibility: ${'x'.repeat(501)}`, 'SKILL.md: compatibility: is longer than 500'],
    ['name: pdf\ndescription: x\nlicense: {a: b}', 'SKILL.md: license: must be text'],
    ['name: pdf\ndescription: x\nmetadata: text', 'SKILL.md: metadata: must be a map'],
    ['name: pdf\ndescription: x\nmetadata: {constructor: a}', 'SKILL.md: metadata: has a key'],
    ['name: pdf\ndescription: x\nallowed-tools: 7', 'SKILL.md: allowed-tools: must be names of tools'],
    ['name: pdf\ndescription: x\nallowed-tools: [[Bash]]', 'SKILL.md: allowed-tools'],
    ['name: pdf\ndescription: x\nallowed-tools: Bash(git:*', 'SKILL.md: allowed-tools: has an unmatched bracket'],
    ['name: pdf\ndescription: x\nrequires: {bins: [git]}', 'SKILL.md: requires: must be names of tools'],
    ['name: other\ndescription: x', 'SKILL.md: name: is "other", but the skill (its folder) is called "pdf"'],
    ...['PDF', '-pdf', 'pdf-', 'p--df', 'p_df', 'x'.repeat(65), '"p df"', '""'].map((name) => [
      `name: ${name}\ndescription: x`,
      'SKILL.md: name: must be 1 to 64',
    ]),
  ])('%j is an issue at its field', (frontmatter, issue) => {
    expect(issuesOf(frontmatter).join('\n')).toContain(issue);
  });

  it('reports all errors of the fields', () => {
    expect(issuesOf('name: PDF\ndescription: 1\nallowed-tools: (', { body: '' })).toHaveLength(4);
  });

  it('accepts an unquoted description with a colon, with a warning', () => {
    const skill = read('name: pdf\ndescription: Use when: the user says "forms: fill"');
    expect(skill).toMatchObject({ fields: { description: 'Use when: the user says "forms: fill"' } });
    expect('warnings' in skill && skill.warnings[0]?.message).toContain('The value of description contains ": "');
  });

  it('never throws, whatever the content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 50 }), (frontmatter, body) => {
        expect(readSkillFile('pdf', `---\n${frontmatter}\n---\n${body}`, readFrontmatter)).toBeDefined();
      }),
    );
  });
});

describe('a list of tools', () => {
  it.each([
    ['Bash(git:*) Bash(jq:*) Read', ['Bash(git:*)', 'Bash(jq:*)', 'Read']],
    ['Bash(git add *) Read', ['Bash(git add *)', 'Read']],
    ['Bash(npx checkly:*), Read,Grep', ['Bash(npx checkly:*)', 'Read', 'Grep']],
    ['Bash(a, b (c d)) Read', ['Bash(a, b (c d))', 'Read']],
    ['', []],
    ['Bash(', null],
    ['Bash)', null],
  ])('%j is split outside its brackets', (text, entries) => {
    expect(splitToolList(text)).toEqual(entries);
  });

  it('returns the tool of a pattern, each tool once', () => {
    expect(['Bash(git:*)', 'Read', 'mcp__x__y', '(odd)'].map(toolOfPattern)).toEqual(['Bash', 'Read', 'mcp__x__y', '(odd)']);
    expect(toolsOf({ requires: ['grep'], allowedTools: ['Bash(git:*)', 'Bash(jq:*)', 'grep'] })).toEqual(['grep', 'Bash']);
  });
});

describe('the path of a resource', () => {
  it.each(['a.txt', 'scripts/run.sh', 'deep/er/and/deeper.md', 'ünïcode name.txt', 'a..b', 'SKILL.md'])('may be %j', (path) => {
    expect(skillPathFault(path)).toBeNull();
  });

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'a/../../x',
    'a/..',
    './a',
    'a//b',
    'a/',
    'C:/x',
    'c:x',
    'a\\b',
    '..\\x',
    'a\u0000b',
    'a\nb',
    'a\u202eb',
    'x\ud800',
    'x'.repeat(300),
  ])('is never %j', (path) => {
    expect(skillPathFault(path)).toEqual(expect.any(String));
  });

  it('never leads out of the folder', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', '/', 'a', '\\', '', 'b')), (parts) => {
        const path = parts.join('/');
        if (skillPathFault(path) !== null) return;
        expect(new URL(path, 'https://x.example/skills/s/').pathname.startsWith('/skills/s/')).toBe(true);
      }),
    );
  });

  it('is skipped if it is a stray file', () => {
    expect(['.git/config', 'a/.DS_Store', '__MACOSX/._x', 'node_modules/x/y.js', 'Thumbs.db'].every(isStray)).toBe(true);
    expect(['git/config', 'scripts/a.b'].some(isStray)).toBe(false);
  });
});

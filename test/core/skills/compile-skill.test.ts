import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { compileSkill } from '../../../src/core/skills/compile-skill.ts';
import type { Skill } from '../../../src/core/skills/skill.ts';
import { readFrontmatter, readSkill } from '../../../src/formats/read-skill.ts';
import { writeYaml } from '../../../src/formats/write-yaml.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const tools = [toolOf('fs', 'read_file'), toolOf('fs', 'run'), toolOf('web', 'run'), toolOf('builtin', 'bash', { kind: 'builtin' })];
const document = {
  tools: [
    { tool: 'fs.read_file', name: 'open', aliases: ['see'] },
    { tool: 'fs.run', name: 'go' },
    { tool: 'web.run', name: 'surf' },
    { tool: 'builtin.bash', name: 'shell', aliases: [] },
  ],
};

async function compiled(content: string, files: Record<string, string> = {}) {
  const { edition } = await compile(document, knownTools(tools));
  const resources = Object.entries(files).map(([path, text]) => ({ path, text }));
  const { skill } = readSkill('notes', { content, resources });
  const form = { read: readFrontmatter, write: writeYaml };
  return { skill, result: await compileSkill(skill, buildAliasMap(edition, { aliases: true }), form) };
}
const head = '---\nname: notes\ndescription: Writes notes.\n';
const sha = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

describe('a skill in an edition', () => {
  it.each([
    ['is renamed by its own name', 'allowed-tools: read_file', { 'allowed-tools': 'open' }],
    ['is renamed by the name of another program', 'allowed-tools: Read Bash', { 'allowed-tools': 'open shell' }],
    ['keeps its pattern', 'allowed-tools: Bash(git add:*) read_file', { 'allowed-tools': 'shell(git add:*) open' }],
    ['stays if two tools have the name', 'allowed-tools: run', { 'allowed-tools': 'run' }],
    ['stays if no tool has the name', 'allowed-tools: deploy', { 'allowed-tools': 'deploy' }],
    [
      'is renamed in a list, and in `requires`',
      'allowed-tools:\n  - read_file\nrequires: [fs.run]',
      { 'allowed-tools': ['open'], requires: ['go'] },
    ],
    ['stays if it has the name already', 'allowed-tools: open', { 'allowed-tools': 'open' }],
  ])('names the tools of its frontmatter as in the toolset: one %s', async (_what, line, expected) => {
    const { result } = await compiled(`${head}${line}\n---\nText.\n`);
    expect(result.frontmatter).toEqual({ name: 'notes', description: 'Writes notes.', ...expected });
    // Clients compare both, and refuse a skill where they differ.
    const [, yaml = ''] = /^---\n([\s\S]*?)---\n/.exec(result.content) ?? [];
    expect(readFrontmatter(yaml)).toEqual({ fields: result.frontmatter, warnings: [] });
  });

  it('has the current names in inline code, and leaves fences and prose', async () => {
    const text = 'Call `read_file`, then `see` and `run`.\n\n```\nread_file x\n```\nread_file is a tool.\n';
    const { result } = await compiled(`${head}---\n${text}`);
    expect(result.content).toContain('Call `open`, then');
    expect(result.content).toContain('```\nread_file x\n```');
  });

  it('is as its author wrote it, byte for byte, if no name changes', async () => {
    const content = `${head}# A comment\nmetadata:   {b: "1"}\nallowed-tools:   open\n---\n\nText\twith \`open\`.\n`;
    const { result } = await compiled(content);
    expect(result.content).toBe(content);
  });

  it('has the digest and size of each file as clients compute them', async () => {
    const { result } = await compiled(`${head}allowed-tools: Read\n---\nText ü.\n`, { 'a/b.md': 'größe\n', 'c.sh': 'ls\n' });
    expect(result).toMatchObject({ digest: sha(result.content), bytes: Buffer.byteLength(result.content) });
    expect(result.resources).toMatchObject([
      { path: 'a/b.md', digest: sha('größe\n'), bytes: 8 },
      { path: 'c.sh', digest: sha('ls\n'), bytes: 3 },
    ]);
  });

  it('writes frontmatter that only our reader understands so that every reader does', async () => {
    const { result } = await compiled('---\nname: notes\ndescription: Use this: always.\n---\nText.\n');
    expect(result.frontmatter).toEqual({ name: 'notes', description: 'Use this: always.' });
    const [, yaml = ''] = /^---\n([\s\S]*?)---\n/.exec(result.content) ?? [];
    expect(readFrontmatter(yaml)).toEqual({ fields: result.frontmatter, warnings: [] });
  });

  it('cannot end its own frontmatter with a text of it', async () => {
    const skill = (await compiled(`${head}license: "a\\n---\\nb"\nallowed-tools: Read\n---\nText.\n`)).result as unknown as Skill;
    expect(readSkill('notes', { content: skill.content, resources: [] }).skill.license).toBe('a\n---\nb');
  });
});

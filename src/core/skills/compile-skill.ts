/**
 * Compiles the skills of a toolset into its edition: their texts and tool lists have the names of its tools, so that a version is whole, and
 * a rollback takes its skills along.
 */
import { sha256HexOfBytes } from '../hash.ts';
import { rewriteNames } from '../names/rewrite-names.ts';
import { invalidRequest, type Warning } from '../problem.ts';
import { utf8Length } from '../text/utf8.ts';
import { buildAliasMap, type AliasMap } from '../toolset/alias-map.ts';
import { editionBytes, maxEditionBytes } from '../toolset/edition.ts';
import type { EditionSkill } from '../toolset/edition-skill.ts';
import type { Edition } from '../toolset/edition-tool.ts';
import type { KnownTools } from '../toolset/known-tools.ts';
import { resourceBytes, type Skill, splitSkillFile } from './skill.ts';
import { type FrontmatterReader, splitToolList } from './skill-file.ts';
import { readSkillNames, renameEntries, skillNameLookup } from './skill-names.ts';

/** Reads and writes YAML, which needs a library. */
export type FrontmatterForm = { read: FrontmatterReader; write(fields: Record<string, unknown>): string };

/** The fields of the frontmatter that list tools. */
const toolFields = ['allowed-tools', 'allowedTools', 'requires'] as const;

/** A skill that does not exist is left out, with a warning. Throws `invalid_request` if the edition becomes too large. */
export async function compileSkills(
  edition: Edition,
  wanted: readonly string[],
  known: Pick<KnownTools, 'skill'>,
  form: FrontmatterForm,
): Promise<{ edition: Edition; warnings: Warning[] }> {
  const names = buildAliasMap(edition, { aliases: true });
  const skills: EditionSkill[] = [];
  const warnings: Warning[] = [];
  for (const [index, name] of wanted.entries()) {
    const path = `skills[${index}]`;
    if (wanted.indexOf(name) < index) throw invalidRequest([{ path, message: `"${name}" is listed twice` }]);
    const skill = known.skill?.(name);
    if (skill === undefined) {
      warnings.push({ path, message: `The skill "${name}" does not exist yet. The toolset is compiled without it until it is created.` });
      continue;
    }
    const { missing } = readSkillNames(skill, names);
    if (missing.length > 0)
      warnings.push({ path, message: `The skill "${name}" needs ${missing.join(', ')}, which matches no tool of this toolset.` });
    skills.push(await compileSkill(skill, names, form));
  }
  if (skills.length === 0) return { edition, warnings };
  const compiled = { ...edition, skills };
  if (utf8Length(editionBytes(compiled)) <= maxEditionBytes) return { edition: compiled, warnings };
  const message = `with its skills the edition is larger than ${maxEditionBytes} bytes; list fewer skills, or shorten their files`;
  throw invalidRequest([{ path: 'skills', message }]);
}

export async function compileSkill(skill: Skill, names: AliasMap, form: FrontmatterForm): Promise<EditionSkill> {
  const parts = splitSkillFile(skill.content);
  const read = 'fault' in parts ? parts : form.read(parts.frontmatter);
  // Stored skills were parsed by the same code.
  if ('fault' in parts || !('fields' in read)) throw new Error(`the stored skill ${skill.name} cannot be read`);
  const renamed = Object.fromEntries(
    toolFields.flatMap((field) => (field in read.fields ? [[field, renameList(read.fields[field], names)]] : [])),
  );
  const frontmatter = { ...read.fields, ...renamed };
  // Only what our reader understands as well as others is left as its author wrote it.
  const isSame = read.warnings.length === 0 && toolFields.every((field) => same(read.fields[field], renamed[field]));
  const head = isSame ? parts.frontmatter : form.write(frontmatter);
  const content = `---\n${head}---${rewriteNames(parts.instructions, skillNameLookup(skill, names))}`;
  const bytes = new TextEncoder().encode(content);
  const { allowedTools, requires } = skill;
  return {
    ...skill,
    ...(allowedTools && { allowedTools: renameEntries(allowedTools, names) }),
    ...(requires && { requires: renameEntries(requires, names) }),
    content,
    bytes: bytes.byteLength,
    digest: await digestOf(bytes),
    frontmatter,
    resources: await Promise.all(skill.resources.map(async (file) => ({ ...file, digest: await digestOf(resourceBytes(file)) }))),
  };
}

function renameList(value: unknown, names: AliasMap): unknown {
  if (typeof value === 'string') return renameEntries(splitToolList(value) ?? [], names).join(' ');
  return Array.isArray(value) ? renameEntries(value.map(String), names) : value;
}

function same(one: unknown, other: unknown): boolean {
  const words = (value: unknown): string => (typeof value === 'string' ? (splitToolList(value) ?? []).join(' ') : JSON.stringify(value));
  return words(one) === words(other);
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  return `sha256:${await sha256HexOfBytes(bytes)}`;
}

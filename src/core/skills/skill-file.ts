/**
 * Parses `SKILL.md` and its resource files into a skill, by the rules of Open Agent Skills (agentskills.io/specification) and our
 * own. Pure: the YAML reader is a parameter (`formats/read-skill.ts`), since it needs a library. Used by the Catalog, which checks
 * every written skill, whatever its source.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { type Issue, parsePart } from '../problem.ts';
import { isObjectMember } from '../names/reserved-names.ts';
import { skillFile, SkillName, splitSkillFile, type SkillFields } from './skill.ts';
import { utf8Length } from '../text/utf8.ts';

const maxSkillLicenseLength = 500;
/** Tools named in `allowed-tools`, and in `requires`. */
const maxSkillTools = 100;

/** Parses YAML to data: fields unchanged, values of `metadata` as text. A fault includes the line if it is known. */
export type FrontmatterReader = (text: string) => { fields: Record<string, unknown>; warnings: string[] } | { faults: string[] };

type ReadSkillFile = { fields: SkillFields; warnings: Issue[] } | { issues: Issue[] };

/** `name`: the expected name of the skill; its frontmatter must contain the same. */
export function readSkillFile(name: string, content: string, readFrontmatter: FrontmatterReader): ReadSkillFile {
  const refuse = (...messages: string[]): ReadSkillFile => ({ issues: messages.map((message) => ({ path: skillFile, message })) });
  const bytes = utf8Length(content);
  if (bytes > limits.maxSkillFileBytes) return refuse(`is ${bytes} bytes; a file of a skill is at most ${limits.maxSkillFileBytes}`);
  if (!content.isWellFormed()) return refuse('is not valid Unicode (a lone surrogate)');
  const control = controlCharacter.exec(content);
  if (control !== null)
    return refuse(`contains a control character in line ${content.slice(0, control.index).split('\n').length}. It must be plain text`);
  const parts = splitSkillFile(content);
  if ('fault' in parts) return refuse(parts.fault);
  if (utf8Length(parts.frontmatter) > limits.maxFrontmatterBytes)
    return refuse(`has a frontmatter of more than ${limits.maxFrontmatterBytes} bytes`);
  const frontmatter = readFrontmatter(parts.frontmatter);
  if ('faults' in frontmatter) return refuse(...frontmatter.faults);
  const parsed = parsePart(Frontmatter, frontmatter.fields);
  const issues = 'issues' in parsed ? parsed.issues.map(({ path, message }) => ({ path: `${skillFile}: ${path}`, message })) : [];
  if (parts.instructions.trim() === '')
    issues.push({ path: skillFile, message: 'has no text below the frontmatter, where the instructions belong' });
  if ('issues' in parsed || issues.length > 0) return { issues };
  const fields = toFields(parsed.data);
  if (fields.name !== name) {
    const message = `is ${JSON.stringify(fields.name)}, but the skill (its folder) is called ${JSON.stringify(name)}: they must be equal`;
    return { issues: [{ path: `${skillFile}: name`, message }] };
  }
  return { fields, warnings: frontmatter.warnings.map((message) => ({ path: skillFile, message })) };
}

/**
 * All control characters except tab and line ends. JSON writes each with six characters, so they would also make a stored skill six
 * times larger.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point.
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

const quoted = 'must be text: put it in quotes';

/** YAML reads `compatibility:` without a value as null, which means the same as an absent line. */
const optionalText = (max: number) =>
  z
    .string(quoted)
    .max(max, { message: `is longer than ${max} characters` })
    .nullish();

const ToolList = z
  .union([z.string(), z.array(z.string())], 'must be names of tools: one text with spaces between, or a list')
  .nullish()
  .transform((given, context): string[] => {
    const entries = typeof given === 'string' ? splitToolList(given) : (given ?? []).map((entry) => entry.trim());
    const fault = faultOf(entries);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
    return [...new Set(entries ?? [])];
  });

function faultOf(entries: readonly string[] | null): string | null {
  if (entries === null) return 'has an unmatched bracket';
  if (entries.length > maxSkillTools) return `names more than ${maxSkillTools} tools`;
  if (entries.some((entry) => entry === '')) return 'has an empty name';
  return entries.some((entry) => entry.length > limits.maxToolNameLength)
    ? `has a name of more than ${limits.maxToolNameLength} characters`
    : null;
}

/** Unknown fields are accepted: the format is growing, and other clients have their own. */
const Frontmatter = z.object({
  name: z.string(quoted).pipe(SkillName),
  description: z
    .string(quoted)
    .trim()
    .min(1, { message: 'must not be empty: it tells a model when to use the skill' })
    .max(1024, { message: 'is longer than 1024 characters' }),
  license: optionalText(maxSkillLicenseLength),
  compatibility: optionalText(500),
  metadata: z
    // The format requires text; nested values are stored as JSON, since nothing here reads them.
    .record(z.string(), z.unknown(), 'must be a map of texts')
    .refine((metadata) => !Object.keys(metadata).some(isObjectMember), { message: 'has a key that every JavaScript object has' })
    .nullish(),
  'allowed-tools': ToolList,
  // The spelling of other skill formats, with the same meaning.
  allowedTools: ToolList,
  requires: ToolList,
});

function toFields(parsed: z.infer<typeof Frontmatter>): SkillFields {
  const { name, description, license, compatibility, metadata, requires } = parsed;
  const allowedTools = [...new Set([...parsed['allowed-tools'], ...parsed.allowedTools])];
  return {
    name,
    description,
    ...(typeof license === 'string' && { license }),
    ...(typeof compatibility === 'string' && { compatibility }),
    ...(metadata && {
      metadata: Object.fromEntries(
        Object.entries(metadata).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value ?? null)]),
      ),
    }),
    ...(allowedTools.length > 0 && { allowedTools }),
    ...(requires.length > 0 && { requires }),
  };
}

// The tool lists in a skill's frontmatter: `allowed-tools: Bash(git:*) Read`, or a YAML list. A pattern in brackets is stored unchanged
// and grants nothing here: the plan decides what may be called (contract §3.6).

/**
 * Splits a text into entries: separated by white space (agentskills.io/specification, "allowed-tools") or by commas, which many
 * published skills use; text in brackets is never split. null: unmatched bracket.
 */
export function splitToolList(text: string): string[] | null {
  const entries: string[] = [];
  let entry = '';
  let depth = 0;
  const end = (): void => {
    if (entry !== '') entries.push(entry);
    entry = '';
  };
  for (const character of text) {
    if (depth === 0 && /[\s,]/.test(character)) end();
    else entry += character;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0) return null;
  }
  end();
  return depth === 0 ? entries : null;
}

/**
 * A skill as the workspace stores it: the fields of its `SKILL.md`, parsed when it is written (`skill-file.ts`), and its resource
 * files (contract §8). `engine/plan/plan-skills.ts` selects what a turn gets.
 */
import * as z from 'zod';
import { fromBase64, toBase64 } from '../text/bytes.ts';
import { limits } from '../limits/limits.ts';
import { utf8Text } from '../text/utf8.ts';
import { resolvePath } from '../text/path.ts';
import type { SkillFields, SkillResource, StoredSkill } from '../toolset/edition-skill.ts';

/** Open Agent Skills (agentskills.io/specification, "name"): equals the name of its folder. */
export const SkillName = z.string().regex(/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/, {
  message: 'must be 1 to 64 of a-z, 0-9 and "-", with no "-" at either end and none doubled',
});

const bytes = z.int().min(0).meta({ description: 'Size in bytes; ignored on writes.' });

/** The files of a skill in JSON, as they are written. */
export const skillFiles = {
  content: z.string().meta({ description: `The text of SKILL.md, at most ${limits.maxSkillFileBytes} bytes.` }),
  resources: z
    .record(
      z.string(),
      z.union([
        z.string(),
        z.strictObject({ text: z.string(), bytes: bytes.optional() }),
        z.strictObject({ base64: z.base64(), bytes: bytes.optional() }),
      ]),
    )
    .default({})
    .meta({
      description: `Resource files by path: text, \`{"text"}\` or \`{"base64"}\`. At most ${limits.maxSkillResources}, ${limits.maxSkillFileBytes} bytes each, ${limits.maxSkillBytes} in total with SKILL.md.`,
    }),
};

export type { SkillFields };
export type Skill = StoredSkill;

/** A skill in the plan of a turn. `unavailable`: tool names that no tool of the plan matches. `ofToolset`: its edition has the text. */
export type PlanSkill = { name: string; description: string; unavailable?: string[]; ofToolset?: true };

/** The folder in which a turn's file tools find the resources of its skills. */
export const skillsFolder = '/skills';

export function skillFolder(name: string): string {
  return `${skillsFolder}/${name}`;
}

/** Every issue of the text has this name in its path: `SKILL.md: description`. */
export const skillFile = 'SKILL.md';

/** Returns the Markdown below the frontmatter of a valid skill. */
export function skillInstructions(content: string): string {
  const parts = splitSkillFile(content);
  return 'fault' in parts ? content : parts.instructions.trim();
}

/** Splits the frontmatter, which is between two lines of `---` at the start of the file. Accepts a byte order mark and CRLF. */
export function splitSkillFile(content: string): { frontmatter: string; instructions: string } | { fault: string } {
  const text = content.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  if (!/^---[ \t]*(\n|$)/.test(text))
    return { fault: 'must begin with its frontmatter: a line ---, name: and description:, and another line ---' };
  const body = text.indexOf('\n') + 1;
  const close = /^---[ \t]*$/m.exec(text.slice(body));
  if (body === 0 || close === null) return { fault: 'has an unterminated frontmatter: close it with a line ---' };
  return { frontmatter: text.slice(body, body + close.index), instructions: text.slice(body + close.index + close[0].length) };
}

/** `Bash(git add:*)` → `Bash`: returns the tool of a pattern. */
export function toolOfPattern(entry: string): string {
  const bracket = entry.indexOf('(');
  return (bracket <= 0 ? entry : entry.slice(0, bracket)).trim();
}

/** Returns the tools that a skill names as its own, without duplicates, in the order of the frontmatter. */
export function toolsOf(skill: { allowedTools?: readonly string[]; requires?: readonly string[] }): string[] {
  return [...new Set([...(skill.requires ?? []), ...(skill.allowedTools ?? [])].map(toolOfPattern))];
}

// The content of a resource file: text is stored as text, other bytes as base64; and the conversion back to bytes.

/** The input form: either `text` or `base64`. */
export type GivenResource = { path: string; text?: string; base64?: string };

/** Returns the resources of a skill in JSON as a list. */
export function givenResources(resources: z.infer<typeof skillFiles.resources>): GivenResource[] {
  return Object.entries(resources).map(([path, given]) => {
    if (typeof given === 'string') return { path, text: given };
    return { path, ...('text' in given ? { text: given.text } : { base64: given.base64 }) };
  });
}

/**
 * Returns the canonical form of the content, so that the same skill gives the same document whatever its source. A string is an error
 * message.
 */
export function toResource({ path, text, base64 }: GivenResource): SkillResource | string {
  if (text !== undefined && !text.isWellFormed()) return 'is not valid Unicode (a lone surrogate): send such bytes as base64';
  const content = text !== undefined ? new TextEncoder().encode(text) : fromBase64(base64 ?? '');
  if (content === null) return 'is not valid base64';
  if (content.byteLength > limits.maxSkillFileBytes)
    return `is ${content.byteLength} bytes; a file of a skill is at most ${limits.maxSkillFileBytes}`;
  const plain = toPlainText(content);
  return { path, bytes: content.byteLength, ...(plain === null ? { base64: toBase64(content) } : { text: plain }) };
}

export function resourceBytes({ text, base64 }: Pick<SkillResource, 'text' | 'base64'>): Uint8Array {
  return text !== undefined ? new TextEncoder().encode(text) : (fromBase64(base64 ?? '') ?? new Uint8Array());
}

/**
 * Returns null for bytes that are not text, or text with control characters: JSON writes each with six characters, and half a
 * megabyte of them would not fit in a row.
 */
export function toPlainText(content: Uint8Array): string | null {
  const text = utf8Text(content);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them.
  return text === null || /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text) ? null : text;
}

// Paths of a skill's resource files: relative, with `/`, below the skill's folder. They come from JSON, zip archives and local folders,
// with the same rules.

/** Returns why the path is invalid in a skill, apart from its length; null if it is valid. The message follows the path. */
export function skillPathFault(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.includes('\\')) return 'has a backslash: separate folders with /';
  if (path.startsWith('/')) return 'is absolute: make it relative to the folder of SKILL.md';
  if (/^[a-zA-Z]:/.test(path)) return 'begins with a drive letter: make it relative to the folder of SKILL.md';
  if (path.endsWith('/')) return 'names a folder: list files only';
  const segments = path.split('/');
  if (segments.includes('..')) return 'leaves its folder with ..';
  if (segments.includes('') || segments.includes('.')) return 'has an empty part or a "."';
  const resolved = resolvePath(path, '/');
  return resolved.ok ? null : resolved.reason;
}

/** Files that operating systems and tools create: skipped with a warning, not refused. */
export function isStray(path: string): boolean {
  return path.split('/').some((segment) => segment.startsWith('.') || strayNames.has(segment));
}

const strayNames: ReadonlySet<string> = new Set(['__MACOSX', '__pycache__', 'node_modules', 'Thumbs.db', 'desktop.ini']);

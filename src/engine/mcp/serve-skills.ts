/**
 * The skills of a toolset for MCP clients: files as resources `skill://<name>/<path>`, and the entries of the extension
 * `io.modelcontextprotocol/skills` (SEP-2640; modelcontextprotocol/ext-skills, `specification/stable/skills.mdx`, 2026-09). Everything comes from the
 * edition, so that a version of the toolset always serves the same files under the same digests.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { Problem, quoted } from '../../core/problem.ts';
import { skillFile } from '../../core/skills/skill.ts';
import type { EditionSkill, SkillResource } from '../../core/toolset/edition-skill.ts';
import type { Edition } from '../../core/toolset/edition-tool.ts';
import { type ServedView, toolsBehind } from './serve-view.ts';

const folderType = 'inode/directory';

/** `Skill` of the extension. */
type SkillEntry = { uri: string; frontmatter: Record<string, unknown>; resources: { uri: string; digest: string; size: number }[] };
type Listed = { uri: string; name: string; description?: string; mimeType: string; size?: number };
type Served = {
  entries: readonly SkillEntry[];
  /** `SKILL.md` of each skill. */
  listed: readonly Listed[];
  files: ReadonlyMap<string, SkillResource>;
  folders: ReadonlyMap<string, readonly Listed[]>;
};

export function hasSkills(view: Pick<ServedView, 'names'>): boolean {
  return (toolsBehind(view).edition.skills ?? []).length > 0;
}

export function servedSkills(view: Pick<ServedView, 'names'>): Served {
  return skillsOf(toolsBehind(view).edition);
}

/** Throws `not_found`. */
export function getSkill(view: Pick<ServedView, 'names'>, uri: string): SkillEntry {
  const entry = servedSkills(view).entries.find((one) => one.uri === uri);
  if (entry === undefined) throw new Problem('not_found', `There is no skill ${quoted(uri)} here.`);
  return entry;
}

/** Returns the direct children of a folder of a skill. Throws `not_found`, also for a file. */
export function listSkillFolder(view: Pick<ServedView, 'names'>, uri: string): readonly Listed[] {
  const { folders, files } = servedSkills(view);
  const found = folders.get(uri);
  if (found !== undefined) return found;
  throw new Problem('not_found', files.has(uri) ? `${quoted(uri)} is a file, not a folder.` : `There is no folder ${quoted(uri)} here.`);
}

/** Returns the result of `resources/read`; null: the URI is not that of a skill's file. */
export function readSkillUri(view: Pick<ServedView, 'names'>, uri: string): { contents: Record<string, unknown>[] } | null {
  if (!hasSkills(view)) return null;
  const file = servedSkills(view).files.get(uri);
  if (file === undefined) return null;
  const content = file.text === undefined ? { blob: file.base64 ?? '' } : { text: file.text };
  return { contents: [{ uri, mimeType: typeOf(file), ...content }] };
}

const skillsOf = memoizeByObject(({ skills = [] }: Edition): Served => {
  const files = new Map<string, SkillResource>();
  const folders = new Map<string, Listed[]>();
  const entries = skills.map((skill): SkillEntry => {
    const resources = filesOf(skill).map(({ digest, ...file }) => {
      const uri = uriOf(skill, file.path);
      files.set(uri, file);
      addTo(folders, skill, file);
      return { uri, digest, size: file.bytes };
    });
    return { uri: uriOf(skill, skillFile), frontmatter: skill.frontmatter, resources };
  });
  const listed = skills.map(({ name, description, bytes }) => {
    return { uri: uriOf({ name }, skillFile), name, description, mimeType: 'text/markdown', size: bytes };
  });
  return { entries, listed, files, folders };
});

function filesOf({ content, bytes, digest, resources }: EditionSkill): EditionSkill['resources'] {
  return [{ path: skillFile, text: content, bytes, digest }, ...resources];
}

/** Adds a file, and the folders in which it is, to their folders. */
function addTo(folders: Map<string, Listed[]>, skill: EditionSkill, file: SkillResource): void {
  const parts = file.path.split('/');
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const path = parts.slice(0, depth).join('/');
    const name = parts[depth - 1] ?? '';
    const folder = uriOf(skill, parts.slice(0, depth - 1).join('/'));
    const children = folders.get(folder) ?? [];
    folders.set(folder, children);
    const isFile = depth === parts.length;
    const uri = uriOf(skill, path);
    if (!children.some((child) => child.uri === uri))
      children.push({ uri, name, mimeType: isFile ? typeOf(file) : folderType, ...(isFile && { size: file.bytes }) });
  }
}

/** Paths have characters that URIs encode; names of skills have none. */
function uriOf({ name }: Pick<EditionSkill, 'name'>, path: string): string {
  return path === '' ? `skill://${name}` : `skill://${name}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

const types: Readonly<Record<string, string>> = {
  ...{
    md: 'text/markdown',
    json: 'application/json',
    html: 'text/html',
    csv: 'text/csv',
    yaml: 'application/yaml',
    yml: 'application/yaml',
  },
  ...{ py: 'text/x-python', js: 'text/javascript', sh: 'text/x-shellscript', pdf: 'application/pdf', png: 'image/png', jpg: 'image/jpeg' },
};

function typeOf({ path, text }: SkillResource): string {
  const known = types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  return known ?? (text === undefined ? 'application/octet-stream' : 'text/plain');
}

/**
 * `MONIKER_SKILLS_DIR`: every `<name>/SKILL.md` in it, or the one of the folder itself, is written at the start, over the public API.
 * One that is as it was makes no new version; a broken one is told and the others are loaded; one that is gone from the folder stays
 * where it is until somebody deletes it. Nothing outside the folder is read.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { limits } from '../core/limits.ts';
import { skillFile } from '../core/skills/skill-file.ts';
import { isStray } from '../core/skills/skill-path.ts';
import { toBase64 } from '../core/text/bytes.ts';
import { toPlainText } from '../core/skills/skill-resource.ts';
import { type ApiClient, ApiRefusal } from './api-client.ts';
import { StartFailure } from './start-failure.ts';

/** `notes`: what was not loaded and why, and what was left out. */
export type LoadedSkills = { folder: string; names: string[]; notes: string[] };

/** More than one person keeps; a folder of something else should not become thousands of requests. */
const maxSkills = 200;
const maxDepth = 16;

export async function loadSkills(client: Pick<ApiClient, 'put'>, folder: string): Promise<LoadedSkills> {
  const loaded: LoadedSkills = { folder, names: [], notes: [] };
  for (const { name, path } of findSkills(folder, loaded.notes)) {
    try {
      const { body, notes } = readSkillFolder(folder, path);
      const { warnings } = await client.put<{ warnings: { message: string }[] }>(`/v1/skills/${encodeURIComponent(name)}`, body);
      loaded.names.push(name);
      loaded.notes.push(...[...notes, ...warnings.map(({ message }) => message)].map((note) => `skill ${name}: ${note}`));
    } catch (error) {
      // A file that may not be read is the skill's fault, too; fs errors carry a code.
      if (!(error instanceof StartFailure) && !(error instanceof Error && 'code' in error)) throw error;
      loaded.notes.push(`skill ${name} was not loaded: ${error instanceof ApiRefusal ? error.detail : error.message}`);
    }
  }
  return loaded;
}

function findSkills(folder: string, notes: string[]): { name: string; path: string }[] {
  const entries = list(folder);
  if (entries === null) {
    notes.push(`MONIKER_SKILLS_DIR is ${folder}, where there is no folder that can be read`);
    return [];
  }
  if (entries.includes(skillFile)) return [{ name: basename(resolve(folder)), path: folder }];
  const skills = entries
    .filter((name) => !isStray(name) && list(join(folder, name))?.includes(skillFile) === true)
    .map((name) => ({ name, path: join(folder, name) }));
  if (skills.length === 0) notes.push(`MONIKER_SKILLS_DIR is ${folder}, where no folder holds a ${skillFile}`);
  if (skills.length > maxSkills) notes.push(`MONIKER_SKILLS_DIR holds ${skills.length} skills; the first ${maxSkills} were loaded`);
  return skills.slice(0, maxSkills);
}

/** null: no folder, or none that may be read. */
function list(path: string): string[] | null {
  try {
    return readdirSync(path).sort();
  } catch {
    // Whatever the reason, there is nothing to be had here; who needs it says so.
    return null;
  }
}

type SkillBody = { content: string; resources: Record<string, string | { base64: string }> };

function readSkillFolder(root: string, path: string): { body: SkillBody; notes: string[] } {
  const notes: string[] = [];
  const resources: SkillBody['resources'] = {};
  let content: string | null = null;
  let total = 0;
  for (const file of filesIn(realPath(root), path, notes)) {
    const name = relative(path, file).split(sep).join('/');
    const { size } = statSync(file);
    total += size;
    if (size > limits.maxSkillFileBytes)
      throw new StartFailure(`${name} is ${size} bytes; a file of a skill is at most ${limits.maxSkillFileBytes}`);
    if (total > limits.maxSkillBytes) throw new StartFailure(`its files are more than the ${limits.maxSkillBytes} bytes of a skill`);
    const bytes = readFileSync(file);
    const text = toPlainText(bytes);
    if (name === skillFile && text === null) throw new StartFailure(`${skillFile} is not plain UTF-8 text`);
    if (name === skillFile) content = text;
    else resources[name] = text ?? { base64: toBase64(bytes) };
  }
  if (content === null) throw new StartFailure(`its ${skillFile} is no file of the folder`);
  return { body: { content, resources }, notes };
}

/** Links are followed to files in `root` and nowhere else: a skill is text for a model, and the rest of the disk is none of it. */
function filesIn(root: string, folder: string, notes: string[]): string[] {
  const files: string[] = [];
  const walk = (path: string, depth: number): void => {
    if (depth > maxDepth) throw new StartFailure(`its folders are nested deeper than ${maxDepth}`);
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (isStray(entry.name)) continue;
      const at = join(path, entry.name);
      if (entry.isDirectory()) walk(at, depth + 1);
      else if (entry.isFile() || (entry.isSymbolicLink() && leadsToFileIn(root, at))) files.push(at);
      else notes.push(`${relative(folder, at)} was left out: it is a link out of the folder or to another one, or no file`);
      if (files.length > limits.maxSkillResources + 1) throw new StartFailure(`it has more than ${limits.maxSkillResources} files`);
    }
  };
  if (!isIn(root, realPath(folder))) throw new StartFailure('it is a link out of the folder of skills');
  walk(folder, 0);
  return files;
}

function leadsToFileIn(root: string, path: string): boolean {
  try {
    const target = realpathSync(path);
    return isIn(root, target) && statSync(target).isFile();
  } catch {
    // It leads nowhere, or in a circle.
    return false;
  }
}

function isIn(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}${sep}`);
}

function realPath(path: string): string {
  return realpathSync(resolve(path));
}

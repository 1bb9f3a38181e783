/**
 * `MONIKER_SKILLS_DIR`: writes every `<name>/SKILL.md` in it, or the one in the folder itself, at each start over the public API. An
 * unchanged skill creates no new version; an invalid one is reported and the others are loaded; a skill that was removed from the folder
 * stays in the workspace until it is deleted. Nothing outside the folder is read.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { limits } from '../../core/limits/limits.ts';
import { skillFile, isStray, toPlainText } from '../../core/skills/skill.ts';
import { toBase64 } from '../../core/text/bytes.ts';
import { type MonikerClient, MonikerError } from '../../../client/src/index.ts';
import { StartFailure } from './start-failure.ts';

/** `notes`: skills that were not loaded, with the reason, and skipped files. */
export type LoadedSkills = { folder: string; names: string[]; notes: string[] };

/** More than a user typically has; an unrelated folder must not cause thousands of requests. */
const maxSkills = 200;
const maxDepth = 16;

export async function loadSkills(client: MonikerClient, folder: string): Promise<LoadedSkills> {
  const loaded: LoadedSkills = { folder, names: [], notes: [] };
  for (const { name, path } of findSkills(folder, loaded.notes)) {
    try {
      const { body, notes } = readSkillFolder(folder, path);
      const { warnings } = await client.put('/v1/skills/{skill}', { params: { path: { skill: name } }, body });
      loaded.names.push(name);
      loaded.notes.push(...[...notes, ...warnings.map(({ message }) => message)].map((note) => `skill ${name}: ${note}`));
    } catch (error) {
      // An unreadable file is also a fault of the skill; fs errors and refusals of the service have a code.
      if (!(error instanceof StartFailure) && !(error instanceof Error && 'code' in error)) throw error;
      loaded.notes.push(`skill ${name} was not loaded: ${error instanceof MonikerError ? error.detail : error.message}`);
    }
  }
  return loaded;
}

function findSkills(folder: string, notes: string[]): { name: string; path: string }[] {
  const entries = list(folder);
  if (entries === null) {
    notes.push(`MONIKER_SKILLS_DIR is ${folder}, which is not a readable folder`);
    return [];
  }
  if (entries.includes(skillFile)) return [{ name: basename(resolve(folder)), path: folder }];
  const skills = entries
    .filter((name) => !isStray(name) && list(join(folder, name))?.includes(skillFile) === true)
    .map((name) => ({ name, path: join(folder, name) }));
  if (skills.length === 0) notes.push(`MONIKER_SKILLS_DIR is ${folder}, which has no folder with a ${skillFile}`);
  if (skills.length > maxSkills) notes.push(`MONIKER_SKILLS_DIR has ${skills.length} skills; only the first ${maxSkills} were loaded`);
  return skills.slice(0, maxSkills);
}

/** Returns null if the folder does not exist or cannot be read. */
function list(path: string): string[] | null {
  try {
    return readdirSync(path).sort();
  } catch {
    // Any failure means that nothing can be listed; callers report it if they need the folder.
    return null;
  }
}

type SkillBody = { content: string; resources: Record<string, string | { base64: string }> };

/** `root`: files outside of it are not read. */
export function readSkillFolder(root: string, path: string): { body: SkillBody; notes: string[] } {
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
  if (content === null) throw new StartFailure(`its ${skillFile} is not a file in the folder`);
  return { body: { content, resources }, notes };
}

/** Follows links only to files in `root`: a skill is text for a model, and other files must not be included. */
function filesIn(root: string, folder: string, notes: string[]): string[] {
  const files: string[] = [];
  const walk = (path: string, depth: number): void => {
    if (depth > maxDepth) throw new StartFailure(`its folders are nested deeper than ${maxDepth}`);
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (isStray(entry.name)) continue;
      const at = join(path, entry.name);
      if (entry.isDirectory()) walk(at, depth + 1);
      else if (entry.isFile() || (entry.isSymbolicLink() && resolvesToFileIn(root, at))) files.push(at);
      else notes.push(`${relative(folder, at)} was skipped: it is not a regular file, or it is a link to a folder or out of this folder`);
      if (files.length > limits.maxSkillResources + 1) throw new StartFailure(`it has more than ${limits.maxSkillResources} files`);
    }
  };
  if (!isIn(root, realPath(folder))) throw new StartFailure('it is a link to a path outside the skills folder');
  walk(folder, 0);
  return files;
}

function resolvesToFileIn(root: string, path: string): boolean {
  try {
    const target = realpathSync(path);
    return isIn(root, target) && statSync(target).isFile();
  } catch {
    // A broken or circular link.
    return false;
  }
}

function isIn(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}${sep}`);
}

function realPath(path: string): string {
  return realpathSync(resolve(path));
}

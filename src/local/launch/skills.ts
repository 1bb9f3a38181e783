/**
 * `MONIKER_SKILLS_DIR`: writes every `<name>/SKILL.md` in it, or the one in the folder itself, at each start over the public API. An
 * unchanged skill creates no new version; an invalid one is reported and the others are loaded; a skill that was removed from the folder
 * is deleted from the workspace, unless someone else has changed it since. The data folder has the list of what was loaded (`loaded-skills`). Nothing
 * outside the skills folder is read.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { limits } from '../../core/limits/limits.ts';
import { skillFile, isStray, SkillName, toPlainText } from '../../core/skills/skill.ts';
import { toBase64 } from '../../core/text/bytes.ts';
import { type MonikerClient, MonikerError } from '../../../client/src/index.ts';
import { readOwnFile, replaceFile } from './own-file.ts';
import { StartFailure } from './start-failure.ts';

/** `left`: skills that were deleted. `notes`: about them, skills that were not loaded, with the reason, and skipped files. */
export type LoadedSkills = { folder: string; names: string[]; left: string[]; notes: string[] };

/** More than a user typically has; an unrelated folder must not cause thousands of requests. */
const maxSkills = 200;
const maxDepth = 16;

export async function loadSkills(client: MonikerClient, folder: string, dataDir: string): Promise<LoadedSkills> {
  const loaded: LoadedSkills = { folder, names: [], left: [], notes: [] };
  const record = openRecord(dataDir);
  const found = findSkills(folder, loaded.notes);
  for (const { name, path } of found.slice(0, maxSkills)) {
    try {
      const { body, notes } = readSkillFolder(folder, path);
      const { version, warnings } = await client.put('/v1/skills/{skill}', { params: { path: { skill: name } }, body });
      record.store(name, version);
      loaded.names.push(name);
      loaded.notes.push(...[...notes, ...warnings.map(({ message }) => message)].map((note) => `skill ${name}: ${note}`));
    } catch (error) {
      // An unreadable file is also a fault of the skill; fs errors and refusals of the service have a code.
      if (!(error instanceof StartFailure) && !(error instanceof Error && 'code' in error)) throw error;
      loaded.notes.push(`skill ${name} was not loaded: ${error instanceof MonikerError ? error.detail : error.message}`);
    }
  }
  const kept = new Set(found.map(({ name }) => name));
  const gone = [...record.versions].filter(([name]) => !kept.has(name));
  // The folder may be on a volume that is not mounted.
  if (found.length === 0 && gone.length > 0)
    loaded.notes.push(
      `skills that it had before stay (${gone.map(([name]) => name).join(', ')}): delete them with DELETE /v1/skills/{skill}`,
    );
  else for (const [name, version] of gone) await removeSkill(client, { name, version }, record, loaded);
  return loaded;
}

/** Deletes a skill that is no longer in the folder, if it is what the folder had. */
async function removeSkill(
  client: MonikerClient,
  { name, version }: { name: string; version: number },
  record: SkillRecord,
  { left, notes }: LoadedSkills,
): Promise<void> {
  try {
    const header = { 'if-match': `"${version}"` };
    await client.delete('/v1/skills/{skill}', { params: { path: { skill: name }, header } });
    notes.push(`skill ${name} is no longer in the folder, and was deleted`);
  } catch (error) {
    if (!(error instanceof MonikerError)) throw error;
    if (error.status !== 404) {
      const why = error.status === 412 ? 'it was changed since' : error.detail;
      notes.push(`skill ${name} is no longer in the folder, and stays (${why}): delete it with DELETE /v1/skills/${name}`);
      return;
    }
  }
  left.push(name);
  record.store(name, null);
}

type SkillRecord = { versions: ReadonlyMap<string, number>; store(name: string, version: number | null): void };

/** The versions that the folder has written, stored after each one. A damaged list is as none: its skills stay. */
function openRecord(dataDir: string): SkillRecord {
  const file = join(dataDir, 'loaded-skills');
  const versions = new Map<string, number>();
  for (const line of (readOwnFile(file) ?? '').split('\n')) {
    const [, name = '', version = ''] = /^([^ ]+) (\d+)$/.exec(line) ?? [];
    if (SkillName.safeParse(name).success) versions.set(name, Number(version));
  }
  return {
    versions,
    store: (name, version) => {
      if (versions.get(name) === (version ?? undefined)) return;
      if (version === null) versions.delete(name);
      else versions.set(name, version);
      replaceFile(file, [...versions].map(([one, at]) => `${one} ${at}\n`).join(''), { mode: 0o600 });
    },
  };
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
  return skills;
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

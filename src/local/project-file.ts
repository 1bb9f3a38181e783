/**
 * The project file of a folder (docs/project-file.md): finds it, reads it with its environment variables and skill folders, and names the
 * project. Used by `moniker apply` and at the start of the service.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isRecord, recordOf, type Json } from '../core/json/wire-value.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { expandVariables } from '../core/project/expand-variables.ts';
import { decodeImport, parseImportText } from '../platform/read-import.ts';
import { readSkillFolder } from './skills.ts';
import { StartFailure } from './start-failure.ts';

const fileNames = ['moniker.yaml', 'moniker.yml', 'moniker.json'];

/** Returns the absolute path of `MONIKER_PROJECT`, or of the project file in the folder; null if there is none. */
export function findProjectFile(folder: string, environment: NodeJS.ProcessEnv): string | null {
  const given = environment.MONIKER_PROJECT?.trim();
  if (given) return resolve(folder, given);
  const found = fileNames.map((name) => join(folder, name)).filter((file) => existsSync(file));
  if (found.length > 1)
    throw new StartFailure(
      `${folder} has ${found.map((file) => basename(file)).join(' and ')}. Remove one of them, or name one: MONIKER_PROJECT=…`,
    );
  return found[0] ?? null;
}

/** The name of the folder in the spelling of a project's name, or `project`. */
export function projectName(file: string): string {
  const name = basename(dirname(resolve(file)))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replaceAll(/^-+|-+$/g, '');
  return name || 'project';
}

/** Throws `StartFailure` for a file that cannot be read, and for a variable that is not set. */
export function readProjectFile(file: string, environment: NodeJS.ProcessEnv): Json {
  const { project, issues } = expandVariables(parseFile(file), environment);
  if (issues.length > 0) throw new StartFailure([`${file}:`, ...issues.map(({ path, message }) => `  ${path}: ${message}`)].join('\n'));
  return withSkillFolders(recordOf(project), dirname(resolve(file)));
}

function parseFile(file: string): unknown {
  try {
    if (statSync(file).size > limits.maxLargeBodyBytes)
      throw new StartFailure(`${file} has more than the ${limits.maxLargeBodyBytes} bytes of a project file.`);
    const value = parseImportText(decodeImport(readFileSync(file)));
    if (!isRecord(value)) throw new StartFailure(`${file} is not a project file: it needs sections such as servers and toolsets.`);
    return value;
  } catch (error) {
    if (error instanceof Problem) throw new StartFailure(`${file}: ${error.detail}`);
    if (error instanceof Error && 'code' in error) throw new StartFailure(`${file} cannot be read: ${error.message}`); // fs errors carry a code
    throw error;
  }
}

/** Replaces `{path}` of skills by the content of the folder. Nothing outside the folder of the project file is read. */
function withSkillFolders(project: Json, folder: string): Json {
  if (!isRecord(project.skills)) return project;
  const skills = Object.entries(project.skills).map(([name, skill]): [string, unknown] => {
    const { path } = recordOf(skill);
    if (typeof path !== 'string') return [name, skill];
    if (relative(folder, resolve(folder, path)).split(sep)[0] === '..' || isAbsolute(path))
      throw new StartFailure(`skills.${name}.path: ${path} is not in the folder of the project file. Move the skill into it.`);
    try {
      return [name, readSkillFolder(folder, resolve(folder, path)).body];
    } catch (error) {
      if (!(error instanceof StartFailure) && !(error instanceof Error && 'code' in error)) throw error;
      throw new StartFailure(`skills.${name}.path: ${path} cannot be used: ${error.message}`);
    }
  });
  return { ...project, skills: Object.fromEntries(skills) };
}

/**
 * The project file of a folder (docs/project-file.md): finds it, reads it, fills in its environment variables and skill folders, and names the
 * project. Used by `moniker apply` and at the start of the service.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isRecord, recordOf, type Json } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { expandVariables } from '../../core/project/expand-variables.ts';
import { decodeImport, parseImportText } from '../../formats/read-import.ts';
import { readSkillFolder } from './skills.ts';
import { StartFailure } from './start-failure.ts';

const fileNames = ['moniker.yaml', 'moniker.yml', 'moniker.json'];

/** `isNamed`: by the user. Otherwise it comes with the current folder. */
export type ProjectFile = { file: string; isNamed: boolean };

/** A project file as it was read, or why it cannot be used. What is applied is what was read once, and perhaps accepted. */
export type LoadedProject = ProjectFile & ({ content: Json } | { fault: string });

/** Finds the file of `MONIKER_PROJECT`, or the project file in the folder; null if there is none. The path is absolute. */
export function findProjectFile(folder: string, environment: NodeJS.ProcessEnv): ProjectFile | null {
  const given = environment.MONIKER_PROJECT?.trim();
  if (given) return { file: resolve(folder, given), isNamed: true };
  const found = fileNames.map((name) => join(folder, name)).filter((file) => existsSync(file));
  if (found.length > 1)
    throw new StartFailure(
      `${folder} has ${found.map((file) => basename(file)).join(' and ')}. Remove one of them, or name one: MONIKER_PROJECT=…`,
    );
  return found[0] === undefined ? null : { file: found[0], isNamed: false };
}

/** Finds and reads it, for a start, which a fault of the file does not prevent. */
export function loadProject(folder: string, environment: NodeJS.ProcessEnv): LoadedProject | null {
  let found: ProjectFile = { file: join(folder, 'moniker.yaml'), isNamed: false };
  try {
    const project = findProjectFile(folder, environment);
    if (project === null) return null;
    found = project;
    return { ...found, content: readProjectFile(found.file) };
  } catch (error) {
    if (error instanceof StartFailure) return { ...found, fault: error.message };
    throw error;
  }
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

/** Fills in variables and skills. Throws `StartFailure` for a variable that is not set, and for a skill that cannot be read. */
export function fillProject(content: Json, file: string, environment: NodeJS.ProcessEnv): Json {
  const { project, issues } = expandVariables(content, environment);
  if (issues.length > 0) throw new StartFailure([`${file}:`, ...issues.map(({ path, message }) => `  ${path}: ${message}`)].join('\n'));
  return withSkillFolders(recordOf(project), dirname(resolve(file)));
}

/** As it is written. Throws `StartFailure` for a file that cannot be read. */
export function readProjectFile(file: string): Json {
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

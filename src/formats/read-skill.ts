/**
 * Reads a skill from its files: `SKILL.md` as text, and the resources. Reports all faults with their paths. Used by the Catalog for JSON
 * requests, zip archives and stored documents.
 */
import { invalidRequest, type Issue, quoted } from '../core/problem.ts';
import { limits } from '../core/limits/limits.ts';
import { type Skill, isStray, skillFile, skillPathFault, type GivenResource, toResource } from '../core/skills/skill.ts';
import { readSkillFile, type FrontmatterReader } from '../core/skills/skill-file.ts';
import { utf8Length } from '../core/text/utf8.ts';
import { isRecord } from '../core/json/wire-value.ts';
import { readYaml, TextFault } from './read-yaml.ts';

/** The form in which the Catalog receives a skill. `path`: as the author wrote it, validated here. */
export type SkillFiles = { content: string; resources: GivenResource[] };

/** Throws `invalid_request`. */
export function readSkill(name: string, { content, resources }: SkillFiles): { skill: Skill; warnings: Issue[] } {
  const stray = resources.filter(({ path }) => isLeftOut(path));
  const kept = resources.filter(({ path }) => !isLeftOut(path));
  const read = readSkillFile(name, content, readFrontmatter);
  const issues = [...('issues' in read ? read.issues : []), ...pathIssues(kept)];
  const files = kept.flatMap((given) => {
    const resource = toResource(given);
    if (typeof resource !== 'string') return [resource];
    issues.push({ path: at(given.path), message: resource });
    return [];
  });
  const total = files.reduce((sum, { bytes }) => sum + bytes, utf8Length(content));
  if (total > limits.maxSkillBytes)
    issues.push({
      path: 'resources',
      message: `with ${skillFile} they have ${total} bytes; a skill may have at most ${limits.maxSkillBytes}`,
    });
  if ('issues' in read || issues.length > 0) throw invalidRequest(issues);
  const skill = { ...read.fields, content, resources: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  return { skill, warnings: [...read.warnings, ...strayFileWarnings(stray)] };
}

/** An invalid path is rejected in any case. */
function isLeftOut(path: string): boolean {
  return isStray(path) && skillPathFault(path) === null;
}

function pathIssues(resources: readonly GivenResource[]): Issue[] {
  if (resources.length > limits.maxSkillResources)
    return [{ path: 'resources', message: `there are ${resources.length}; a skill may have at most ${limits.maxSkillResources}` }];
  const paths = new Set<string>();
  const issues = resources.flatMap(({ path }): Issue[] => {
    const fault = paths.has(path) ? 'is given twice' : pathFault(path);
    paths.add(path);
    return fault === null ? [] : [{ path: at(path), message: fault }];
  });
  // A file cannot also be a folder.
  const folders = [...paths].flatMap((path) => {
    const parent = parentsOf(path).find((folder) => paths.has(folder));
    return parent === undefined ? [] : [{ path: at(path), message: `is inside ${quoted(parent)}, which is a file` }];
  });
  return [...issues, ...folders];
}

function pathFault(path: string): string | null {
  if (path === skillFile) return 'is the skill itself: send it as `content`';
  if (utf8Length(path) > limits.maxSkillPathBytes) return `is longer than ${limits.maxSkillPathBytes} bytes`;
  return skillPathFault(path);
}

/** Returns the path of a fault, shortened if it is too long. */
function at(path: string): string {
  return `resources.${path.slice(0, limits.maxSkillPathBytes)}`;
}

function parentsOf(path: string): string[] {
  const segments = path.split('/').slice(0, -1);
  return segments.map((_segment, index) => segments.slice(0, index + 1).join('/'));
}

/** One warning for all, since an archive may contain a hundred stray files. */
export function strayFileWarnings(stray: readonly { path: string }[]): Issue[] {
  const [first] = stray;
  if (first === undefined) return [];
  const more = stray.length === 1 ? '' : ` and ${stray.length - 1} more`;
  return [
    {
      path: 'resources',
      message: `${quoted(first.path)}${more} were skipped: hidden files and files of operating systems are not part of a skill`,
    },
  ];
}

// Parses the YAML between the `---` lines of a `SKILL.md`. `core/skills/skill-file.ts` validates the fields. The caller bounds the text
// (`limits.maxFrontmatterBytes`).

export const readFrontmatter: FrontmatterReader = (text) => {
  const read = parse(text);
  if (!('faults' in read)) return { ...read, warnings: [] };
  const quoted = quoteColons(text);
  const again = quoted === null ? read : parse(quoted.text);
  return 'faults' in again
    ? read
    : {
        ...again,
        warnings: [
          `The value of ${quoted?.names.join(', ')} contains ": ", which YAML reads as a map. It was read as one string. Put it in quotes.`,
        ],
      };
};

function parse(text: string): { fields: Record<string, unknown> } | { faults: string[] } {
  try {
    const value = readYaml(text, bounds);
    if (isRecord(value)) return { fields: value };
    return { faults: ['The frontmatter must be a map with fields such as name and description.'] };
  } catch (error) {
    if (error instanceof TextFault) return { faults: [toFault(error)] };
    throw error;
  }
}

const bounds = {
  maxDepth: 100,
  maxSeparators: limits.maxFrontmatterBytes,
  // Aliases can expand a small document without limit, and no frontmatter needs them.
  maxAliased: 0,
  // YAML reads `version: 1.0` as a number, which would become 1. The format defines strings there.
  writtenIn: 'metadata',
};

/** Lines are counted from the frontmatter's first line; in the file it follows `---`. */
function toFault({ kind, message, place }: TextFault): string {
  const where = place === null ? '' : ` in line ${place.line + 1}`;
  if (kind === 'aliases') return `The frontmatter uses an alias (*name)${where}; repeat the value instead.`;
  return `The frontmatter is not valid YAML${where}: ${message}.`;
}

/**
 * Many published skills write `description: Use when: …`, which is not valid YAML; agentskills.io's guide for clients asks to accept them.
 * Such values are quoted. null: no such values.
 */
function quoteColons(text: string): { text: string; names: string[] } | null {
  const names: string[] = [];
  const lines = text.split('\n').map((line) => {
    const [, name = '', value = ''] = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[\]{}|>&*!#%@`].*: .*)$/.exec(line) ?? [];
    if (name === '') return line;
    names.push(name);
    return `${name}: ${JSON.stringify(value.trimEnd())}`;
  });
  return names.length === 0 ? null : { text: lines.join('\n'), names };
}

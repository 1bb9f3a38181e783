/**
 * Parses the YAML between the `---` lines of a `SKILL.md`. `core/skills/skill-file.ts` validates the fields. The caller bounds the text
 * (`limits.maxFrontmatterBytes`).
 */
import { limits } from '../core/limits.ts';
import type { FrontmatterReader } from '../core/skills/skill-file.ts';
import { isRecord } from '../core/json/wire-value.ts';
import { readYaml } from '../platform/yaml/read-yaml.ts';
import { YamlFault } from '../platform/yaml/yaml-fault.ts';

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
    if (error instanceof YamlFault) return { faults: [toFault(error)] };
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
function toFault({ kind, message, place }: YamlFault): string {
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

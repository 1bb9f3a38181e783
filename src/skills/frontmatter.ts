/**
 * The YAML between the `---` lines of a `SKILL.md` as data. Only YAML is known here; what the fields must be is
 * `core/skills/skill-file.ts`. The text is bounded before it comes here (`limits.maxFrontmatterBytes`).
 */
import { limits } from '../core/limits.ts';
import type { FrontmatterReader } from '../core/skills/skill-file.ts';
import { isRecord } from '../core/wire-value.ts';
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
          `The value of ${quoted?.names.join(', ')} holds ": ", which YAML takes for a map: it was read as one text. Put it in quotes.`,
        ],
      };
};

function parse(text: string): { fields: Record<string, unknown> } | { faults: string[] } {
  try {
    const value = readYaml(text, bounds);
    if (isRecord(value)) return { fields: value };
    return { faults: ['The frontmatter must be a map of fields, such as name: and description:.'] };
  } catch (error) {
    if (error instanceof YamlFault) return { faults: [toFault(error)] };
    throw error;
  }
}

const bounds = {
  maxDepth: 100,
  maxSeparators: limits.maxFrontmatterBytes,
  // Anchors are how a small document becomes an enormous one, and no frontmatter needs them.
  maxAliased: 0,
  // `version: 1.0` is a number to YAML, and would come back as 1. The format has texts there.
  writtenIn: 'metadata',
};

/** The reader's lines count from the frontmatter's first; in the file the `---` stands before it. */
function toFault({ kind, message, place }: YamlFault): string {
  const where = place === null ? '' : ` in line ${place.line + 1}`;
  if (kind === 'aliases') return `The frontmatter uses an alias (*name)${where}; write the value out.`;
  return `The frontmatter is not valid YAML${where}: ${message}.`;
}

/**
 * Many published skills write `description: Use when: …`, which is not YAML; agentskills.io's guide for clients asks to read
 * them all the same. Such values become quoted text. null: there are none.
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

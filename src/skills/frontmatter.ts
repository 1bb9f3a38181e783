/**
 * The YAML between the `---` lines of a `SKILL.md` as data. Only YAML is known here; what the fields must be is
 * `core/skills/skill-file.ts`. The text is bounded before it comes here (`limits.maxFrontmatterBytes`).
 */
import { isScalar, parseDocument, visit, type Document } from 'yaml';
import type { FrontmatterReader } from '../core/skills/skill-file.ts';
import { isRecord } from '../core/wire-value.ts';

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
    // The library's own look for doubled keys compares each with each.
    const document = parseDocument(text, { version: '1.2', schema: 'core', stringKeys: true, uniqueKeys: false, logLevel: 'silent' });
    const faults = [...document.errors.map(({ message }) => message), ...doubledKeys(document, text)].map(toFault);
    if (faults.length > 0) return { faults: faults.slice(0, maxFaults) };
    keepMetadataAsWritten(document);
    // Anchors are how a small document becomes an enormous one, and no frontmatter needs them.
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (isRecord(value)) return { fields: value };
    return { faults: ['The frontmatter must be a map of fields, such as name: and description:.'] };
  } catch (error) {
    // Nested deeper than the stack, or with an alias.
    const why = error instanceof ReferenceError ? 'uses an alias (*name); write the value out' : 'is nested too deeply';
    return { faults: [`The frontmatter ${why}.`] };
  }
}

const maxFaults = 10;

function doubledKeys(document: Document, text: string): string[] {
  const doubled: string[] = [];
  visit(document, {
    Map(_key, node) {
      const seen = new Set<unknown>();
      for (const { key } of node.items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name))
          doubled.push(`${JSON.stringify(name)} is given twice${isScalar(key) ? ` at line ${lineOf(text, key.range?.[0] ?? 0)},` : ''}`);
        seen.add(name);
      }
    },
  });
  return doubled;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** The library's lines count from the frontmatter's first; in the file the `---` stands before it. Its excerpt is left out. */
function toFault(message: string): string {
  const [first = ''] = message.split('\n', 1);
  const place = / at line (\d+),.*$/.exec(first);
  const what = (place === null ? first : first.slice(0, place.index)).replace(/[.:]$/, '');
  return place === null
    ? `The frontmatter is not valid YAML: ${what}.`
    : `The frontmatter is not valid YAML in line ${Number(place[1]) + 1}: ${what}.`;
}

/** `version: 1.0` is a number to YAML, and would come back as 1. The format has texts there. */
function keepMetadataAsWritten(document: Document): void {
  const metadata = document.get('metadata');
  visit(metadata as Parameters<typeof visit>[0], {
    Scalar(key, node) {
      if (key !== 'key' && typeof node.value !== 'string' && node.source !== undefined) node.value = node.source;
    },
  });
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

/** Properties for any text and any names, over texts built from problematic parts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NameLookup, rewriteNames } from '../../../src/core/names/rewrite-names.ts';
import { runs } from '../../selection.ts';

const today = new Map([
  ['get_it', 'fetch_it'],
  ['a.get_it', 'fetch_it'],
  ['search', 'find'],
  ['oneTwo', 'three'],
]);
const lookup: NameLookup = (name) => today.get(name);

const old = fc.constantFrom(...today.keys());
const piece = fc.oneof(
  { weight: 4, arbitrary: old },
  { weight: 4, arbitrary: old.map((name) => `\`${name}\``) },
  fc.constantFrom('`', '``', '```', '~~~', '\n', '\n\n', '\n- ', '\n> ', '\n```\n', '\n~~~\n', '\\', ' ', '.', '(', ')', '# '),
  fc.constantFrom('fetch_it', '`find`', 'Names used here: ', '\n\nNames used here: `get_it` is `fetch_it`.', '\u2028', 'é', '工'),
  fc.string({ maxLength: 4 }),
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

const line = /\n\nNames used here: [^\n]*$/;

describe('rewriting any text', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(text, (original) => {
        const once = rewriteNames(original, lookup);
        expect(rewriteNames(once, lookup)).toBe(once);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('changes only names between backticks and adds at most one line', () => {
    fc.assert(
      fc.property(text, (original) => {
        const told = rewriteNames(original, lookup);
        const parts = told.split(/(?<=`)(fetch_it|find|three)(?=`)/);
        // Each current name in backticks may have been any of its old ones: the text is used as a pattern.
        const found = matches(original, parts) || matches(original, told.replace(line, '').split(/(?<=`)(fetch_it|find|three)(?=`)/));
        expect(found).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('leaves fences unchanged', () => {
    fc.assert(
      fc.property(text, fc.array(piece, { maxLength: 10 }), (before, pieces) => {
        const inside = pieces
          .join('')
          .replace(/[`~]{3,}/g, '')
          .replace(/^\s*$/gm, '');
        const fence = `\n\`\`\`\`\`\`\`\`\n${inside}\n\`\`\`\`\`\`\`\`\n`;
        const quiet = before.replace(/[`~]{3,}/g, '');
        expect(rewriteNames(`${quiet}${fence}`, lookup)).toContain(fence);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('leaves unknown names unchanged', () => {
    fc.assert(
      fc.property(text, (original) => {
        expect(rewriteNames(original, () => undefined)).toBe(original);
      }),
    );
  });
});

/** Whether `original` is the sequence of parts, where every second one is itself or an old name of it. */
function matches(original: string, parts: readonly string[]): boolean {
  let places = new Set([0]);
  for (const [index, part] of parts.entries()) {
    const options = index % 2 === 0 ? [part] : [part, ...[...today].filter(([, now]) => now === part).map(([name]) => name)];
    const next = new Set<number>();
    for (const place of places) for (const option of options) if (original.startsWith(option, place)) next.add(place + option.length);
    places = next;
  }
  return places.has(original.length);
}

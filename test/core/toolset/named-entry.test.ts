/** The names read from a document equal those of the compiled edition. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { namesOfEntry } from '../../../src/core/toolset/named-entry.ts';
import { Problem } from '../../../src/core/problem.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { runs } from '../../selection.ts';

const known = knownTools(
  [
    toolOf('git', 'status'),
    toolOf('git', 'delete branch'),
    toolOf('git', 'log', { aliases: ['history', 'Bad One', 'commits'] }),
    toolOf('git', 'a-name-that-is-a-good-deal-longer-than-what-any-provider-takes-for-a-function'),
  ],
  ['down'],
);
const names = [...known.all()].map(({ canonical }) => canonical as string);
const alias = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9_]{2,8}$/),
  fc.record({
    name: fc.stringMatching(/^[a-z][a-z0-9_]{2,8}$/),
    mode: fc.constantFrom('announced' as const, 'function' as const, 'hidden' as const, 'deprecated' as const),
  }),
);
const entry = fc.record(
  {
    tool: fc.constantFrom(...names, 'down.some_tool', 'down.some.tool'),
    name: fc.stringMatching(/^ ?[A-Z][a-zA-Z]{3,8}$/),
    aliases: fc.array(alias, { maxLength: 3 }),
  },
  { requiredKeys: ['tool'] },
);

it('returns the wire name and aliases of the edition', async () => {
  await fc.assert(
    fc.asyncProperty(entry, async (source) => {
      try {
        const { edition } = await compile({ tools: [source] }, known);
        const [written] = Toolset.parse({ tools: [source] }).tools;
        const [tool] = edition.tools;
        const told = namesOfEntry(written ?? {}, known.get(source.tool));
        expect(told.wireName).toBe(tool?.wireName);
        const distinct = new Map(told.aliases.map(({ name, mode }) => [name, { name, mode }]));
        expect([...distinct.values()]).toEqual(tool?.aliases.map(({ name, mode }) => ({ name, mode })));
      } catch (error) {
        // Refused documents have no names.
        if (!(error instanceof Problem)) throw error;
      }
    }),
    { numRuns: runs(300) },
  );
});

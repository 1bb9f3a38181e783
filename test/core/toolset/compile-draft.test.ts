import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import { compileDraft } from '../../../src/core/toolset/compile-draft.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { compile, knownTools, refusalOf, toolOf } from '../../fakes/known-tools.ts';

const known = knownTools([
  ...['bash', 'read_file', 'delete_file'].map((name) => toolOf('builtin', name)),
  ...['search', 'find'].map((name) => toolOf('a', name)),
  ...['search', 'look'].map((name) => toolOf('b', name, { aliases: ['find-it'] })),
]);
const draftOf = async (document: unknown) => {
  const toolset = Toolset.parse(document);
  return await compileDraft({ workspace: 'default', name: 'draft', toolset, known }, [...toolset.tools.keys()]);
};
const isStored = async (document: unknown): Promise<boolean> => {
  try {
    await compile(document as Parameters<typeof compile>[0], known);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
};

const name = fc.constantFrom('go', 'walk', 'run', 'turn', 'stop', 'wait', 'search', 'find', 'bash', 'use_skill', '!');
const anyEntry = fc.record(
  {
    tool: fc.constantFrom('builtin.bash', 'builtin.read_file', 'a.search', 'a.find', 'b.search', 'b.look', 'a.none', 'a.*', 'b.*', 'c.*'),
    name,
    aliases: fc.array(name, { maxLength: 2 }),
    arguments: fc.constantFrom({}, {}, {}, {}, { preset: { none: 1 } }),
  },
  { requiredKeys: ['tool'] },
);
// The schema allows a pattern no name, aliases or arguments.
const entry = anyEntry.map(({ tool, ...rest }) => (tool.endsWith('*') ? { tool } : { tool, ...rest }));
const toolset = fc.record(
  {
    tools: fc.array(entry, { minLength: 1, maxLength: 6 }),
    nameMap: fc.constantFrom({}, {}, {}, { other: 'go' }, { other: 'builtin.bash' }),
  },
  { requiredKeys: ['tools'] },
);

it('has the same positions as the refusal of a write', async () => {
  const faulty = { tools: [{ tool: 'a.*' }, { tool: 'builtin.bash', aliases: ['!'] }] };
  const clashing = { tools: [{ tool: 'a.*' }, { tool: 'builtin.bash', name: 'go' }, { tool: 'b.look', name: 'go' }] };
  const refused = async (document: typeof faulty | typeof clashing) => (await refusalOf(document, known)).extra;
  expect(await refused(faulty)).toMatchObject({ issues: [{ path: 'tools[1].aliases[0]' }] });
  expect((await draftOf(faulty)).issues).toMatchObject([{ path: 'tools[1].aliases[0]' }]);
  const claims = [{ path: 'tools[2].name' }, { path: 'tools[1].name' }];
  expect(await refused(clashing)).toMatchObject({ conflicts: [{ claims }] });
  expect((await draftOf(clashing)).conflicts).toMatchObject([{ claims }]);
});

it('finds faults in exactly the drafts that would not be stored, and compiles the rest of them', async () => {
  const seen = { valid: 0, partly: 0 };
  await fc.assert(
    fc.asyncProperty(toolset, async (document) => {
      const { edition, places, issues, conflicts } = await draftOf(document);
      const isValid = issues.length + conflicts.length === 0;
      expect(isValid).toBe(await isStored(document));
      if (isValid) seen.valid += 1;
      else if (edition !== null) seen.partly += 1;
      // Every tool is that of its entry in the draft.
      for (const [index, tool] of (edition?.tools ?? []).entries()) {
        const written = document.tools[places[index] ?? -1]?.tool ?? 'none';
        expect(tool.canonical === written || (written.endsWith('*') && tool.canonical.startsWith(written.slice(0, -1)))).toBe(true);
      }
      for (const { claims } of conflicts)
        for (const { tool, entry: at } of claims) {
          if (at === null) continue;
          const written = document.tools[Number(/\d+/.exec(at)?.[0])]?.tool ?? 'none';
          expect(tool === written || (written.endsWith('*') && tool.startsWith(written.slice(0, -1)))).toBe(true);
        }
    }),
    { numRuns: 400 },
  );
  expect(seen.valid).toBeGreaterThan(10);
  expect(seen.partly).toBeGreaterThan(50);
});

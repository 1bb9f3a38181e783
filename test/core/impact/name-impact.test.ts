import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CalledName, mended, mendsOf, nameImpact } from '../../../src/core/impact/name-impact.ts';
import { buildAliasMap, resolveName } from '../../../src/core/toolset/alias-map.ts';
import { compileDraft } from '../../../src/core/toolset/compile-draft.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { knownTools, toolOf } from '../../fakes/known-tools.ts';
import { runs } from '../../selection.ts';

const known = knownTools([
  ...['search', 'read_file', 'write_file', 'delete_file'].map((name) => toolOf('fs', name)),
  toolOf('web', 'search', { aliases: ['find_page'] }),
  toolOf('web', 'fetch'),
]);

async function draftOf(document: unknown) {
  const toolset = Toolset.parse(document);
  const compiled = await compileDraft({ workspace: 'default', name: 'test', toolset, known }, [...toolset.tools.keys()]);
  if (compiled.edition === null) throw new Error('the draft has no valid entry');
  return { toolset, places: compiled.places, names: buildAliasMap(compiled.edition, { aliases: true }), issues: compiled.issues };
}

const called = (requested: string, calls = 1): CalledName => ({
  ...{ requested, calls, failures: 0, lastDay: '2026-01-02', agents: ['helper'], keys: ['k1'] },
});

async function impactOf(before: unknown, after: unknown, names: readonly CalledName[]) {
  const [stored, draft] = [await draftOf(before), await draftOf(after)];
  const impact = nameImpact(stored.names, draft.names, names);
  const mends = mendsOf(draft.toolset, draft.names, draft.places, impact.changed);
  const kept = await draftOf(mended(draft.toolset, mends));
  return { impact, mends, kept, left: nameImpact(stored.names, kept.names, names).changed };
}

describe('the impact of a draft on the names that were called', () => {
  it('is nothing for a toolset against itself', async () => {
    const document = { tools: [{ tool: 'fs.*' }, { tool: 'web.fetch', name: 'get', aliases: ['download'] }] };
    const names = ['search', 'get', 'Download', 'fs.read_file', 'Glob', '', 'delete-file'].map((name) => called(name));
    const { impact } = await impactOf(document, document, names);
    expect(impact).toEqual({ same: { names: 7, calls: 7 }, changed: [] });
  });

  it('names what is gone, moved, ambiguous and found, the most called first', async () => {
    const before = {
      tools: [
        { tool: 'fs.search', name: 'find' },
        { tool: 'fs.read_file', aliases: ['cat'] },
      ],
    };
    const after = {
      tools: [
        { tool: 'fs.search', name: 'look' },
        { tool: 'fs.read_file', name: 'read' },
        { tool: 'fs.write_file', name: 'cat' },
        { tool: 'web.search', name: 'ask' },
        { tool: 'web.fetch' },
      ],
    };
    const names = [called('find', 3), called('cat', 5), called('search', 2), called('fetch'), called('Glob')];
    const { impact } = await impactOf(before, after, names);
    expect(impact.same).toEqual({ names: 1, calls: 1 });
    expect(impact.changed).toMatchObject([
      { requested: 'cat', change: 'moved', was: 'fs.read_file', now: ['fs.write_file'], wireName: 'read', calls: 5 },
      { requested: 'find', change: 'gone', was: 'fs.search', now: [], wireName: 'look', agents: ['helper'], keys: ['k1'] },
      { requested: 'search', change: 'ambiguous', was: 'fs.search', now: ['fs.search', 'web.search'], wireName: 'look' },
      { requested: 'fetch', change: 'found', was: null, now: ['web.fetch'] },
    ]);
  });

  it('is mended by a deprecated alias that says what to call now', async () => {
    const before = { tools: [{ tool: 'fs.search', name: 'FindIt' }] };
    const { mends, kept, left } = await impactOf(before, { tools: [{ tool: 'fs.search', name: 'look' }] }, [called('FindIt')]);
    expect(mends).toMatchObject([{ requested: 'FindIt', tool: 'fs.search', alias: 'findit', entry: 0, note: 'use look' }]);
    expect(kept.toolset.tools).toEqual([
      { tool: 'fs.search', name: 'look', aliases: [{ name: 'findit', mode: 'deprecated', note: 'use look' }] },
    ]);
    expect(left).toEqual([]);
  });

  it('is mended without losing the default aliases of a tool, and beside the pattern that lists it', async () => {
    const before = { tools: [{ tool: 'web.search', name: 'ask_web' }] };
    const { kept, left } = await impactOf(before, { tools: [{ tool: 'web.*' }] }, [called('ask_web'), called('find_page')]);
    expect(kept.toolset.tools[0]).toEqual({ tool: 'web.*' });
    expect(kept.toolset.tools[1]?.aliases).toMatchObject([{ name: 'find_page' }, { name: 'ask_web', mode: 'deprecated' }]);
    expect(left).toEqual([]);
  });

  it('has no mend for a tool that the draft does not have, and for a name that another tool has', async () => {
    const before = { tools: [{ tool: 'fs.search' }, { tool: 'fs.read_file' }] };
    const after = { tools: [{ tool: 'fs.read_file', name: 'search' }] };
    const { impact, mends } = await impactOf(before, after, [called('search'), called('fs.search')]);
    expect(impact.changed.map(({ change }) => change)).toEqual(['moved', 'gone']);
    expect(mends).toEqual([]);
  });

  it('tells entries of one tool apart by their arguments', async () => {
    const entries = (first: string, second: string) => ({
      tools: [
        { tool: 'fs.search', name: first, arguments: { preset: { kind: 'a' } } },
        { tool: 'fs.search', name: second, arguments: { preset: { kind: 'b' } } },
      ],
    });
    const { impact } = await impactOf(entries('find_a', 'find_b'), entries('find_b', 'find_a'), [called('find_a')]);
    expect(impact.changed).toMatchObject([{ requested: 'find_a', change: 'moved' }]);
  });

  it('is exactly what calls of the draft do, for 500 random drafts', async () => {
    const name = fc.constantFrom('search', 'find', 'look', 'cat', 'read', 'fetch_page', 'grab');
    const entry = fc.record({
      tool: fc.constantFrom('fs.search', 'fs.read_file', 'web.search', 'web.fetch'),
      name: fc.option(name, { nil: undefined }),
      aliases: fc.option(fc.uniqueArray(name, { maxLength: 2 }), { nil: undefined }),
    });
    const document = fc
      .uniqueArray(entry, { minLength: 1, maxLength: 4, selector: ({ tool }) => tool })
      .map((tools) => ({ tools: tools.map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))) }));
    const asked = ['search', 'Find', 'look', 'cat', 'read', 'fetch_page', 'GRAB', 'read_file', 'fetch', 'web.search', 'find_page', 'Glob'];
    await fc.assert(
      fc.asyncProperty(document, document, async (before, after) => {
        const [stored, draft] = [await draftOf(before).catch(() => null), await draftOf(after).catch(() => null)];
        if (stored === null || draft === null) return;
        const target = (names: typeof stored.names, requested: string): string | null => {
          const found = resolveName(names, requested);
          return found.ok ? found.canonical : null;
        };
        const differing = asked.filter((one) => target(stored.names, one) !== target(draft.names, one));
        const { changed } = nameImpact(
          stored.names,
          draft.names,
          asked.map((one) => called(one)),
        );
        expect(changed.map(({ requested }) => requested).toSorted()).toEqual(differing.toSorted());
      }),
      { numRuns: runs(500) },
    );
  });
});

/** For any aliases of a conversation: either each of them resolves to its tool, or nothing is stored and the error says which is wrong. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildAliasMap, resolveName } from '../../../src/core/toolset/alias-map.ts';
import { configurationBench, someTools } from './bench.ts';
import { runs } from '../../selection.ts';

const alias = fc.oneof(
  fc.constantFrom(
    'gs',
    'ps',
    'log',
    'run',
    'status',
    'git_status',
    'docker-ps',
    'Docker_Ps',
    'find_tools',
    'build_toolset',
    '',
    ' gs ',
    'g',
    'constructor',
  ),
  fc.stringMatching(/^[a-z][a-z0-9_-]{1,8}$/),
  fc.string({ maxLength: 6 }),
);
const entry = fc.record(
  {
    namespacedName: fc.constantFrom(...someTools.map(({ canonical }) => canonical as string)),
    alias,
    aliases: fc.array(alias, { maxLength: 3 }),
  },
  { requiredKeys: ['namespacedName'] },
);

it('builds a toolset whose names resolve, or reports the index of the fault and stores nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 4 }), async (tools) => {
      const { catalog, run } = configurationBench();
      const { json, isError } = await run('build-toolset', { name: 'any', tools });
      if (json.meta.success) {
        const { edition } = (await catalog.directory.toolset('default', 'any')).names;
        const map = buildAliasMap(edition, { aliases: true });
        for (const { namespacedName, alias = [], aliases = [] } of tools)
          for (const name of [alias, aliases].flat())
            expect(resolveName(map, name.trim()), name).toMatchObject({ ok: true, canonical: namespacedName });
        const wireNames = json.toolset.tools.map(({ wireName }: { wireName: string }) => wireName);
        expect(wireNames).toEqual(edition.tools.map(({ wireName }) => wireName));
        expect(new Set(wireNames).size).toBe(tools.length);
      } else {
        expect(isError).toBe(true);
        expect(json.meta.error).toMatch(/^tools\[\d\]/);
        expect((await catalog.list('toolset', { limit: 1 })).items).toEqual([]);
      }
    }),
    { numRuns: runs(150) },
  );
});

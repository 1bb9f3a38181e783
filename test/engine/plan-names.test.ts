import { describe, expect, it } from 'vitest';
import { buildAliasMap, resolveName } from '../../src/core/alias-map.ts';
import { offeredTools, sentTools } from '../../src/core/offered-tools.ts';
import { withFetchResult } from '../../src/engine/plan-names.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';

const tools = knownTools([toolOf('builtin', 'bash', { kind: 'builtin' }), toolOf('builtin', 'fetch_result', { kind: 'builtin' })]);
const namesOf = async (...listed: { tool: string; name?: string }[]) =>
  buildAliasMap((await compile({ tools: listed }, tools)).edition, { aliases: true });
const kept = { any: () => true };

describe('the tool that reads on in a long result', () => {
  it('is offered last as soon as there is such a result, and can be called', async () => {
    const names = await namesOf({ tool: 'builtin.bash' });
    let any = false;
    const now = () => withFetchResult(names, { any: () => any });
    expect(now()).toBe(names);
    any = true;
    const extended = now();
    expect(extended === null ? [] : offeredTools(extended).map(({ name }) => name)).toEqual(['bash', 'fetch_result']);
    expect(extended === null ? null : resolveName(extended, 'fetch_result')).toMatchObject({ canonical: 'builtin.fetch_result' });
    expect(now()).toBe(extended);
  });

  it('is there before anything was found where tools are given on demand, so that nothing that is sent moves', async () => {
    const compiled = await compile({ tools: [{ tool: 'builtin.bash' }], onDemandAbove: 0 }, tools);
    const names = buildAliasMap(compiled.edition, { aliases: true });
    const found = [{ canonical: 'builtin.bash', name: 'bash' }];
    const sent = [false, true].map((any) => {
      const now = withFetchResult(names, { any: () => any });
      return now === null ? [] : sentTools(now, found).map(({ name }) => name);
    });
    expect(sent).toEqual([
      ['fetch_result', 'bash'],
      ['fetch_result', 'bash'],
    ]);
  });

  it('is not offered twice, whatever the toolset calls it', async () => {
    const names = await namesOf({ tool: 'builtin.bash' }, { tool: 'builtin.fetch_result', name: 'more' });
    expect(withFetchResult(names, kept)).toBe(names);
  });

  it('is never there without a session, nor for a turn without tools', async () => {
    const names = await namesOf({ tool: 'builtin.bash' });
    expect([withFetchResult(names, null), withFetchResult(null, kept)]).toEqual([names, null]);
  });
});

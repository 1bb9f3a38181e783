import { describe, expect, it } from 'vitest';
import { buildAliasMap, resolveName } from '../../../src/core/toolset/alias-map.ts';
import { offeredTools, sentTools } from '../../../src/core/turn/offered-tools.ts';
import { planNames, turnNames, withFetchResult } from '../../../src/engine/plan/plan-names.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const tools = knownTools([toolOf('builtin', 'bash', { kind: 'builtin' }), toolOf('builtin', 'fetch_result', { kind: 'builtin' })]);
const namesOf = async (...listed: { tool: string; name?: string }[]) =>
  buildAliasMap((await compile({ tools: listed }, tools)).edition, { aliases: true });
const kept = { hasAny: () => true };

describe('the tool that fetches the rest of a long result', () => {
  it('is offered last once there is such a result, and can be called', async () => {
    const names = await namesOf({ tool: 'builtin.bash' });
    let any = false;
    const now = () => withFetchResult(names, { hasAny: () => any });
    expect(now()).toBe(names);
    any = true;
    const extended = now();
    expect(extended === null ? [] : offeredTools(extended).map(({ name }) => name)).toEqual(['bash', 'fetch_result']);
    expect(extended === null ? null : resolveName(extended, 'fetch_result')).toMatchObject({ canonical: 'builtin.fetch_result' });
    expect(now()).toBe(extended);
  });

  it('is there from the start where tools are given on demand, so that the sent list does not change', async () => {
    const compiled = await compile({ tools: [{ tool: 'builtin.bash' }], onDemandAbove: 0 }, tools);
    const names = buildAliasMap(compiled.edition, { aliases: true });
    const found = [{ canonical: 'builtin.bash', name: 'bash' }];
    const sent = [false, true].map((any) => {
      const now = withFetchResult(turnNames(names, { aliases: true, allow: null }), { hasAny: () => any });
      return now === null ? [] : sentTools(now, found).map(({ name }) => name);
    });
    expect(sent).toEqual([
      ['find_tools', 'fetch_result', 'bash'],
      ['find_tools', 'fetch_result', 'bash'],
    ]);
  });

  it('is not offered twice, whatever the toolset calls it', async () => {
    const names = await namesOf({ tool: 'builtin.bash' }, { tool: 'builtin.fetch_result', name: 'more' });
    expect(withFetchResult(names, kept)).toBe(names);
  });

  it('is never offered without a session, nor in a turn without tools', async () => {
    const names = await namesOf({ tool: 'builtin.bash' });
    expect([withFetchResult(names, null), withFetchResult(null, kept)]).toEqual([names, null]);
  });
});

describe('the names of a plan', () => {
  const many = Array.from({ length: 70 }, (_, index) => toolOf('many', `tool_${index}`));
  const compiled = compile({ tools: many.map(({ canonical }) => ({ tool: canonical })) }, knownTools(many));
  const full = async () => buildAliasMap((await compiled).edition, { aliases: true });
  const plan = (allow: readonly string[] | null, more: object = {}) => ({ aliases: true, allow, ...more });
  const canonicals = many.map(({ canonical }) => canonical as string);

  it('include find_tools where most are given on demand, and count only what the plan allows', async () => {
    const names = await full();
    const has = (allow: string[] | null) => resolveName(planNames(names, plan(allow)), 'find_tools').ok;
    expect([has(null), has(canonicals.slice(0, 65)), has(canonicals.slice(0, 64)), has([])]).toEqual([true, true, false, false]);
  });

  it('are the same table for equal lists', async () => {
    const names = await full();
    const list = canonicals.slice(0, 66);
    expect(planNames(names, plan([...list]))).toBe(planNames(names, plan([...list])));
    const hashed = plan(list, { allowHash: 'f00d' });
    const stored = JSON.parse(JSON.stringify(hashed)) as typeof hashed;
    expect(planNames(names, stored)).toBe(planNames(names, hashed));
    expect(planNames(names, hashed).tools.map(({ canonical }) => canonical)).toEqual([...list, 'builtin.find_tools']);
    expect(planNames(names, plan(canonicals.slice(1), { allowHash: 'beef' }))).not.toBe(planNames(names, hashed));
  });

  it('end with the client tools, which are always sent and never need to be found', async () => {
    const clientTools = many.map((_, index) => ({ name: `mine${index}`, description: '', inputSchema: { type: 'object' } }));
    const alone = turnNames(null, { ...plan(null), clientTools });
    expect(alone === null ? [] : sentTools(alone)).toHaveLength(70);
    const both = turnNames(await full(), { ...plan(null), clientTools });
    expect(both === null ? [] : sentTools(both).map(({ name }) => name)).toEqual([
      'find_tools',
      'fetch_result',
      ...clientTools.map(({ name }) => name),
    ]);
  });
});

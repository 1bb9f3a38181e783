import { describe, expect, it } from 'vitest';
import { buildAliasMap, extendAliasMap, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import { findToolsTool } from '../../../src/core/toolset/injected-tool.ts';
import type { Gathered } from '../../../src/core/turn/gathered-tools.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { canOfferMore, isOnDemand, offeredTools, readyTools, sentTools } from '../../../src/core/turn/offered-tools.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const numbered = Array.from({ length: 300 }, (_, index) => toolOf('many', `tool_${index}`));
const known = knownTools(
  [
    ...['bash', 'read', 'fetch_result', 'find_tools'].map((name) => toolOf('builtin', name)),
    ...numbered,
    toolOf('ui', 'chart', { kind: 'ui' }),
  ],
  ['sleepy'],
);
const mapOf = async (document: object): Promise<AliasMap> => buildAliasMap((await compile(document, known)).edition, { aliases: true });
const namesOf = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name);
const many = numbered.slice(0, 5).map(({ canonical }) => ({ tool: canonical }));
const found = (...names: string[]): Gathered[] => names.map((name) => ({ canonical: `many.${name}`, name }));

describe('offeredTools', () => {
  const document = [
    { tool: 'builtin.bash', name: 'run', aliases: ['bash', { name: 'sh', mode: 'function' }, { name: 'term', mode: 'hidden' }] },
    { tool: 'sleepy.deploy' },
    { tool: 'builtin.read', aliases: ['run_read', { name: 'cat', mode: 'function' }] },
    { tool: 'ui.chart' },
  ];

  it('returns every ready tool in document order, each followed by its function aliases, without UI tools', async () => {
    expect(namesOf(offeredTools(await mapOf({ tools: document })))).toEqual(['run', 'sh', 'run_read', 'cat']);
  });

  it('is computed once', async () => {
    const map = await mapOf({ tools: document });
    expect(offeredTools(map)).toBe(offeredTools(map));
  });

  it('keeps its prefix byte for byte when a tool is added, whatever function aliases precede it', async () => {
    const before = offeredTools(await mapOf({ tools: document }));
    const after = offeredTools(
      await mapOf({ tools: [...document, { tool: 'many.tool_1', aliases: [{ name: 'one', mode: 'function' }] }] }),
    );
    expect(after).toHaveLength(before.length + 2);
    expect(JSON.stringify(after.slice(0, before.length))).toBe(JSON.stringify(before));
  });

  it('keeps the same definition objects when tools are added', async () => {
    const map = await mapOf({ tools: document });
    const extended = offeredTools(extendAliasMap(map, [findToolsTool]));
    expect(namesOf(extended)).toEqual(['run', 'sh', 'run_read', 'cat', 'find_tools']);
    for (const [index, offered] of offeredTools(map).entries()) expect(extended[index]).toBe(offered);
  });
});

describe('an on-demand toolset', () => {
  const above = async (onDemandAbove: number | undefined, tools: object[]) =>
    extendAliasMap(await mapOf({ tools, ...(onDemandAbove !== undefined && { onDemandAbove }) }), [findToolsTool]);

  it('is one with more tools than its limit', async () => {
    expect(isOnDemand(await above(4, many))).toBe(true);
    expect(isOnDemand(await above(5, many))).toBe(false);
    expect(namesOf(sentTools(await above(5, many)))).toEqual([...many.map((_, index) => `tool_${index}`), 'find_tools']);
  });

  it(`is made of a toolset with more than ${limits.defaultOnDemandAbove} tools by default`, async () => {
    const entries = (count: number) => numbered.slice(0, count).map(({ canonical }) => ({ tool: canonical }));
    expect(isOnDemand(await above(undefined, entries(limits.defaultOnDemandAbove)))).toBe(false);
    expect(isOnDemand(await above(undefined, entries(limits.defaultOnDemandAbove + 1)))).toBe(true);
  });

  it('counts only tools for models, without those always sent', async () => {
    const unready = [{ tool: 'sleepy.one' }, { tool: 'sleepy.two' }, { tool: 'ui.chart' }];
    const map = await above(5, [...many, ...unready]);
    expect([isOnDemand(map), readyTools(map)]).toEqual([false, 5]);
    expect(
      isOnDemand(
        await above(
          4,
          many.map((entry) => ({ ...entry, alwaysOffered: true })),
        ),
      ),
    ).toBe(false);
  });

  it('sends the always-offered tools in order, then the added ones', async () => {
    const map = await above(2, [
      ...many.slice(0, 2),
      { tool: 'builtin.bash', alwaysOffered: true, aliases: [{ name: 'sh', mode: 'function' }] },
      { tool: 'many.tool_2' },
      { tool: 'builtin.fetch_result', name: 'more' },
      { tool: 'many.tool_3', alwaysOffered: true },
    ]);
    expect(namesOf(sentTools(map))).toEqual(['bash', 'sh', 'more', 'tool_3', 'find_tools']);
  });

  it('sends gathered tools at the end, in order, each once', async () => {
    const map = await above(1, [{ tool: 'builtin.bash', alwaysOffered: true }, ...many]);
    const first = found('tool_3', 'tool_1');
    const gathered = [
      ...first,
      { canonical: 'builtin.bash', name: 'bash' },
      { canonical: 'many.tool_3', name: 'TOOL-3' },
      ...found('tool_0'),
    ];
    expect(namesOf(sentTools(map, first))).toEqual(['bash', 'find_tools', 'tool_3', 'tool_1']);
    expect(namesOf(sentTools(map, gathered))).toEqual(['bash', 'find_tools', 'tool_3', 'tool_1', 'tool_0']);
  });

  it('sends a function alias with its found tool', async () => {
    const map = await above(1, [...many, { tool: 'builtin.read', name: 'cat', aliases: [{ name: 'type', mode: 'function' }] }]);
    expect(namesOf(sentTools(map, [{ canonical: 'builtin.read', name: 'cat' }]))).toEqual(['find_tools', 'cat', 'type']);
  });

  it('uses current names and entries, and drops removed tools', async () => {
    const map = await above(1, [
      { tool: 'many.tool_0', name: 'renamed' },
      { tool: 'many.tool_1', name: 'first' },
      { tool: 'many.tool_1', name: 'second' },
      { tool: 'many.tool_2', name: 'tool_9' },
    ]);
    const gathered = [
      ...found('tool_0', 'tool_7'),
      { canonical: 'many.tool_1', name: 'second' },
      { canonical: 'many.tool_9', name: 'tool_9' },
    ];
    expect(namesOf(sentTools(map, gathered))).toEqual(['find_tools', 'renamed', 'second']);
  });

  it(`is sent ${limits.maxGatheredTools} gathered tools, the oldest`, async () => {
    const map = await above(
      1,
      numbered.map(({ canonical }) => ({ tool: canonical })),
    );
    const names = numbered.map(({ name }) => name).reverse();
    const gathered = found(...names);
    expect(namesOf(sentTools(map, gathered))).toEqual(['find_tools', ...names.slice(0, limits.maxGatheredTools)]);
    expect(canOfferMore(map, gathered)).toBe(false);
    expect(canOfferMore(map, gathered.slice(0, limits.maxGatheredTools - 1))).toBe(true);
  });

  it('sends the tool that a step must call at the end', async () => {
    const map = await above(1, many);
    const [, , forced = null] = map.tools;
    expect(namesOf(sentTools(map, found('tool_4'), forced))).toEqual(['find_tools', 'tool_4', 'tool_2']);
    expect(namesOf(sentTools(map, found('tool_2', 'tool_4'), forced))).toEqual(['find_tools', 'tool_2', 'tool_4']);
  });

  it('returns the same list until a tool is added, and then the same definitions', async () => {
    const map = await above(1, many);
    const gathered = found('tool_2');
    const before = sentTools(map, gathered);
    expect(sentTools(map, gathered)).toBe(before);
    const after = sentTools(map, [...gathered, ...found('tool_1')]);
    expect(after).toHaveLength(before.length + 1);
    for (const [index, definition] of before.entries()) expect(after[index]).toBe(definition);
  });
});

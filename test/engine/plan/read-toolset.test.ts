import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { sha256Hex } from '../../../src/core/hash.ts';
import { matchAgentList } from '../../../src/engine/plan/read-toolset.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const tools = [toolOf('web', 'web_search'), toolOf('draw', 'mindmap'), toolOf('files', 'read')];
const mapOf = async () =>
  buildAliasMap((await compile({ tools: tools.map(({ canonical }) => ({ tool: canonical })) }, knownTools(tools))).edition, {
    aliases: true,
  });

describe("an agent's tool list", () => {
  it('is matched once per toolset and list, and has a hash', async () => {
    const names = await mapOf();
    const list = ['MindMap', 'web-search', 'nothing'];
    const first = await matchAgentList(names, list);
    expect(first.allow).toEqual(['draw.mindmap', 'web.web_search']);
    const text = JSON.stringify(first.allow);
    expect([first.hash, first.bytes]).toEqual([await sha256Hex(text), text.length]);
    expect((await matchAgentList(names, list)).allow).toBe(first.allow);
    const again = await matchAgentList(names, [...list]);
    expect(again).toEqual(first);
    expect(again.allow).not.toBe(first.allow);
  });

  it('is matched again for another toolset', async () => {
    const list = ['read'];
    const [one, other] = [await mapOf(), await mapOf()];
    expect((await matchAgentList(one, list)).allow).not.toBe((await matchAgentList(other, list)).allow);
  });

  it('has a different hash for every list, empty ones included', async () => {
    const names = await mapOf();
    const hashes = await Promise.all(
      [[], ['read'], ['read', 'mindmap'], ['mindmap', 'read']].map(async (list) => (await matchAgentList(names, list)).hash),
    );
    expect(new Set(hashes).size).toBe(4);
  });
});

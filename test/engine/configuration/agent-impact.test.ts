import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import { Agent } from '../../../src/core/turn/agent.ts';
import { agentImpact } from '../../../src/engine/configuration/agent-impact.ts';
import { readTurnNames } from '../../../src/engine/plan/plan-names.ts';
import { planTurn } from '../../../src/engine/plan/plan-turn.ts';
import { readSkill } from '../../../src/formats/read-skill.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { runs } from '../../selection.ts';

const root = { workspace: 'default', keyId: 'root', scopes: ['admin' as const] };
const asked = ['shell', 'bash', 'Read', 'read_file', 'mindmap', 'builtin.bash', 'use_skill', 'run_code', 'Glob', 'find'];
const toolsets = {
  whole: [{ tool: 'builtin.bash', name: 'shell' }, { tool: 'builtin.read_file' }, { tool: 'local.mindmap' }],
  swapped: [
    { tool: 'builtin.bash', name: 'find' },
    { tool: 'builtin.read_file', name: 'shell' },
  ],
  small: [{ tool: 'local.mindmap', name: 'find', aliases: ['shell'] }],
};

async function openAgents() {
  const catalog = createNodeCatalog({
    definitions: [
      toolOf('builtin', 'bash', { kind: 'builtin' }),
      toolOf('builtin', 'read_file', { kind: 'builtin' }),
      toolOf('local', 'mindmap', { kind: 'local' }),
    ],
  });
  for (const [name, tools] of Object.entries(toolsets)) await catalog.put('toolset', name, { tools });
  const lint = '---\nname: lint\ndescription: Finds faults.\nallowed-tools: Read\n---\nUse `Read`.';
  await catalog.put('skill', 'lint', readSkill('lint', { content: lint, resources: [] }).skill);
  const usedIn = (toolset: string | null) => [toolset, 'elsewhere'];
  const impactOf = async (stored: Agent | null, draft: Agent) => {
    const toolset = stored?.toolset ?? null;
    const rows = usedIn(toolset).flatMap((used) =>
      asked.map((requested) => ({ requested, calls: 2, failures: 0, toolset: used, agent: 'it', key: 'k' })),
    );
    const usage = { usage: async () => ({ items: rows, nextCursor: null }), requests: async () => ({ items: [], nextCursor: null }) };
    const deps = { usage, sessions: {}, directory: catalog.directory, aliases: true } as unknown as Parameters<typeof agentImpact>[0];
    const query = { workspace: 'default', agent: 'it', from: '2026-01-01', to: '2026-01-30', key: undefined, cursor: undefined };
    return await agentImpact(deps, root, query, stored, draft);
  };
  return { catalog, impactOf };
}

describe('the impact of a draft of an agent', () => {
  it('is what turns of the stored draft really resolve, and nothing against itself, for 200 random agents', async () => {
    const { catalog, impactOf } = await openAgents();
    const targets = async (agent: Agent): Promise<(string | null)[]> => {
      const name = 'real';
      await catalog.put('agent', name, agent);
      const plan = await planTurn({ directory: catalog.directory, aliases: true }, root, { agent: name });
      const names = await readTurnNames(catalog.directory, 'default', plan, 'root');
      return asked.map((requested) => {
        const found = names === null ? null : resolveName(names, requested);
        return found?.ok ? found.canonical : null;
      });
    };
    const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const agent = fc
      .record({
        model: fc.constant('rehearsal/default'),
        toolset: some(fc.constantFrom('whole', 'swapped', 'small')),
        tools: some(fc.subarray(['shell', 'Bash', 'read_file', 'mindmap', 'nothing'])),
        skills: some(fc.constant(['lint'])),
        codeMode: some(fc.constant(true)),
      })
      .map((given) => Agent.parse(given));
    await fc.assert(
      fc.asyncProperty(agent, agent, async (stored, draft) => {
        const [was, now] = [await targets(stored), await targets(draft)];
        const differing = asked.filter((_name, index) => was[index] !== now[index]);
        const impact = await impactOf(stored, draft);
        expect(impact.changed.map(({ requested }) => requested).toSorted()).toEqual(differing.toSorted());
        expect(impact.elsewhere).toBe(asked.length * 2);
        expect(await impactOf(stored, stored)).toMatchObject({
          same: { names: asked.length, calls: asked.length * 2 },
          changed: [],
          mends: [],
        });
        if (impact.mended === null) return;
        const mended = await targets(impact.mended);
        for (const { requested, tool } of impact.mends) expect(mended[asked.indexOf(requested)]).toBe(tool);
      }),
      { numRuns: runs(200) },
    );
  });

  it('compares an agent without a toolset, or with one that does not exist, as one without tools', async () => {
    const { impactOf } = await openAgents();
    const stored = Agent.parse({ model: 'rehearsal/default', toolset: 'whole' });
    for (const toolset of [undefined, 'none'])
      expect((await impactOf(stored, { ...stored, toolset })).changed.every(({ change }) => change === 'gone')).toBe(true);
    const found = await impactOf(null, stored);
    expect(found.changed.every(({ change }) => change === 'found')).toBe(true);
    expect(found.same.names).toBe(5);
  });
});

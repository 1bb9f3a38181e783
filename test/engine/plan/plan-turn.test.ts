import { beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/core/people/principal.ts';
import { planTurn, type PlanRequest } from '../../../src/engine/plan/plan-turn.ts';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import { offeredTools } from '../../../src/core/turn/offered-tools.ts';
import { systemPrompt } from '../../../src/core/turn/system-prompt.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import { readTurnNames } from '../../../src/engine/plan/plan-names.ts';
import { readSkill } from '../../../src/formats/read-skill.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const definitions = [
  toolOf('builtin', 'bash', { kind: 'builtin' }),
  toolOf('builtin', 'read_file', { kind: 'builtin' }),
  toolOf('local', 'create_mindmap', { kind: 'local' }),
];
const lintSkill = '---\nname: lint\ndescription: Finds faults.\nallowed-tools: Read Grep(src/**)\n---\nUse `Read`.';
const root: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };

let catalog: NodeCatalog;
const plan = (request: PlanRequest, principal = root, aliases = true) =>
  planTurn({ directory: catalog.directory, aliases }, principal, request);

beforeEach(async () => {
  catalog = createNodeCatalog({ definitions });
  await catalog.put('toolset', 'demo', {
    tools: [{ tool: 'builtin.bash', name: 'run_it', aliases: ['shell'] }, { tool: 'builtin.read_file' }],
  });
  await catalog.put('agent', 'helper', {
    model: 'rehearsal/default',
    instructions: 'Be kind.',
    toolset: 'demo',
    tools: ['RunIt', 'nothing'],
  });
});

describe('a plan', () => {
  it('has the agent’s model, instructions and list, and the edition by hash', async () => {
    const made = await plan({ agent: 'helper', instructions: 'Be brief.' });
    expect(made).toMatchObject({
      model: 'rehearsal/default',
      agent: 'helper',
      instructions: 'Be kind.\n\nBe brief.',
      allow: ['builtin.bash'],
      edition: { toolset: 'demo', version: 1 },
    });
    expect(made.edition?.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('offers the whole toolset without a list, and nothing with an empty one', async () => {
    await catalog.put('agent', 'all', { model: 'rehearsal/default', toolset: 'demo' });
    await catalog.put('agent', 'none', { model: 'rehearsal/default', toolset: 'demo', tools: [] });
    expect((await plan({ agent: 'all' })).allow).toBeNull();
    expect((await plan({ agent: 'none' })).allow).toEqual([]);
  });

  it('is in code mode if its agent is, and rejects forcing a tool that only code may call', async () => {
    await catalog.put('agent', 'coder', { model: 'rehearsal/default', toolset: 'demo', codeMode: true });
    expect((await plan({ agent: 'coder' })).codeMode).toBe(true);
    expect(await plan({ agent: 'helper' })).not.toHaveProperty('codeMode');
    const choose = (tool: string) => plan({ agent: 'coder', settings: { toolChoice: { tool } } });
    expect((await choose('run_code')).settings.toolChoice).toEqual({ tool: 'run_code' });
    await expect(choose('run_it')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  describe('with names that a list or a skill has for its tools', () => {
    const namesOf = async (made: Plan) =>
      await readTurnNames(catalog.directory, 'default', JSON.parse(JSON.stringify(made)) as Plan, 'root');
    const called = async (request: PlanRequest, aliases = true) => {
      const names = await namesOf(await plan(request, root, aliases));
      return (name: string): string => {
        const found = names === null ? null : resolveName(names, name);
        return found?.ok === true ? `${found.canonical} ${found.via}` : (found?.code ?? 'none');
      };
    };

    beforeEach(async () => {
      await catalog.put('toolset', 'study', {
        tools: [{ tool: 'builtin.read_file' }, { tool: 'local.create_mindmap' }, { tool: 'builtin.bash' }],
      });
      await catalog.put('skill', 'lint', readSkill('lint', { content: lintSkill, resources: [] }).skill);
      const agent = { model: 'rehearsal/default', toolset: 'study' };
      await catalog.put('agent', 'student', { ...agent, tools: ['MindMap', 'read_file'], skills: ['lint'] });
      await catalog.put('agent', 'reader', { ...agent, skills: ['lint'] });
    });

    it('can be called by them', async () => {
      const meant = await called({ agent: 'student' });
      expect(['MindMap', 'mind_map', 'Read', 'read', 'Grep'].map(meant)).toEqual([
        'local.create_mindmap alias',
        'local.create_mindmap folded',
        'builtin.read_file alias',
        'builtin.read_file folded',
        'unknown_tool',
      ]);
      const other = await called({ agent: 'reader' });
      expect(['MindMap', 'Read', 'Grep'].map(other)).toEqual(['unknown_tool', 'builtin.read_file alias', 'builtin.bash alias']);
    });

    it('can be forced and allowed by those of the list, and shows models only the names of the toolset', async () => {
      expect((await plan({ agent: 'student', settings: { toolChoice: { tool: 'MindMap' } } })).settings.toolChoice).toBeDefined();
      const meant = await called({ agent: 'student', allowed: [{ name: 'MindMap', path: 'tools[0]' }] });
      expect(['MindMap', 'Read'].map(meant)).toEqual(['local.create_mindmap alias', 'unknown_tool']);
      const names = await namesOf(await plan({ agent: 'student' }));
      if (names === null) throw new Error('It has tools.');
      expect(offeredTools(names).map(({ name }) => name)).toEqual(['read_file', 'create_mindmap', 'use_skill']);
      expect(systemPrompt(await plan({ agent: 'student' }), names)).not.toContain('MindMap');
    });

    it('gives way to a tool of the client, and to MONIKER_ALIASES=off', async () => {
      const tools = [{ name: 'mindmap', description: '', inputSchema: { type: 'object' } }];
      const meant = await called({ agent: 'student', tools });
      expect(['MindMap', 'create_mindmap', 'Read'].map(meant)).toEqual([
        'client.mindmap folded',
        'local.create_mindmap wire',
        'builtin.read_file alias',
      ]);
      expect(['MindMap', 'Read'].map(await called({ agent: 'student' }, false))).toEqual(['unknown_tool', 'unknown_tool']);
    });

    it('accepts no name that has another meaning in the toolset', async () => {
      await catalog.put('toolset', 'study', {
        tools: [{ tool: 'builtin.read_file' }, { tool: 'local.create_mindmap' }, { tool: 'builtin.bash', name: 'read' }],
      });
      expect(['Read', 'read_file'].map(await called({ agent: 'reader' }))).toEqual(['builtin.bash folded', 'builtin.read_file wire']);
    });
  });

  it('in code mode may be narrowed to what code may call, or to run_code', async () => {
    await catalog.put('agent', 'coder', { model: 'rehearsal/default', toolset: 'demo', codeMode: true });
    const narrowed = async (name: string) => (await plan({ agent: 'coder', allowed: [{ name, path: 'tools[0]' }] })).allow;
    expect(await narrowed('shell')).toEqual(['builtin.bash']);
    expect(await narrowed('run_code')).toEqual(['builtin.bash', 'builtin.read_file']);
    await expect(narrowed('nothing')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('has the hosts that the key may reach, also if there are none', async () => {
    const reaches = (egressHosts: string[]) => plan({ agent: 'helper' }, { ...root, egressHosts });
    expect((await reaches(['api.example.com'])).egressHosts).toEqual(['api.example.com']);
    expect((await reaches([])).egressHosts).toEqual([]);
    expect(await plan({ agent: 'helper' })).not.toHaveProperty('egressHosts');
  });

  it('keeps the pinned version', async () => {
    await catalog.put('toolset', 'demo', { tools: [{ tool: 'builtin.bash' }] });
    expect((await plan({ model: 'rehearsal/default', toolset: 'demo@1' })).edition?.version).toBe(1);
    expect((await plan({ model: 'rehearsal/default', toolset: 'demo' })).edition?.version).toBe(2);
    await expect(plan({ model: 'rehearsal/default', toolset: 'demo@x' })).rejects.toMatchObject({ code: 'not_found' });
  });

  describe('of an agent with a pinned version', () => {
    beforeEach(async () => {
      await catalog.put('toolset', 'demo', { tools: [{ tool: 'builtin.bash' }] });
      await catalog.put('agent', 'pinned', { model: 'rehearsal/default', toolset: 'demo@1' });
    });
    const bound = (rights: Partial<Principal>): Principal => ({ ...root, scopes: ['chat'], ...rights });

    it('has that version, for keys that may use any version, that version, or the agent', async () => {
      const both = { toolsets: ['demo'], agents: ['pinned'] };
      for (const principal of [root, bound({ toolsets: ['demo@1'] }), bound({ agents: ['pinned'] }), bound(both)])
        expect((await plan({ agent: 'pinned' }, principal)).edition?.version).toBe(1);
      for (const toolsets of [['demo'], ['demo@2'], ['other'], []])
        await expect(plan({ agent: 'pinned' }, bound({ toolsets }))).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('cannot run while the version is retired', async () => {
      await catalog.retireVersion('demo', 1, true);
      for (const principal of [root, bound({ toolsets: ['demo@1'] }), bound({ agents: ['pinned'] })])
        await expect(plan({ agent: 'pinned' }, principal)).rejects.toMatchObject({
          code: 'not_found',
          detail: expect.stringContaining('"demo@1" is retired'),
        });
      await catalog.retireVersion('demo', 1, false);
      expect((await plan({ agent: 'pinned' })).edition?.version).toBe(1);
    });

    it('has another one if the request says so, but not for a key that is bound to the agent', async () => {
      const request = { agent: 'pinned', toolset: 'demo@2' };
      for (const principal of [root, bound({ toolsets: ['demo'] })]) expect((await plan(request, principal)).edition?.version).toBe(2);
      const agentOnly = bound({ agents: ['pinned', 'helper'] });
      for (const toolset of ['demo', 'demo@2'])
        await expect(plan({ agent: 'pinned', toolset }, agentOnly)).rejects.toMatchObject({ code: 'forbidden' });
      expect((await plan({ agent: 'pinned', toolset: 'demo@1' }, agentOnly)).edition?.version).toBe(1);
      // Each agent has its own: what another agent of the key uses does not apply.
      await expect(plan({ agent: 'helper', toolset: 'demo@1' }, agentOnly)).rejects.toMatchObject({ code: 'forbidden' });
      expect((await plan({ agent: 'helper', toolset: 'demo' }, agentOnly)).edition?.version).toBe(2);
    });

    it('has `taint: false` only for the toolset of the agent', async () => {
      await catalog.put('agent', 'loose', { model: 'rehearsal/default', toolset: 'demo@1', taint: false });
      await catalog.put('agent', 'strict', { model: 'rehearsal/default', toolset: 'demo@1', taint: true });
      const taintOf = async (agent: string, toolset?: string) => (await plan({ agent, ...(toolset !== undefined && { toolset }) })).taint;
      expect([await taintOf('loose'), await taintOf('loose', 'demo@1'), await taintOf('loose', 'demo')]).toEqual([false, false, undefined]);
      expect([await taintOf('strict'), await taintOf('strict', 'demo')]).toEqual([true, true]);
    });

    it('cannot be made from a version that does not exist', async () => {
      await catalog.put('agent', 'pinned', { model: 'rehearsal/default', toolset: 'demo@9' });
      await expect(plan({ agent: 'pinned' })).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  it.each([
    [{}, 'invalid_request'],
    [{ agent: 'nobody' }, 'not_found'],
    [{ model: 'nope/x' }, 'model_not_found'],
    [{ model: 'rehearsal/other' }, 'model_not_found'],
    [{ model: 'rehearsal/default', toolset: 'nothing' }, 'not_found'],
    [{ agent: 'helper', settings: { toolChoice: { tool: 'read_file' } } }, 'invalid_request'],
    [{ model: 'rehearsal/default', settings: { toolChoice: { tool: 'shell' } } }, 'invalid_request'],
  ])('of %j is rejected: %s', async (request, code) => {
    await expect(plan(request)).rejects.toMatchObject({ code });
  });

  it('is rejected if it is too large to be stored, naming the largest part', async () => {
    const large = { type: 'object', description: '\u00e9'.repeat(400_000) };
    const tool = (name: string, inputSchema: Record<string, unknown>) => ({ name, description: '', inputSchema });
    const model = 'rehearsal/default';
    await plan({ model, instructions: 'x'.repeat(600_000), tools: [tool('a', large)] });
    await expect(plan({ model, tools: [tool('a', large), tool('b', large)] })).rejects.toMatchObject({
      code: 'invalid_request',
      extra: { issues: [{ path: 'tools' }] },
    });
    await expect(plan({ model, instructions: '\u{1F600}'.repeat(400_000) })).rejects.toMatchObject({
      extra: { issues: [{ path: 'instructions' }] },
    });
  });

  it('accepts a forced tool by any of its names', async () => {
    for (const tool of ['run_it', 'shell', 'builtin.bash', 'RunIt']) await plan({ agent: 'helper', settings: { toolChoice: { tool } } });
    await expect(plan({ agent: 'helper', settings: { toolChoice: { tool: 'shell' } } }, root, false)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it("is made if one of an agent's models is available", async () => {
    await catalog.put('agent', 'hopeful', { model: 'nope/x', fallbacks: ['rehearsal/default'] });
    expect(await plan({ agent: 'hopeful' })).toMatchObject({ model: 'nope/x', fallbacks: ['rehearsal/default'] });
    await catalog.put('agent', 'hopeless', { model: 'nope/x', fallbacks: ['nada/y'] });
    await expect(plan({ agent: 'hopeless' })).rejects.toMatchObject({ code: 'model_not_found', detail: expect.stringContaining('nope') });
  });

  it('resolves aliases of models for each turn', async () => {
    await catalog.put('model-alias', 'fast-*', { model: 'rehearsal/default' });
    await catalog.put('model-alias', 'helper', { model: 'agent/helper' });
    await catalog.put('agent', 'quick', { model: 'fast-1', fallbacks: ['gone', 'rehearsal/default'] });
    const models = { model: 'rehearsal/default', fallbacks: ['rehearsal/default'] };
    expect(await plan({ agent: 'quick' })).toMatchObject(models);
    expect(await plan({ model: 'fast-2', toolset: 'demo' })).toMatchObject({ ...models, fallbacks: [] });
    await catalog.remove('model-alias', 'fast-*');
    expect(await plan({ agent: 'quick' })).toMatchObject({ ...models, fallbacks: [] });
    await catalog.put('agent', 'quick', { model: 'fast-1' });
    await expect(plan({ agent: 'quick' })).rejects.toMatchObject({
      code: 'model_not_found',
      detail: expect.stringContaining('PUT /v1/model-aliases/fast-1'),
    });
    await expect(plan({ model: 'helper' })).rejects.toMatchObject({ detail: expect.stringContaining('names the agent "helper"') });
  });

  it('limits a bound key to its agents and toolsets', async () => {
    await expect(plan({ agent: 'helper' }, { ...root, agents: ['other'] })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(plan({ agent: 'helper' }, { ...root, toolsets: ['other'] })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(plan({ model: 'rehearsal/default', toolset: 'demo' }, { ...root, toolsets: ['other'] })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('has the prices of its models with a cost limit, and is rejected if one is missing', async () => {
    const limited = { model: 'paid/gpt-5', fallbacks: ['rehearsal/default'], limits: { maxCost: 0.5 } };
    await catalog.put('agent', 'careful', { ...limited, fallbacks: ['rehearsal/default', 'paid/o3'] });
    await catalog.put('provider', 'paid', { kind: 'openai', baseUrl: 'http://here', prices: { 'gpt-4*': { input: 1, output: 2 } } });
    await expect(plan({ agent: 'careful' })).rejects.toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(/^limits\.maxCost: paid\/gpt-5 .*"gpt-5".*`prices`.*PUT \/v1\/providers\/paid/),
      extra: {
        issues: ['paid/gpt-5', 'paid/o3'].map((model) => ({ path: 'limits.maxCost', message: expect.stringContaining(model) })),
        ...{ limit: 'maxCost', of: 'agent', name: 'careful', model: 'paid/gpt-5' },
      },
    });
    await catalog.put('agent', 'careful', limited);
    await catalog.put('provider', 'paid', { kind: 'openai', prices: { 'gpt-*': { input: 1, output: 2 } } });
    expect((await plan({ agent: 'careful' })).prices).toEqual([
      { model: 'paid/gpt-5', price: { input: 1, output: 2 } },
      { model: 'rehearsal/default', price: { input: 0, output: 0 } },
    ]);
    expect((await plan({ agent: 'helper' })).prices).toBeUndefined();
    // List prices of the provider's own address.
    await catalog.put('provider', 'paid', { kind: 'openai' });
    expect((await plan({ agent: 'careful' })).prices?.[0]).toEqual({
      model: 'paid/gpt-5',
      price: { input: 1.25, output: 10, cachedInput: 0.125, isListed: true },
    });
  });
});

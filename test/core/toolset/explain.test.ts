import { beforeAll, describe, expect, it } from 'vitest';
import { type AliasMap, buildAliasMap, extendAliasMap, resolveName } from '../../../src/core/toolset/alias-map.ts';
import { explainHit, explainMiss } from '../../../src/core/toolset/explain.ts';
import { findToolsTool } from '../../../src/core/toolset/injected-tool.ts';
import type { Hold } from '../../../src/core/tools/hold.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const held: Hold = { reason: 'changed', refId: 'b'.repeat(64), changes: [{ path: '/description', from: 'a', to: 'b' }] };
const source = { trusted: false, pin: 'a'.repeat(64) };
const known = knownTools([
  toolOf('github', 'actions_get', {
    inputSchema: { type: 'object', properties: { method: { type: 'string' }, resource_id: { type: 'string' }, token: { type: 'string' } } },
  }),
  toolOf('docs', 'search'),
  toolOf('web', 'search'),
  toolOf('odd', 'a.b'),
  toolOf('far', 'away', { source: { ...source, state: 'held', held } }),
  toolOf('far', 'gone', { source: { ...source, state: 'missing', renamedTo: 'far.here' } }),
]);
const document = {
  tools: [
    {
      tool: 'github.actions_get',
      name: 'get_workflow',
      aliases: [
        'gh_workflow',
        { name: 'workflow', mode: 'function' },
        { name: 'fetch_workflow', mode: 'hidden' },
        { name: 'workflow_get', mode: 'deprecated', note: 'say get_workflow' },
        { name: 'old_workflow', mode: 'deprecated' },
      ],
      approval: 'always',
    },
    { tool: 'docs.search', aliases: ['find_docs'] },
    { tool: 'web.search', name: 'search_web' },
    { tool: 'odd.a.b' },
    { tool: 'far.away' },
    { tool: 'far.gone' },
  ],
};
let names: AliasMap;
beforeAll(async () => {
  names = buildAliasMap((await compile(document, known)).edition, { aliases: true });
});

function explained(name: string, among = names) {
  const hit = resolveName(among, name);
  if (!hit.ok) throw new Error(`${name}: ${hit.code}`);
  return explainHit(among, hit);
}

function missed(name: string, elsewhere: string[] = []): string {
  const miss = resolveName(names, name);
  if (miss.ok) throw new Error(`${name} means ${miss.canonical}`);
  return explainMiss(names, miss, elsewhere);
}

describe('explainHit', () => {
  it.each([
    ['get_workflow', '"get_workflow" is the wire name of github.actions_get, because its entry sets it.'],
    ['find_docs', '"find_docs" is the wire name of docs.search, because it is its first announced alias.'],
    ['gone', '"gone" is the wire name of far.gone, and its own name.'],
    ['github.actions_get', '"github.actions_get" is a canonical name; the wire name is "get_workflow".'],
    ['gh_workflow', '"gh_workflow" is an announced alias of github.actions_get; the wire name is "get_workflow".'],
    ['workflow', '"workflow" is an alias (sent as a separate definition) of github.actions_get; the wire name is "get_workflow".'],
    [
      'fetch_workflow',
      '"fetch_workflow" is a hidden alias (callable, never shown) of github.actions_get; the wire name is "get_workflow".',
    ],
    ['actions_get', '"actions_get" is the own name of github.actions_get; the wire name is "get_workflow".'],
    ['a.b', expect.stringMatching(/^"a\.b" is the own name of odd\.a\.b; the wire name is "a_b_/)],
    ['GetWorkflow', '"GetWorkflow" is "get_workflow" in another spelling, which is the wire name of github.actions_get.'],
    [
      'functions.Fetch-Workflow',
      '"functions.Fetch-Workflow" is "fetch_workflow" in another spelling, which is a hidden alias (callable, never shown) of github.actions_get; the wire name is "get_workflow".',
    ],
    [
      'ActionsGet',
      '"ActionsGet" is "actions_get" in another spelling, which is the own name of github.actions_get; the wire name is "get_workflow".',
    ],
    [
      'mcp__github__actions_get',
      '"mcp__github__actions_get" is "github.actions_get" in another spelling, which is the canonical name of github.actions_get; the wire name is "get_workflow".',
    ],
  ])('explains %j', (name, because) => {
    expect(explained(name).because).toEqual(because);
  });

  it('explains the origin of a derived wire name', () => {
    const wireName = names.tools[3]?.wireName ?? '';
    expect(explained(wireName).because).toBe(
      `"${wireName}" is the wire name of odd.a.b, derived from its own name "a.b", which some providers reject.`,
    );
    const off = buildAliasMap(names.edition, { aliases: false });
    const search = off.tools[1]?.wireName ?? '';
    expect(explained(search, off).because).toBe(
      `"${search}" is the wire name of docs.search, derived from its server and its own name "search", which another tool has too.`,
    );
  });

  it('returns the entry’s position, its rules and the pin', () => {
    expect(explained('workflow')).toMatchObject({
      entry: 'tools[0]',
      server: 'github',
      ownName: 'actions_get',
      kind: 'mcp',
      state: 'ready',
      approval: 'always',
      refId: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(explained('search_web')).toMatchObject({ entry: 'tools[2]', approval: 'policy' });
    expect(explained('workflow')).not.toHaveProperty('blocked');
  });

  it('returns no position for an added tool', () => {
    const extended = extendAliasMap(names, [findToolsTool]);
    const [added, own] = ['find_tools', 'search_web'].map((name) => resolveName(extended, name));
    if (!added?.ok || !own?.ok) throw new Error('Not found');
    expect(explainHit(extended, added).entry).toBeNull();
    expect(explainHit(extended, own).entry).toBe('tools[2]');
  });

  it.each([
    ['workflow_get', 'say get_workflow'],
    ['old_workflow', 'use get_workflow'],
    ['WorkflowGet', 'say get_workflow'],
    ['workflow', undefined],
    ['ActionsGet', undefined],
  ])('returns the deprecation note for %j: %j', (name, note) => {
    expect(explained(name).deprecated).toBe(note);
  });

  it('explains why the tool cannot be called', () => {
    expect(explained('away')).toMatchObject({ state: 'held', held, refId: source.pin, blocked: expect.stringContaining('held (changed)') });
    expect(explained('gone')).toMatchObject({ state: 'missing', renamedTo: 'far.here', blocked: expect.stringContaining('far.here') });
  });
});

describe('explainMiss', () => {
  it('names the tools with that own name', () => {
    expect(missed('search')).toBe(
      '"search" is the own name of docs.search and web.search: use one of the wire names find_docs and search_web.',
    );
    expect(missed('Search')).toBe(
      '"Search" is a name of docs.search and web.search in another spelling: use one of the wire names find_docs and search_web.',
    );
  });

  it('reports that a canonical name has several entries', async () => {
    const twice = { tools: ['one', 'two'].map((name) => ({ tool: 'docs.search', name })) };
    const map = buildAliasMap((await compile(twice, known)).edition, { aliases: true });
    const miss = resolveName(map, 'docs.search');
    expect(miss.ok ? null : explainMiss(map, miss, [])).toBe(
      '"docs.search" is the canonical name of 2 entries: use one of the wire names one and two.',
    );
  });

  it('suggests similar names, and tools of the workspace outside the toolset', () => {
    expect(missed('get_workflw')).toBe('No tool of this toolset is named "get_workflw". Did you mean get_workflow?');
    expect(missed('zzzz', ['mail.zzzz'])).toBe(
      'No tool of this toolset is named "zzzz". The workspace has mail.zzzz outside this toolset. Add an entry for it to use it.',
    );
  });

  it('quotes a hostile name cut and visible', () => {
    expect(missed(`\u202e${'x'.repeat(400)}`)).toMatch(/^[\x20-\x7e…]{1,250}$/);
  });
});

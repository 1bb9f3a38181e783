import { describe, expect, it } from 'vitest';
import { buildAliasMap, resolveName, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import { offeredTools } from '../../../src/core/turn/offered-tools.ts';
import { systemPrompt } from '../../../src/core/turn/system-prompt.ts';
import { createToolFinder } from '../../../src/engine/call/tool-context.ts';
import { prepareCall } from '../../../src/engine/call/prepare-call.ts';
import { turnNames, withFetchResult } from '../../../src/engine/plan/plan-names.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const builtins = ['bash', 'run_code', 'fetch_result', 'find_tools', 'create_tool'].map((name) =>
  toolOf('builtin', name, { kind: 'builtin' }),
);
const known = knownTools([
  ...builtins,
  toolOf('github', 'list_issues', { description: 'Lists issues.' }),
  toolOf('github', 'get-issue'),
  toolOf('ui', 'chart', { kind: 'ui', ui: { label: 'Chart', description: '', category: 'x', triggers: [] } }),
  ...Array.from({ length: 70 }, (_, index) => toolOf('many', `tool_${index}`)),
]);

const full = async (tools: readonly (string | object)[], more: object = {}) => {
  const { edition } = await compile(
    { tools: tools.map((tool) => (typeof tool === 'string' ? { tool, aliases: [] } : tool)), ...more },
    known,
  );
  return buildAliasMap(edition, { aliases: true });
};
const inCode = (names: AliasMap | null, more: object = {}) => {
  const made = turnNames(names, { aliases: true, allow: null, codeMode: true, ...more });
  if (made === null) throw new Error('it has tools');
  return made;
};
const offered = (names: AliasMap) => offeredTools(names).map(({ name }) => name);
const codeOf = (names: AliasMap) => (names.inner?.tools ?? []).map(({ wireName }) => wireName);

describe('the names of a plan in code mode', () => {
  it('are run_code for the model, and everything the plan offers for its code', async () => {
    const names = inCode(await full(['github.list_issues', 'github.get-issue', 'ui.chart']));
    expect(offered(names)).toEqual(['run_code']);
    expect(codeOf(names)).toEqual(['list_issues', 'get-issue', 'chart', 'find_tools']);
    // Proposals use the names of the turn.
    expect(names.tools.map(({ canonical }) => canonical)).toEqual(['builtin.run_code', 'ui.chart']);
  });

  it('are built once per plan, so that what is derived from them stays cached', async () => {
    const plain = await full(['github.list_issues']);
    expect(inCode(plain)).toBe(inCode(plain));
    expect(systemPrompt({ instructions: 'Be brief.' }, inCode(plain))).toBe(systemPrompt({ instructions: 'Be brief.' }, inCode(plain)));
  });

  it('include use_skill if the agent has skills, and fetch_result once a result was truncated', async () => {
    const plain = await full(['github.list_issues']);
    const names = inCode(plain, { skills: [{ name: 'count', description: 'Counts.' }] });
    expect(offered(names)).toEqual(['run_code', 'use_skill']);
    const reading = withFetchResult(names, { hasAny: () => true });
    expect(reading === null ? [] : offered(reading)).toEqual(['run_code', 'use_skill', 'fetch_result']);
    expect(reading?.inner).toBe(names.inner);
  });

  it("keep the toolset's own entry of run_code, with its name", async () => {
    const names = inCode(await full(['github.list_issues', { tool: 'builtin.run_code', name: 'script', aliases: [] }]));
    expect(offered(names)).toEqual(['script']);
    expect(systemPrompt({ instructions: '' }, names)).toContain('write code for `script`');
  });

  it('include client tools for the model and for its code', async () => {
    const clientTools = [{ name: 'pick_file', description: '', inputSchema: { type: 'object' } }];
    const names = inCode(await full(['github.list_issues']), { clientTools });
    expect(offered(names)).toEqual(['run_code', 'pick_file']);
    expect(codeOf(names)).toContain('pick_file');
    expect(systemPrompt({ instructions: '' }, names)).not.toContain('pick_file');
  });

  it('are the plain names if there is nothing that code could call', async () => {
    const nothing = await full(['github.list_issues']);
    expect(offered(inCode(nothing, { allow: [] }))).toEqual([]);
    expect(turnNames(null, { aliases: true, allow: null, codeMode: true })).toBeNull();
  });

  it("are limited to the agent's list", async () => {
    const names = inCode(await full(['github.list_issues', 'github.get-issue']), { allow: ['github.get-issue'] });
    expect(codeOf(names)).toEqual(['get-issue', 'find_tools']);
    expect(resolveName(names.inner ?? names, 'list_issues').ok).toBe(false);
  });

  it("tell a model that calls one of its code's tools to call it in code", async () => {
    const names = inCode(await full(['github.list_issues', 'github.get-issue']));
    const told = (requested: string) => {
      const { refusal } = prepareCall({ keyId: 'k', names: () => names }, { callId: 'c', requested, arguments: {} });
      return refusal === null ? null : [refusal.code, refusal.content];
    };
    const text = (called: string, code: string) => [
      'unknown_tool',
      [
        {
          type: 'text',
          text: `"${called}" cannot be called directly. Call it in code: run_code with code such as \`return await ${code}({…})\`.`,
        },
      ],
    ];
    expect(told('list_issues')).toEqual(text('list_issues', 'tools.list_issues'));
    expect(told('GitHub.Get-Issue')).toEqual(text('GitHub.Get-Issue', 'tools["get-issue"]'));
    expect(told('no_such_thing')).toEqual([
      'unknown_tool',
      [{ type: 'text', text: expect.stringContaining('There is no tool "no_such_thing".') }],
    ]);
  });
});

describe('the text that a model in code mode gets', () => {
  it('has the declarations in the prompt, since descriptions are truncated', async () => {
    const prompt = systemPrompt(
      { instructions: 'Be brief.' },
      inCode(await full(['github.list_issues', { tool: 'github.get-issue', aliases: ['issue'] }])),
    );
    expect(prompt).toMatch(/^Be brief\.\n\n## Tools in code\n/);
    expect(prompt).toContain('/** Lists issues. */\nlist_issues(args?: Record<string, unknown>): Result;');
    // Aliases are listed with the declaration, not in a block about names that cannot be called.
    expect(prompt).toContain('issue(args?: Record<string, unknown>): Result;');
    expect(prompt).not.toContain('## Tool names');
    expect(prompt).not.toContain('find_tools');
    for (const { description } of offeredTools(inCode(await full(['github.list_issues'])))) expect(description.length).toBeLessThan(1_024);
  });

  it('lists only names of many tools, and how code finds the rest', async () => {
    const names = inCode(await full(Array.from({ length: 70 }, (_, index) => `many.tool_${index}`)));
    expect(offered(names)).toEqual(['run_code']);
    const prompt = systemPrompt({ instructions: '' }, names);
    expect(prompt).toContain('`return (await tools.find_tools({ query: "…" })).output` returns the declarations');
    expect(prompt).toContain('// tools.tool_69: Does tool_69.');
    const found = await createToolFinder(names.inner ?? null, undefined, true)?.find('tool_42', 1);
    expect(found).toMatchObject([
      { name: 'tool_42', declaration: '/** Does tool_42. */\ntool_42(args?: Record<string, unknown>): Result;' },
    ]);
    const [plain] = (await createToolFinder(names.inner ?? null)?.find('tool_42', 1)) ?? [];
    expect(plain).not.toHaveProperty('declaration');
  });
});

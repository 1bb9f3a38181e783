import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Policy, rulesOf } from '../../../src/core/policy/policy.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { createDecisionComparison } from '../../../src/engine/configuration/decision-impact.ts';
import { explainCall } from '../../../src/engine/policy/explain-policy.ts';
import { toolDefinitions } from '../../../src/tools/registry.ts';
import { policyDoor } from '../policy-door.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const known = knownTools([
  toolOf('fs', 'read', { annotations: { readOnlyHint: true } }),
  toolOf('fs', 'drop', { annotations: { destructiveHint: true } }),
  toolOf('web', 'post'),
  ...toolDefinitions().filter(({ canonical }) => /^builtin\.(write_file|delete_file|http_request)$/.test(canonical)),
]);
const document = {
  tools: [
    { tool: 'fs.read' },
    { tool: 'fs.drop', approval: 'always' as const },
    { tool: 'web.post', approval: 'never' as const },
    { tool: 'builtin.*' },
  ],
};
const { tools } = buildAliasMap((await compile(document, known)).edition, { aliases: true });
const find = (canonical: string): EditionTool => {
  const tool = tools.find((one) => one.canonical === canonical);
  if (tool === undefined) throw new Error(canonical);
  return tool;
};
const callers = [
  { agent: null, key: 'k1' },
  { agent: 'triage', key: 'k2' },
];
const calls = [
  ...['fs.read', 'fs.drop', 'web.post'].map((tool) => ({ tool, args: {} })),
  ...['/workspace/a', '/workspace/b'].flatMap((path) => [
    { tool: 'builtin.write_file', args: { path, content: 'x' } },
    { tool: 'builtin.delete_file', args: { path } },
  ]),
  { tool: 'builtin.http_request', args: { url: 'https://a.example/', method: 'POST' } },
].flatMap((call) => callers.map((caller) => ({ ...call, ...caller })));

const rule = fc
  .record({
    decision: fc.constantFrom('allow', 'ask', 'deny'),
    tool: fc.constantFrom(undefined, 'fs.*', 'fs.drop', 'web.post', 'builtin.write_file'),
    path: fc.constantFrom(undefined, undefined, '/workspace/a'),
    effect: fc.constantFrom(undefined, 'read', 'write', 'destroy', 'send'),
    agent: fc.constantFrom(undefined, undefined, 'triage'),
    key: fc.constantFrom(undefined, undefined, 'k1'),
  })
  .map((members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)));
/** Random rules without those that could never match. */
const policy = fc
  .array(rule, { maxLength: 5 })
  .map((rules) => rulesOf({ rules: rules.flatMap((one) => Policy.safeParse({ rules: [one] }).data?.rules ?? []) }));

const { deps, scope } = policyDoor();
const verdict = async (rules: ReturnType<typeof rulesOf>, { tool, args, agent, key }: (typeof calls)[number]): Promise<string> => {
  const asked = { ...scope, names: null, rules, keyId: key, isScratch: true, ...(agent !== null && { agent }) };
  return (await explainCall(deps, asked, find(tool), args, new AbortController().signal)).verdict;
};

describe('the impact of other rules on past calls', () => {
  it('is what a test of each call says, for random rules, and nothing for the same rules', async () => {
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(policy, policy, async (before, after) => {
        const comparison = createDecisionComparison();
        const expected: Record<string, number> = {};
        for (const call of calls) {
          const sides = [before, after].map((rules) => ({ tool: find(call.tool), rules }));
          const [was, now] = sides;
          if (was === undefined || now === undefined) throw new Error('two sides');
          const { agent, key, args } = call;
          comparison.count(was, now, { calls: 1, agent, key, agents: [], keys: [] });
          if (call.tool.startsWith('builtin.')) comparison.add(was, now, { arguments: args, agent, key, session: 's' });
          const verdicts = [await verdict(before, call), await verdict(after, call)];
          const change = `${call.tool} ${verdicts.join(' ')}`;
          if (verdicts[0] !== verdicts[1]) expected[change] = (expected[change] ?? 0) + 1;
        }
        const { changed, judged, unjudged } = comparison.result();
        const found: Record<string, number> = {};
        for (const { tool, was, now, calls: count } of changed) {
          const change = `${tool} ${was.verdict} ${now.verdict}`;
          found[change] = (found[change] ?? 0) + count;
          changes += count;
        }
        expect(found).toEqual(expected);
        expect([judged, unjudged.arguments]).toEqual([calls.length, 0]);
      }),
      { numRuns: 500 },
    );
    expect(changes).toBeGreaterThan(500);
  });

  it('counts calls whose arguments were not kept, of unknown tools, and of what runs code', async () => {
    const comparison = createDecisionComparison();
    const side = { tool: find('builtin.write_file'), rules: [] };
    comparison.count(side, side, { calls: 5, agent: null, key: 'k', agents: [], keys: [] });
    comparison.count(null, null, { calls: 3, agent: null, key: 'k', agents: [], keys: [] });
    const code = { tool: { ...find('fs.read'), kind: 'made' as const }, rules: [] };
    comparison.count(code, code, { calls: 2, agent: null, key: 'k', agents: [], keys: [] });
    expect(comparison.result()).toMatchObject({ judged: 2, changedCalls: 0, unjudged: { arguments: 5, tools: 3, inner: 2 } });
  });
});

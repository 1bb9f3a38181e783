/**
 * Checks whether a rule can match anything: a rule that never matches is a mistake, because the actions that it should deny remain
 * allowed. Tried on examples of everything that a tool can do, with the same matching code. Used when a policy is written.
 */
import { callsTools } from '../tools/composite-tool.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import type { Actor } from './effects/effect-kind.ts';
import { effectRules, type Effect } from './policy-effect.ts';
import type { Taint } from './taint.ts';
import { callEffect } from './effects/call.ts';
import { ruleApplies } from './evaluate-policy.ts';
import type { PolicyRule } from './rule.ts';

export function isSatisfiable(rule: PolicyRule): boolean {
  const examples = effectRules.flatMap((kind) => kind.examples(rule));
  return actorsFor(rule).some(({ actor, kinds }) =>
    [...callEffects(kinds), ...examples].some((effect) => taints.some((taint) => ruleApplies(rule, effect, { actor, taint }))),
  );
}

const taints: readonly (Taint | null)[] = [null, { private: 'a', untrusted: 'b' }];

type ToolKind = EditionTool['kind'];
const kindsByServer: ReadonlyMap<string, ToolKind> = new Map(
  (['builtin', 'local', 'made', 'client', 'ui'] as const).map((kind) => [kind, kind]),
);

/** The possible actors: the rule's tool, and a tool that it calls. */
function actorsFor({ tool, agent, key }: PolicyRule): { actor: Actor; kinds: readonly ToolKind[] }[] {
  const by = { agent: agent ?? null, key: key ?? 'key' };
  if (tool === undefined) return [{ actor: { tool: 'server.tool', ...by }, kinds: ['mcp', 'builtin', 'local'] }];
  const kind = kindsByServer.get(tool.slice(0, tool.indexOf('.'))) ?? 'mcp';
  const named = tool.replace(/\*$/, 'tool');
  const itself = { actor: { tool: named, ...by }, kinds: [kind] };
  const calls = tool === 'builtin.*' || callsTools({ kind, canonical: named });
  return calls ? [itself, { actor: { tool: 'server.tool', chain: [named], ...by }, kinds: ['mcp'] }] : [itself];
}

function callEffects(kinds: readonly ToolKind[]): Effect[] {
  const hints = [{}, { readOnlyHint: true }, { destructiveHint: true }];
  return kinds.flatMap((kind) =>
    hints.flatMap((annotations) =>
      [true, false].map((trusted) => callEffect({ kind, annotations, ...(trusted && { trusted: true as const }) })),
    ),
  );
}

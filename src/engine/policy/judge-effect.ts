/** Judges an effect of a call by the rules, the caller, and what the conversation has seen so far. Used wherever a call reaches a capability. */
import type { Effect } from '../../core/policy/policy-effect.ts';
import { evaluatePolicy, type PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { taintFor } from './mark-taint.ts';
import type { CallScope } from '../call/tool-call.ts';

export type JudgedScope = Pick<CallScope, 'rules' | 'keyId' | 'agent' | 'chain' | 'taint' | 'taintRule'>;

/** `tool`: the tool that has the effect. The taint marks are read for each effect. */
export function createEffectJudge(scope: JudgedScope, tool: EditionTool): (effect: Effect) => PolicyDecision {
  const actor = {
    tool: tool.canonical,
    agent: scope.agent ?? null,
    key: scope.keyId,
    ...(scope.chain !== undefined && { chain: scope.chain }),
  };
  const taintRule = scope.taintRule === true;
  return (effect) => {
    const taint = scope.taintRule === false ? null : taintFor(scope.taint, tool, effect);
    return evaluatePolicy(scope.rules, effect, { actor, taint, taintRule });
  };
}

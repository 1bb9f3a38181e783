import { rulesToRemember } from '../../src/core/policy/approval-ways.ts';
import type { ApprovalReason } from '../../src/core/policy/approval.ts';
import type { PolicyRule } from '../../src/core/policy/rule.ts';

/** Returns the rule that an approval of one operation is remembered as; null: it cannot be. */
export function ruleToRemember(canonical: string, asked: Pick<ApprovalReason, 'kind' | 'target'>): PolicyRule | null {
  const found = rulesToRemember(canonical, { ...asked, effects: [], effectCount: 1 });
  return 'rules' in found ? (found.rules[0] ?? null) : null;
}

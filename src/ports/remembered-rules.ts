/** Rules that approvals were remembered as for one session. Their object stores them. */
import type { PolicyRule } from '../core/policy/rule.ts';

export type RememberedRules = {
  list(): readonly PolicyRule[];
  /** Throws `conflict` if there is no room for these rules. */
  requireRoom(rules: readonly PolicyRule[]): void;
  /** Identical rules are stored once. Throws as `requireRoom`, and then stores none. */
  add(rules: readonly PolicyRule[]): void;
  /** Returns the rules of the workspace followed by these; the given value if there are none. */
  after(rules: readonly PolicyRule[]): readonly PolicyRule[];
};

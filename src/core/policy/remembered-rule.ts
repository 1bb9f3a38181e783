/** Builds the rule that `remember` stores for an approved question. Used by the session when a person decides. */
import type { ApprovalReason } from './approval.ts';
import { permanentFolders } from '../text/path.ts';
import type { PolicyRule } from './rule.ts';

type Asked = Pick<ApprovalReason, 'kind' | 'target'> & { several?: true | undefined };

/**
 * Returns a rule that allows a host for the whole workspace, or a path, a toolset or a made tool for the tool in question only. Never
 * wider than what the person saw. null: it cannot be remembered and requires approval every time (`whyNotRemembered`).
 */
export function ruleToRemember(canonical: string, asked: Asked): PolicyRule | null {
  const { kind, target } = asked;
  if (target === null || whyNotRemembered(asked) !== null) return null;
  switch (kind) {
    case 'always':
    case 'rule':
      return null;
    case 'network':
      return { decision: 'allow', kind, host: target };
    case 'delete-file':
    case 'overwrite-file':
    case 'write-outside':
      return { decision: 'allow', kind, tool: canonical, path: target };
    case 'destructive':
    case 'untrusted':
      return { decision: 'allow', kind, tool: canonical };
    case 'registry':
      return { decision: 'allow', kind, tool: canonical, name: target };
    case 'taint':
      // The target of a call is its tool; then the rule covers only that tool, not others that send there.
      return target === canonical ? { decision: 'allow', kind, tool: canonical } : { decision: 'allow', kind, host: target };
    default:
      return kind satisfies never;
  }
}

/** Returns the error for a decision with `remember`; null if it can be remembered. */
export function whyNotRemembered({ kind, target, several }: Asked): string | null {
  if (several === true) return 'the question lists several effects, and a rule covers only one. Leave it out, or add rules to the policy';
  if (kind === 'always' || kind === 'rule' || target === null)
    return 'this requires approval every time and cannot be remembered. Leave it out';
  // These folders contain everything: a rule would cover far more than the person saw.
  if ((kind === 'delete-file' || kind === 'overwrite-file' || kind === 'write-outside') && permanentFolders.includes(target))
    return `an approval for ${target} is valid only once, since a rule would cover every file in it. Leave it out`;
  return null;
}

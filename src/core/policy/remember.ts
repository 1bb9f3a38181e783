/** What `remember` stores for a question that was answered with yes. Used by the session where a person decides. */
import type { Ask } from '../approval.ts';
import type { PolicyRule } from './rule.ts';

/**
 * A host is known to the whole workspace from then on; a path only to the tool that was asked for. null: there is nothing to remember, it asks
 * every time.
 */
export function ruleOf(canonical: string, { kind, target }: Pick<Ask, 'kind' | 'target'>): PolicyRule | null {
  if (target === null) return null;
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
    case 'registry':
      return { decision: 'allow', kind, tool: canonical };
    case 'taint':
      // Of a call the target is its tool; only that tool then, not whoever sends there.
      return target === canonical ? { decision: 'allow', kind, tool: canonical } : { decision: 'allow', kind, host: target };
    default:
      return kind satisfies never;
  }
}

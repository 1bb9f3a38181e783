/** What `remember` stores for a question that was answered with yes. Used by the session where a person decides. */
import type { Ask } from '../approval.ts';
import { permanentFolders } from '../path.ts';
import type { PolicyRule } from './rule.ts';

type Asked = Pick<Ask, 'kind' | 'target'> & { several?: true | undefined };

/**
 * A host is known to the whole workspace from then on; a path, a toolset or a made tool only to the tool that was asked for. Never wider than
 * what the person was shown. null: there is nothing to remember, it asks every time (`whyNotRemembered`).
 */
export function ruleOf(canonical: string, asked: Asked): PolicyRule | null {
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
      // Of a call the target is its tool; only that tool then, not whoever sends there.
      return target === canonical ? { decision: 'allow', kind, tool: canonical } : { decision: 'allow', kind, host: target };
    default:
      return kind satisfies never;
  }
}

/** For whoever asked to have it remembered; null: it can be. */
export function whyNotRemembered({ kind, target, several }: Asked): string | null {
  if (several === true)
    return 'the question lists several effects, and a rule is about one: leave it out, or write the rules that you want into the policy';
  if (kind === 'always' || kind === 'rule' || target === null)
    return 'this is asked about every time, so it cannot be remembered: leave it out';
  // These hold everything: what was seen of them is no measure of what a rule would be about.
  if ((kind === 'delete-file' || kind === 'overwrite-file' || kind === 'write-outside') && permanentFolders.includes(target))
    return `a yes to ${target} is good for this once: as a rule it would be about every file that is ever there. Leave it out`;
  return null;
}

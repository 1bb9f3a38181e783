/** The filter of a webhook, in CEL: which events count. */
import type { Issue } from '../problem.ts';
import type { TriggerScope } from './template.ts';

/** `fault`: why it could not be said; then it does not match. */
export type Filter = (scope: TriggerScope) => { matches: boolean; fault: string | null };

export function parseFilter(_text: string, _path: string): { filter: Filter } | { issue: Issue } {
  throw new Error('not built yet');
}

/** What the templates of a trigger make of an event: the key of its session, and what its agent is told. */
import type { Rendered } from './delivery.ts';
import type { Template, TriggerScope } from './template.ts';

/** `fault`: why no turn can be made of it (the key names nothing, the input is empty or too large). */
export function renderTrigger(
  _templates: { session: Template; input: Template },
  _scope: TriggerScope,
): { rendered: Rendered } | { fault: string; warnings: string[] } {
  throw new Error('not built yet');
}

/** Joined to the agent's instructions: how what came from outside is marked in the input. */
export const markedDataNote = '';

/** What the templates of a trigger make of an event: the key of its session, and what its agent is told. */
import { limits } from '../../limits.ts';
import type { Rendered } from '../delivery.ts';
import { renderTemplate } from './render-template.ts';
import type { Template, TriggerScope } from './template.ts';

/** `fault`: why no turn can be made of it (the key names nothing, the input is empty or too large). */
export function renderTrigger(
  templates: { session: Template; input: Template },
  scope: TriggerScope,
): { rendered: Rendered } | { fault: string; warnings: string[] } {
  const input = renderTemplate(templates.input, scope, 'input');
  const key = renderTemplate(templates.session, scope, 'key');
  const warnings = [...new Set([...key.warnings, ...input.warnings])].slice(0, limits.maxDeliveryWarnings);
  if ('fault' in key) return { fault: `The session’s key: ${key.fault}.`, warnings };
  if (key.text === '') return { fault: 'The session’s key is empty: its template makes nothing of this event.', warnings };
  if ('fault' in input) return { fault: `The input: ${input.fault}.`, warnings };
  if (input.text.trim() === '') return { fault: 'The input is empty: its template makes nothing of this event.', warnings };
  return { rendered: { sessionKey: key.text, input: input.text, warnings } };
}

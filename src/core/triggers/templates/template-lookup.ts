/** What a path of a template names in an event: own properties of JSON only, so nothing of the language itself can be reached. */
import type { TemplatePath, TriggerScope } from './template.ts';

/** Where a template stands: the event, and within `{{#each}}` the item and its number. */
export type Frame = { scope: TriggerScope; item: unknown; index: number | null };

/** undefined: it names nothing. Of lists: items by number, and `length`; of texts nothing. */
export function valueAt(path: TemplatePath, { scope, item, index }: Frame): unknown {
  const { from, steps } = path;
  if (from === 'own' && steps[0] === 'index') return steps.length === 1 ? (index ?? undefined) : undefined;
  let value: unknown = from === 'own' ? scope.own : from === 'this' ? item : scope.payload;
  for (const step of steps) value = memberOf(value, step);
  return value;
}

function memberOf(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    if (step === 'length') return value.length;
    return typeof step === 'number' ? value[step] : undefined;
  }
  // Own properties only, whatever they hold: the values are JSON's.
  return Object.hasOwn(value, step) ? (value as Record<string | number, unknown>)[step] : undefined;
}

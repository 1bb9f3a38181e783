/**
 * Allow-lists of models: `models` of a key, an agent and a workspace. A model that one of them does not list is refused. They are matched
 * against `<provider>/<model>`, after aliases.
 */
import { Problem, quoted } from '../problem.ts';
import { type LimitHolder, nameHolder } from '../usage-limits.ts';
import { allowsModel, type CalledModel, type ModelPatterns } from './model-name.ts';

export type ModelRule = LimitHolder & { models: ModelPatterns };

const maxNamed = 20;

export function isModelAllowed(rules: readonly ModelRule[], called: CalledModel): boolean {
  return rules.every(({ models }) => allowsModel(models, called));
}

/** Throws `forbidden` with the list that does not have the model. */
export function requireAllowedModel(rules: readonly ModelRule[], called: CalledModel): void {
  const rule = rules.find(({ models }) => !allowsModel(models, called));
  if (rule === undefined) return;
  const { of, name, models } = rule;
  const more = models.length > maxNamed ? ` and ${models.length - maxNamed} more` : '';
  const ref = `${called.provider}/${called.model}`;
  const detail = `The model ${quoted(ref)} is not among the \`models\` of ${nameHolder({ of, name })}: ${models.slice(0, maxNamed).join(', ')}${more}. Use one of them, or ask an administrator to add it.`;
  throw new Problem('forbidden', detail, { param: 'model', of, name, model: ref });
}

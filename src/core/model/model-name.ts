/**
 * Names of models: the name that a provider is asked for, and the patterns of allow-lists and prices. Case is ignored, since services find a
 * model under its name in any case: it must have the same price and the same permission under each.
 */
import * as z from 'zod';
import type { ProviderKind } from '../names/provider-kind.ts';
import { vertexModel } from './cloud-access.ts';
import { matchesPieces } from '../text/match-stars.ts';
import { Problem, quoted } from '../problem.ts';
import { type LimitHolder, nameHolder } from '../usage-limits.ts';
import { listFirst } from '../text/paragraphs.ts';

const maxPatterns = 100;

/** `<provider>/<model>`, where `*` in the model matches any text, and `*` as the provider matches every provider. */
export const ModelPatterns = z
  .array(
    z.string().regex(/^(\*|(?!agent\/)[a-z][a-z0-9-]{0,31})\/.{1,200}$/, {
      message: 'must be <provider>/<model>, such as openai/gpt-5*, anthropic/* or */gpt-5; to allow agents, use `agents` of the key',
    }),
  )
  .min(1)
  .max(maxPatterns)
  .meta({ id: 'ModelPatterns', example: ['openai/gpt-5*', 'anthropic/*'] });
export type ModelPatterns = z.infer<typeof ModelPatterns>;

/** `kind`: of the provider. */
export type CalledModel = { provider: string; kind: ProviderKind | 'rehearsal'; model: string };

/**
 * Returns the name that the provider is asked for. Google's APIs name one model in several ways (`gemini-x`, `models/gemini-x`, Vertex's
 * full names), of which the last part is sent; tuned models and endpoints have their own collections.
 */
export function calledName({ kind, model }: Pick<CalledModel, 'kind' | 'model'>): string {
  if (kind === 'vertex') return vertexModel(model).name;
  if (kind !== 'gemini') return model;
  const name = model.slice(model.lastIndexOf('/') + 1);
  const [, collection] = /(?:^|\/)(tunedModels|endpoints)\/[^/]+$/.exec(model) ?? [];
  return collection === undefined ? name : `${collection}/${name}`;
}

export function allowsModel(patterns: ModelPatterns, called: CalledModel): boolean {
  return matchesAny(patterns, called.provider, calledName(called));
}

/** Whether `wide` allows everything that `narrow` does: a `*` of the narrow one is only matched by a `*` of the wide one. */
export function coversPattern(wide: ModelPatterns, narrow: string): boolean {
  const slash = narrow.indexOf('/');
  return matchesAny(wide, narrow.slice(0, slash), narrow.slice(slash + 1));
}

function matchesAny(patterns: ModelPatterns, provider: string, model: string): boolean {
  return patterns.some((pattern) => {
    const slash = pattern.indexOf('/');
    const place = pattern.slice(0, slash);
    return (place === '*' || place === provider) && matchesModel(pattern.slice(slash + 1), model);
  });
}

/**
 * Whether a pattern matches a name, in any case. A `*` matches only characters that are usual in names: with others, such as commas and
 * blanks, gateways write several models in one name.
 */
export function matchesModel(pattern: string, name: string): boolean {
  const pieces = pattern.toLowerCase().split('*');
  const text = name.toLowerCase();
  return (pieces.length === 1 || /^[\w.:@+~/*-]*$/.test(text)) && matchesPieces(pieces, text);
}

/** An allow-list of models: `models` of a key, an agent or a workspace. A model that one of them does not list is refused. */
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
  const ref = `${called.provider}/${called.model}`;
  const detail = `The model ${quoted(ref)} is not among the \`models\` of ${nameHolder({ of, name })}: ${listFirst(models, maxNamed)}. Use one of them, or ask an administrator to add it.`;
  throw new Problem('forbidden', detail, { param: 'model', of, name, model: ref });
}

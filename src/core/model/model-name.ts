/**
 * Names of models: the name that a provider is asked for, and the patterns of allow-lists and prices. Case is ignored, since services find a
 * model under its name in any case: it must have the same price and the same permission under each.
 */
import { z } from 'zod';
import type { ProviderKind } from './provider-kind.ts';

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
  const first = pieces.shift() ?? '';
  const last = pieces.pop();
  if (last === undefined) return first === text;
  return /^[\w.:@+~/*-]*$/.test(text) && fits([first, ...pieces, last], text);
}

/** Finds the parts between the stars one after the other: linear, unlike a regular expression with many stars. */
function fits(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of parts.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

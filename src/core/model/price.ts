/**
 * The price of a model: as written by the administrator of its provider, in any currency, else from the built-in table (USD). For limits
 * and reports, not for billing.
 */
import { z } from 'zod';
import type { Usage } from './chat-event.ts';
import { getOrBuild, memoizeByObject } from '../memoize.ts';
import { type CalledModel, calledName, matchesModel } from './model-name.ts';
import { listPrice } from './price-table.ts';

const perMillion = z.number().min(0).max(1_000_000);

/** Price per million tokens. */
export const Price = z
  .strictObject({
    input: perMillion,
    output: perMillion,
    cachedInput: perMillion.optional().meta({ description: 'Of input that is read from the provider’s cache. Default: `input`.' }),
    cacheWrite: perMillion.optional().meta({ description: 'Of input that is written to the provider’s cache. Default: `input`.' }),
  })
  .meta({ id: 'Price' });
export type Price = z.infer<typeof Price>;

/** Prices by model, in any case, where `*` matches any text. */
export const Prices = z
  .record(z.string().min(1).max(200), Price)
  .refine((prices) => Object.keys(prices).length <= 500, { message: 'at most 500' })
  .meta({ id: 'Prices', example: { 'gpt-5*': { input: 1.25, output: 10 } } });
export type Prices = z.infer<typeof Prices>;

type PricedProvider = { kind: CalledModel['kind']; prices?: Prices | undefined; baseUrl: string };

/** Returns the price of a provider's model: its own, else the list price; null if neither is known. */
export function priceOf(provider: PricedProvider, model: string): Price | null {
  const find = (): Price | null => {
    const name = calledName({ kind: provider.kind, model });
    return ownPrice(provider.prices ?? {}, name) ?? listPrice(provider.baseUrl, name);
  };
  return getOrBuild(pricesOf(provider), model, maxCachedModels, find);
}

/** Every request is priced, and callers choose the names of models. */
const pricesOf = memoizeByObject((_provider: PricedProvider) => new Map<string, Price | null>());
const maxCachedModels = 100;

/** Returns the price of the most specific matching pattern; null if none matches. */
function ownPrice(prices: Prices, model: string): Price | null {
  const fitting = Object.entries(prices).filter(([pattern]) => matchesModel(pattern, model));
  const [best] = fitting.sort(([a], [b]) => precision(b, model) - precision(a, model));
  return best?.[1] ?? null;
}

/** Returns the error message for a model without a price: names the model and where to add its price. */
export function missingPrice(provider: string, model: string): string {
  const name = JSON.stringify(model);
  return `${provider}/${model} has no price: add ${name} to \`prices\` of its provider (PUT /v1/providers/${provider}), such as {${name}: {"input": 1.25, "output": 10}} per million tokens`;
}

export function costOf({ input, output, cachedInput = input, cacheWrite = input }: Price, usage: Usage): number {
  const { inputTokens, outputTokens, cachedInputTokens: read = 0, cacheWriteInputTokens: written = 0 } = usage;
  const plain = Math.max(0, inputTokens - read - written);
  return (plain * input + read * cachedInput + written * cacheWrite + outputTokens * output) / 1_000_000;
}

/** Returns the most that these tokens can cost, whether or not the input is cached. */
export function mostCost({ input, output, cachedInput = input, cacheWrite = input }: Price, { inputTokens, outputTokens }: Usage): number {
  return costOf({ input: Math.max(input, cachedInput, cacheWrite), output }, { inputTokens, outputTokens });
}

/** The number of literal characters; an exact name is more specific than any pattern, most of all in the same case. */
function precision(pattern: string, model: string): number {
  if (pattern.includes('*')) return pattern.replaceAll('*', '').length;
  return pattern === model ? Number.POSITIVE_INFINITY : Number.MAX_VALUE;
}

/**
 * The price of a model: as written by the administrator of its provider, in any currency, else from the built-in table (USD). For limits
 * and reports, not for billing.
 */
import * as z from 'zod';
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
    cacheWriteHour: perMillion
      .optional()
      .meta({ description: 'Of input that is written to the provider’s cache for an hour. Default: `cacheWrite`.' }),
  })
  .meta({ id: 'Price' });
export type Price = z.infer<typeof Price>;

/** Prices by model, in any case, where `*` matches any text. */
export const Prices = z
  .record(z.string().min(1).max(200), Price)
  .refine((prices) => Object.keys(prices).length <= 500, { message: 'at most 500' })
  .meta({ id: 'Prices', example: { 'gpt-5*': { input: 1.25, output: 10 } } });
export type Prices = z.infer<typeof Prices>;

/** `isListed`: from the built-in table, so that a cost that the provider reports is more exact. */
export type ModelPrice = Price & { isListed?: true };

type PricedProvider = { kind: CalledModel['kind']; prices?: Prices | undefined; baseUrl: string };

/** Returns the price of a provider's model: its own, else the list price; null if neither is known. */
export function priceOf(provider: PricedProvider, model: string): ModelPrice | null {
  const find = (): ModelPrice | null => {
    const name = calledName({ kind: provider.kind, model });
    return ownPrice(provider.prices ?? {}, name) ?? listPrice(provider.baseUrl, name);
  };
  return getOrBuild(pricesOf(provider), model, maxCachedModels, find);
}

/** Every request is priced, and callers choose the names of models. */
const pricesOf = memoizeByObject((_provider: PricedProvider) => new Map<string, ModelPrice | null>());
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

/** The provider's own prices take precedence over the cost that it reports, and that over the list price. null: not known. */
export function costOf(price: ModelPrice | null, usage: Usage): number | null {
  if (usage.cost !== undefined && (price === null || price.isListed)) return usage.cost;
  return price === null ? null : costAt(price, usage);
}

function costAt({ input, output, cachedInput = input, cacheWrite = input, cacheWriteHour = cacheWrite }: Price, usage: Usage): number {
  const { inputTokens, outputTokens, cachedInputTokens: read = 0, cacheWriteInputTokens: written = 0 } = usage;
  const forHour = Math.min(written, usage.cacheWriteHourInputTokens ?? 0);
  const plain = Math.max(0, inputTokens - read - written);
  const writing = (written - forHour) * cacheWrite + forHour * cacheWriteHour;
  return (plain * input + read * cachedInput + writing + outputTokens * output) / 1_000_000;
}

/** Returns the most that these tokens can cost, whether or not the input is cached. */
export function mostCost(price: Price, { inputTokens, outputTokens }: Usage): number {
  const { input, output, cachedInput = input, cacheWrite = input, cacheWriteHour = cacheWrite } = price;
  return costAt({ input: Math.max(input, cachedInput, cacheWrite, cacheWriteHour), output }, { inputTokens, outputTokens });
}

/** The number of literal characters; an exact name is more specific than any pattern, most of all in the same case. */
function precision(pattern: string, model: string): number {
  if (pattern.includes('*')) return pattern.replaceAll('*', '').length;
  return pattern === model ? Number.POSITIVE_INFINITY : Number.MAX_VALUE;
}

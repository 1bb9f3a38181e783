/** What a model costs, as a provider's administrator writes it: plain numbers, in whatever currency. For limits, not for bills. */
import { z } from 'zod';
import type { Usage } from './chat-event.ts';

const perMillion = z.number().min(0).max(1_000_000);

/** For a million tokens. */
export const Price = z.strictObject({ input: perMillion, output: perMillion }).meta({ id: 'Price' });
export type Price = z.infer<typeof Price>;

/** By model, where `*` stands for any text. */
export const Prices = z
  .record(z.string().min(1).max(200), Price)
  .refine((prices) => Object.keys(prices).length <= 500, { message: 'at most 500' })
  .meta({ id: 'Prices', example: { 'gpt-5*': { input: 1.25, output: 10 } } });
export type Prices = z.infer<typeof Prices>;

/** Of the patterns that fit, the one that says most wins; null when none does. */
export function priceOf(prices: Prices, model: string): Price | null {
  const fitting = Object.entries(prices).filter(([pattern]) => fits(pattern, model));
  const [best] = fitting.sort(([a], [b]) => precision(b) - precision(a));
  return best?.[1] ?? null;
}

/** What to say of a model that a limit of cost cannot be counted for: which it is, and where its price belongs. */
export function missingPrice(provider: string, model: string): string {
  const name = JSON.stringify(model);
  return `${provider}/${model} has no price to count with: add ${name} to \`prices\` of its provider (PUT /v1/providers/${provider}), such as {${name}: {"input": 1.25, "output": 10}} for a million tokens`;
}

export function costOf(price: Price, usage: Usage): number {
  return (usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000;
}

/** The pieces between the stars, found one after the other: linear, where a regular expression of many stars is not. */
function fits(pattern: string, model: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces.shift() ?? '';
  const last = pieces.pop();
  if (last === undefined) return pattern === model;
  if (!model.startsWith(first) || !model.endsWith(last) || model.length < first.length + last.length) return false;
  const end = model.length - last.length;
  let at = first.length;
  for (const piece of pieces) {
    const found = model.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** Letters that are said; a whole name says more than any pattern. */
function precision(pattern: string): number {
  return pattern.includes('*') ? pattern.replaceAll('*', '').length : Number.POSITIVE_INFINITY;
}

/**
 * The price of a call of a tool, in USD: that of its toolset entry, else that of its server. A trusted MCP server may report the price of a
 * call in the `_meta` of its result, which then takes precedence. A call is charged once, when it was sent, whether or not it succeeded.
 */
import { z } from 'zod';
import { limits } from '../limits/limits.ts';

const maxToolPrice = 1_000;

export const ToolPrice = z
  .number()
  .min(0)
  .max(maxToolPrice)
  .meta({ id: 'ToolPrice', description: 'USD for each call that is sent, also if it fails.', example: 0.01 });

/** One price for all tools, or prices by own name, where `*` is the price of the other tools. */
export const ServerPrice = z
  .union([
    ToolPrice,
    z
      .record(z.string().min(1).max(limits.maxToolNameLength), ToolPrice)
      .refine((prices) => Object.keys(prices).length <= limits.maxServerTools, { message: `at most ${limits.maxServerTools}` }),
  ])
  .meta({
    id: 'ServerPrice',
    description:
      'USD for each call that is sent: of all tools of the server, or by own name, with `*` for the other tools. The `price` of a toolset entry takes precedence.',
    example: { search: 0.01, '*': 0 },
  });
export type ServerPrice = z.infer<typeof ServerPrice>;

/** The member of a result's `_meta` in which a server reports what the call cost: a number, in USD. */
export const priceMember = 'moniker/price';

/** Returns the price that an administrator set; null if there is none. */
export function configuredPrice({ price, ownName }: { price?: number; ownName: string }, ofServer: ServerPrice | undefined): number | null {
  if (price !== undefined) return price;
  if (ofServer === undefined || typeof ofServer === 'number') return ofServer ?? null;
  const own = (name: string): number | undefined => (Object.hasOwn(ofServer, name) ? ofServer[name] : undefined);
  return own(ownName) ?? own('*') ?? null;
}

/** Returns the price that a result reports. `price` null: it is not a price. null: it reports none. */
export function reportedPrice(meta: Readonly<Record<string, unknown>> | undefined): { price: number | null } | null {
  if (meta === undefined || !Object.hasOwn(meta, priceMember)) return null;
  const { data, success } = ToolPrice.safeParse(meta[priceMember]);
  return { price: success ? data : null };
}

/** Returns the warning about names in a server's prices that the server does not list. */
export function unlistedPrices(price: unknown, listed: readonly { name: string }[]): { path: string; message: string }[] {
  if (typeof price !== 'object' || price === null) return [];
  const names = new Set(listed.map(({ name }) => name));
  const unlisted = Object.keys(price).filter((name) => name !== '*' && !names.has(name));
  return unlisted.slice(0, 1).map((name) => ({
    path: 'price',
    message: `${JSON.stringify(name)}${unlisted.length > 1 ? ` and ${unlisted.length - 1} more names are` : ' is'} not listed by the server. Use own names of tools`,
  }));
}

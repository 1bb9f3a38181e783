/**
 * The price of a call of a tool, in USD: that of its toolset entry, else that of its server. A trusted MCP server may report the price of a
 * call in the `_meta` of its result, which then takes precedence. A call is charged once, when it was sent, whether or not it succeeded.
 */
import * as z from 'zod';
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

/** Returns the price that an administrator set; null if there is none. */
export function configuredPrice({ price, ownName }: { price?: number; ownName: string }, ofServer: ServerPrice | undefined): number | null {
  if (price !== undefined) return price;
  if (ofServer === undefined || typeof ofServer === 'number') return ofServer ?? null;
  const own = (name: string): number | undefined => (Object.hasOwn(ofServer, name) ? ofServer[name] : undefined);
  return own(ownName) ?? own('*') ?? null;
}

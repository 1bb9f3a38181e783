/** What a tool's definition costs a model at every step: the estimate that the rest of the house makes (`transcript.ts`). */
import { z } from 'zod';
import type { ToolDefinition } from '../tool.ts';
import { charactersPerToken } from '../transcript.ts';

export const Context = z.object({
  tokens: z.int().meta({ description: 'An estimate: characters of the definition, by four.' }),
  percent: z.number().meta({ description: 'Of all tools that are there.' }),
});
export type Context = z.infer<typeof Context>;

export function tokensOf({ name, description, inputSchema }: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>): number {
  return Math.ceil(JSON.stringify({ name, description, inputSchema }).length / charactersPerToken);
}

/** To a tenth. */
export function contextOf(tokens: number, total: number): Context {
  return { tokens, percent: total === 0 ? 0 : Math.round((tokens / total) * 1_000) / 10 };
}

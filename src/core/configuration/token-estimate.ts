/** The token cost of a tool's definition in every step: the same estimate as elsewhere (`transcript.ts`). */
import { z } from 'zod';
import type { ToolDefinition } from '../tools/tool.ts';
import { charactersPerToken } from '../turn/transcript.ts';

export const Context = z.object({
  tokens: z.int().meta({ description: 'Estimated tokens: the characters of the definition, divided by four.' }),
  percent: z.number().meta({ description: 'Percentage of all available tools.' }),
});
export type Context = z.infer<typeof Context>;

export function definitionTokens({ name, description, inputSchema }: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>): number {
  return Math.ceil(JSON.stringify({ name, description, inputSchema }).length / charactersPerToken);
}

/** Rounded to a tenth. */
export function contextOf(tokens: number, total: number): Context {
  return { tokens, percent: total === 0 ? 0 : Math.round((tokens / total) * 1_000) / 10 };
}

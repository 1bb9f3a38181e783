/** The document of a tool's default aliases: used by toolset entries that set no aliases (contract §3.2). */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { parseAlias } from '../names/names.ts';
import { invalidRequest, type Issue } from '../problem.ts';

export const ToolAliases = z
  .strictObject({ aliases: z.array(z.string()).max(limits.maxAliasesPerEntry).meta({ description: 'Empty: none.' }) })
  .meta({ id: 'ToolAliases', example: { aliases: ['shell', 'terminal'] } });
export type ToolAliases = z.infer<typeof ToolAliases>;

/** Returns the aliases trimmed. Throws `invalid_request` with all errors. */
export function legalAliases(given: readonly string[]): string[] {
  const issues: Issue[] = [];
  const aliases = new Set<string>();
  for (const [index, text] of given.entries()) {
    const parsed = parseAlias(text);
    if (!parsed.ok) issues.push({ path: `aliases[${index}]`, message: parsed.reason });
    else if (aliases.has(parsed.alias)) issues.push({ path: `aliases[${index}]`, message: `"${parsed.alias}" is listed twice` });
    else aliases.add(parsed.alias);
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return [...aliases];
}

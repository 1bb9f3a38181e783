/** The document of a tool's default aliases: used by toolset entries that set no aliases (contract §3.2). */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { parseAlias } from '../names/names.ts';
import { aliasName, ToolsetAlias } from '../names/toolset-alias.ts';
import { invalidRequest, type Issue } from '../problem.ts';

export const ToolAliases = z
  .strictObject({ aliases: z.array(ToolsetAlias).max(limits.maxAliasesPerEntry).meta({ description: 'Empty: none.' }) })
  .meta({ id: 'ToolAliases', example: { aliases: ['shell', { name: 'terminal', mode: 'hidden' }] } });
export type ToolAliases = z.infer<typeof ToolAliases>;

/** Returns the aliases with their names trimmed. Throws `invalid_request` with all errors. */
export function legalAliases(given: readonly ToolsetAlias[]): ToolsetAlias[] {
  const issues: Issue[] = [];
  const aliases = new Map<string, ToolsetAlias>();
  for (const [index, one] of given.entries()) {
    const parsed = parseAlias(aliasName(one));
    if (!parsed.ok) issues.push({ path: `aliases[${index}]`, message: parsed.reason });
    else if (aliases.has(parsed.alias)) issues.push({ path: `aliases[${index}]`, message: `"${parsed.alias}" is listed twice` });
    else aliases.set(parsed.alias, typeof one === 'string' ? parsed.alias : { ...one, name: parsed.alias });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return [...aliases.values()];
}

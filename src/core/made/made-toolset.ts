/**
 * All made tools of a workspace as a toolset of its own, which is published like any other and which nobody can name: what agents with `made` are
 * offered is picked from its edition (`engine/plan/made-names.ts`).
 */
import { fold } from '../fold.ts';
import { parseAlias } from '../names.ts';
import type { ToolDefinition } from '../tool.ts';
import type { Toolset } from '../toolset.ts';

/** No toolset may be called so: the names of those hold no dot. */
export const madeToolset = '.made';

/** Each under its own name, which no other made tool has in any spelling. An alias that means another by now is left out. */
export function toMadeToolset(tools: readonly ToolDefinition[]): Toolset {
  const made = tools.filter((tool) => tool.made !== undefined).sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  const taken = new Set(made.map(({ name }) => fold(name)));
  return {
    announce: 'prompt',
    tools: made.map(({ canonical, name, aliases }) => ({
      tool: canonical,
      name,
      aliases: aliases.filter((alias) => {
        const isFree = parseAlias(alias).ok && !taken.has(fold(alias));
        taken.add(fold(alias));
        return isFree;
      }),
    })),
  };
}

/**
 * Made tools as internal toolsets, which are published like any other and which no request can name: the shared ones of a workspace, and the
 * private ones of each key. What agents with `made` are offered is picked from their editions (`engine/plan/made-names.ts`).
 */
import { fold } from '../fold.ts';
import { parseAlias } from '../names.ts';
import type { ToolDefinition } from '../tool.ts';
import type { Toolset } from '../toolset.ts';

/** The shared ones. Names of toolsets hold no dot, so no other toolset has such a name. */
export const madeToolset = '.made';

/** The private ones of a key or a trigger. */
export function privateToolset(owner: string): string {
  return `${madeToolset}/${owner}`;
}

/** null: it is not a toolset of private tools. */
export function ownerOfToolset(toolset: string): string | null {
  const prefix = privateToolset('');
  return toolset.startsWith(prefix) ? toolset.slice(prefix.length) : null;
}

/** Whether no request may name it. */
export function isInternalToolset(toolset: string): boolean {
  return toolset.startsWith('.');
}

/** Name of the document of a private tool: `<owner>/made.<name>`. Ids of keys and triggers hold no slash. */
export function privateToolName(owner: string, canonical: string): string {
  return `${owner}/${canonical}`;
}

export function readPrivateToolName(name: string): { owner: string; canonical: string } {
  const slash = name.indexOf('/');
  return { owner: name.slice(0, Math.max(slash, 0)), canonical: name.slice(slash + 1) };
}

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

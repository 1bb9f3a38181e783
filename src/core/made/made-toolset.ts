/**
 * Made tools as internal toolsets, which are published like any other but cannot be named in a request: the shared tools of a
 * workspace, and the private tools of each key. `engine/plan/made-names.ts` selects the tools for agents with `made` from their
 * editions.
 */
import { fold } from '../names/fold.ts';
import { parseAlias } from '../names/names.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { Toolset } from '../toolset/toolset.ts';

/** The shared tools. Toolset names contain no dot, so no other toolset has this name. */
export const madeToolset = '.made';

/** The private tools of a key or a trigger. */
export function privateToolset(owner: string): string {
  return `${madeToolset}/${owner}`;
}

/** Returns null if it is not a toolset of private tools. */
export function ownerOfToolset(toolset: string): string | null {
  const prefix = privateToolset('');
  return toolset.startsWith(prefix) ? toolset.slice(prefix.length) : null;
}

/** Whether requests cannot name the toolset. */
export function isInternalToolset(toolset: string): boolean {
  return toolset.startsWith('.');
}

/** The document name of a private tool: `<owner>/made.<name>`. Ids of keys and triggers contain no slash. */
export function privateToolName(owner: string, canonical: string): string {
  return `${owner}/${canonical}`;
}

export function readPrivateToolName(name: string): { owner: string; canonical: string } {
  const slash = name.indexOf('/');
  return { owner: name.slice(0, Math.max(slash, 0)), canonical: name.slice(slash + 1) };
}

/**
 * Each tool under its own name, which is unique among made tools in any spelling. An alias that has another meaning by now is
 * dropped.
 */
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

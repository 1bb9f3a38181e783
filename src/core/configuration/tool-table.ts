/**
 * The tools that a key may put into toolsets, looked up by canonical name or by `refId`, the hash of the definition. Built for each
 * call of a configuration tool, so it is never stale.
 */
import { z } from 'zod';
import type { KnownTools } from '../toolset/known-tools.ts';
import { quote } from '../names/names.ts';
import { nearNames } from '../names/suggest.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { toolPin } from '../listing/tool-pin.ts';

export const namespacedName = z.string().meta({
  description: 'Name of the tool as returned by list-available-tools, <server>.<tool>, in exactly this spelling.',
  examples: ['github.create_issue'],
});
export const refId = z.string().meta({
  description:
    'Hash of the definition, as returned by list-available-tools. Use it instead of namespacedName, or with it to make sure that the definition has not changed.',
  pattern: '^[0-9a-f]{64}$',
});

/** At least one of the two; both must name the same tool. */
export type ToolReference = { namespacedName?: string | undefined; refId?: string | undefined };

export type ToolTable = {
  /** Sorted by canonical name. */
  readonly tools: readonly ToolDefinition[];
  readonly known: KnownTools;
  /** Whether tools are called by the names that entries give them. */
  readonly aliases: boolean;
  pinOf(canonical: string): string;
  find(reference: ToolReference, path: string): ToolMatch;
};
export type ToolMatch = { ok: true; definition: ToolDefinition } | { ok: false; fault: string };

export async function buildToolTable(tools: readonly ToolDefinition[], aliases: boolean): Promise<ToolTable> {
  const hashes = await Promise.all(tools.map(toolPin));
  const byName = new Map<string, ToolDefinition>(tools.map((tool) => [tool.canonical, tool]));
  const pins = new Map<string, string>(tools.map(({ canonical }, index) => [canonical, hashes[index] ?? '']));
  const byPin = Map.groupBy(tools, ({ canonical }) => pins.get(canonical) ?? '');
  const servers = new Set(tools.map(({ server }) => server));
  let suggestionsLeft = maxSuggestedNames;

  const unknown = (name: string): string => {
    const near = suggestionsLeft === 0 ? [] : nearNames(name, spellings(tools));
    suggestionsLeft = Math.max(0, suggestionsLeft - 1);
    const hint = near.length === 0 ? 'list-available-tools lists all tools' : `did you mean ${near.join(', ')}?`;
    return `there is no tool ${quote(name)}; ${hint}`;
  };

  return {
    tools,
    aliases,
    known: { get: (canonical) => byName.get(canonical), all: () => byName.values(), hasServer: (server) => servers.has(server) },
    pinOf: (canonical) => pins.get(canonical) ?? '',
    find({ namespacedName, refId }, path) {
      const refuse = (member: string, message: string): ToolMatch => ({ ok: false, fault: `${path}${member}: ${message}` });
      if (namespacedName === undefined && refId === undefined) return refuse('', 'names no tool: set namespacedName or refId');
      const named = namespacedName === undefined ? undefined : byName.get(namespacedName);
      if (namespacedName !== undefined && named === undefined) return refuse('.namespacedName', unknown(namespacedName));
      if (refId === undefined) return named === undefined ? refuse('', 'names no tool') : { ok: true, definition: named };
      if (!/^[0-9a-f]{64}$/.test(refId)) return refuse('.refId', 'must be 64 hex digits, as list-available-tools shows them');
      const meant = byPin.get(refId) ?? [];
      const names = meant.map(({ canonical }) => canonical).join(', ');
      if (meant.length === 0)
        return refuse('.refId', 'matches no current definition: the tool was changed or removed; use its namespacedName');
      if (named !== undefined && !meant.includes(named))
        return refuse('.refId', `is the definition of ${names}, not of ${named.canonical}; send only one of them`);
      const [only, ...others] = named === undefined ? meant : [named];
      if (only === undefined || others.length > 0) return refuse('.refId', `is the definition of ${names}; set namespacedName as well`);
      return { ok: true, definition: only };
    },
  };
}

/** Each suggestion walks all tools. */
const maxSuggestedNames = 20;

/** Skips missing tools, which cannot be called. */
function* spellings(tools: readonly ToolDefinition[]): Generator<readonly [string, string]> {
  for (const tool of tools) {
    if (tool.source?.state === 'missing') continue;
    yield [tool.canonical, tool.canonical];
    yield [tool.name, tool.canonical];
  }
}

/**
 * The tools that a key may put into toolsets, looked up by canonical name or by `refId`, the hash of the definition. Built for each
 * call of a configuration tool, so it is never stale.
 */
import * as z from 'zod';
import { type KnownTools, spellings } from '../toolset/known-tools.ts';
import { quote } from '../names/names.ts';
import { createSuggester } from '../names/suggest.ts';
import { type ToolDefinition, toolPin } from '../tools/tool.ts';
import { utf8Length } from '../text/utf8.ts';
import { charactersPerToken } from '../limits/units.ts';
import type { EntryNames } from '../toolset/named-entry.ts';

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
type ToolReference = { namespacedName?: string | undefined; refId?: string | undefined };

export type ToolTable = {
  /** Sorted by canonical name. */
  readonly tools: readonly ToolDefinition[];
  readonly known: KnownTools;
  /** Whether tools are called by the names that entries give them. */
  readonly aliases: boolean;
  pinOf(canonical: string): string;
  find(reference: ToolReference, path: string): ToolMatch;
};
type ToolMatch = { ok: true; definition: ToolDefinition } | { ok: false; fault: string };

const unlisted = '; list-available-tools lists all tools';

export async function buildToolTable(tools: readonly ToolDefinition[], aliases: boolean): Promise<ToolTable> {
  const hashes = await Promise.all(tools.map(toolPin));
  const byName = new Map<string, ToolDefinition>(tools.map((tool) => [tool.canonical, tool]));
  const pins = new Map<string, string>(tools.map(({ canonical }, index) => [canonical, hashes[index] ?? '']));
  const byPin = Map.groupBy(tools, ({ canonical }) => pins.get(canonical) ?? '');
  const servers = new Set(tools.map(({ server }) => server));
  const suggest = createSuggester(() => spellings(tools));

  return {
    tools,
    aliases,
    known: { get: (canonical) => byName.get(canonical), all: () => byName.values(), hasServer: (server) => servers.has(server) },
    pinOf: (canonical) => pins.get(canonical) ?? '',
    find({ namespacedName, refId }, path) {
      const refuse = (member: string, message: string): ToolMatch => ({ ok: false, fault: `${path}${member}: ${message}` });
      if (namespacedName === undefined && refId === undefined) return refuse('', 'names no tool: set namespacedName or refId');
      const named = namespacedName === undefined ? undefined : byName.get(namespacedName);
      if (namespacedName !== undefined && named === undefined)
        return refuse('.namespacedName', `there is no tool ${quote(namespacedName)}${suggest(namespacedName, unlisted)}`);
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

/** The aliases that may be shown to callers of tools. */
export function shownAliases({ aliases }: Pick<EntryNames, 'aliases'>): string[] {
  return [...new Set(aliases.filter(({ mode }) => mode === 'announced' || mode === 'function').map(({ name }) => name))];
}

/** Returns the first rows within so many bytes of JSON, at least one; the remaining bytes; and the number of rows left out. */
export function fitRows<Row>(rows: readonly Row[], room: number): { rows: Row[]; room: number; leftOut: number } {
  const fitting: Row[] = [];
  let left = room;
  for (const row of rows) {
    const bytes = utf8Length(JSON.stringify(row)) + 1;
    if (fitting.length > 0 && bytes > left) break;
    fitting.push(row);
    left -= bytes;
  }
  return { rows: fitting, room: left, leftOut: rows.length - fitting.length };
}

// The token cost of a tool's definition in every step: the same estimate as elsewhere (`transcript.ts`).

export const Context = z.object({
  tokens: z.int().meta({ description: 'Estimated tokens: the characters of the definition, divided by four.' }),
  percent: z.number().meta({ description: 'Percentage of all available tools.' }),
});
export type Context = z.infer<typeof Context>;

/** `there`: the tools that are not missing. `total`: the cost of all of them. */
export function tokenCosts({ tools }: ToolTable) {
  const there = tools.filter(({ source }) => source?.state !== 'missing');
  const costs = new Map<string, number>(
    there.map(({ canonical, name, description, inputSchema }) => [
      canonical,
      Math.ceil(JSON.stringify({ name, description, inputSchema }).length / charactersPerToken),
    ]),
  );
  const tokensOf = (some: readonly { canonical: string }[]): number =>
    some.reduce((sum, { canonical }) => sum + (costs.get(canonical) ?? 0), 0);
  return { there, tokensOf, total: tokensOf(there) };
}

/** Rounded to a tenth. */
export function contextOf(tokens: number, total: number): Context {
  return { tokens, percent: total === 0 ? 0 : Math.round((tokens / total) * 1_000) / 10 };
}

/**
 * The names that an entry of a toolset document gives its tool, equal to those of a compiled edition (`named-entry.ts`), for views of
 * a document that is not compiled. Never used to resolve a call.
 */
import { limits } from '../limits.ts';
import { parseAlias, parseWireName, toWireName } from '../names/names.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { AliasMode, ToolsetEntry } from '../toolset/toolset.ts';

export type EntryAliasName = { name: string; mode: AliasMode };
export type EntryNames = { wireName: string; aliases: readonly EntryAliasName[] };

/** `definition` undefined: its server never listed it, or is gone. */
export function namesOfEntry(entry: ToolsetEntry, definition: ToolDefinition | undefined): EntryNames {
  const { canonical, ownName } = ownNameOf(entry, definition);
  const written: readonly EntryAliasName[] = (entry.aliases ?? definition?.aliases ?? []).map((alias) =>
    typeof alias === 'string' ? { name: alias, mode: 'announced' } : alias,
  );
  const legal = written.flatMap(({ name, mode }) => {
    const parsed = parseAlias(name);
    return parsed.ok ? [{ name: parsed.alias as string, mode }] : [];
  });
  const aliases = legal.slice(0, limits.maxAliasesPerEntry);
  const given = entry.name === undefined ? null : parseWireName(entry.name);
  const announced = aliases.find(({ mode }) => mode === 'announced');
  return { wireName: given?.ok ? given.wireName : (announced?.name ?? toWireName(canonical, ownName)), aliases };
}

export function ownNameOf(entry: ToolsetEntry, definition: ToolDefinition | undefined): { canonical: string; ownName: string } {
  const canonical = entry.tool ?? '';
  // Split as in `named-entry.ts` if only the document is known: server names contain no dot.
  return { canonical, ownName: definition?.name ?? canonical.slice(canonical.indexOf('.') + 1) };
}

/** The aliases that may be shown to callers of tools. */
export function shownAliases({ aliases }: EntryNames): string[] {
  return [...new Set(aliases.filter(({ mode }) => mode === 'announced' || mode === 'function').map(({ name }) => name))];
}

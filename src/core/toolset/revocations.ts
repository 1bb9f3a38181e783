/**
 * Tools that were revoked from a toolset (contract §4): no version of it may call them. The document names them, and a write without the member
 * keeps those of the stored document, so that no client gives a tool back that does not know of this.
 */
import type { Hold } from '../tools/hold.ts';
import { getOrBuild, memoizeByObject } from '../memoize.ts';
import { nearNames } from '../names/suggest.ts';
import { limits } from '../limits/limits.ts';
import { invalidRequest, type Issue, type Warning } from '../problem.ts';
import { buildAliasMap, type AliasMap } from './alias-map.ts';
import type { Edition, EditionTool } from './edition-tool.ts';
import { spellings, type KnownTools } from './known-tools.ts';
import type { Toolset, ToolsetEntry } from './toolset.ts';
import { targetPath, targetNames } from './entries/entry-targets.ts';

/** Returns the document with the tools that are revoked after it was written, sorted. `stored`: null for a new toolset. */
export function keepRevocations(document: Toolset, stored: Pick<Toolset, 'revoked'> | null): Toolset {
  const { revoked: given, ...rest } = document;
  return withRevoked(rest, given ?? stored?.revoked ?? []);
}

/**
 * Returns the document with the tools that it lacks and the stored one has added to the revoked ones. Its entries name their tools. Throws
 * `invalid_request` for too many.
 */
export function revokeRemoved(document: Toolset, stored: Pick<Toolset, 'tools'> | null): Toolset {
  const { revoked = [], ...rest } = document;
  const kept = new Set(document.tools.flatMap(targetNames));
  const removed = (stored?.tools ?? []).flatMap(targetNames).filter((tool) => !kept.has(tool));
  const after = withRevoked(rest, [...revoked, ...removed]);
  const { length } = after.revoked ?? [];
  if (length <= limits.maxRevokedTools) return after;
  throw invalidRequest([{ path: 'revoked', message: `would name ${length} tools; at most ${limits.maxRevokedTools}` }]);
}

function withRevoked(document: Toolset, revoked: readonly string[]): Toolset {
  return revoked.length === 0 ? document : { ...document, revoked: [...new Set(revoked)].sort() };
}

/** Returns a fault for each entry of a revoked tool. */
export function revokedEntries({ tools, revoked = [] }: Pick<Toolset, 'tools' | 'revoked'>): Issue[] {
  const names = new Set(revoked);
  return tools.flatMap((entry, index) =>
    targetNames(entry).flatMap((tool, at) =>
      names.has(tool)
        ? [{ path: `tools[${index}].${targetPath(entry, at)}`, message: `${tool} was revoked from this toolset. ${relistHint}` }]
        : [],
    ),
  );
}

const relistHint = 'To list it again, send "revoked" without it.';

/**
 * Returns the entries of another version or toolset that are not of revoked tools, with warnings about the others. `path`: where the request
 * names that version. Throws `invalid_request` if none is left.
 */
export function withoutRevoked(
  tools: readonly ToolsetEntry[],
  revoked: readonly string[],
  path: string,
): { tools: ToolsetEntry[]; warnings: Warning[] } {
  const names = new Set(revoked);
  const left = [...new Set(tools.flatMap(targetNames))].filter((tool) => names.has(tool));
  const warnings = left.map((tool) => ({ path, message: `${tool} is left out, since it was revoked. ${relistHint}` }));
  const others = tools.filter((entry) => !targetNames(entry).some((tool) => names.has(tool)));
  if (others.length === 0) throw invalidRequest([{ path, message: `has only revoked tools: ${left.join(', ')}. ${relistHint}` }]);
  return { tools: others, warnings };
}

/** Warns about names that no tool has, which may be misspelled, and about those that a write keeps without naming them. */
export function revocationWarnings(
  { revoked: given }: Pick<Toolset, 'revoked'>,
  { revoked = [] }: Pick<Toolset, 'revoked'>,
  known: Pick<KnownTools, 'get' | 'all'>,
): Warning[] {
  if (given === undefined)
    return revoked.length === 0
      ? []
      : [{ path: 'revoked', message: `${revoked.join(', ')} stay revoked. To give a tool back, send "revoked" without it.` }];
  return given.flatMap((name, index): Warning[] => {
    if (known.get(name) !== undefined) return [];
    const near = nearNames(name, spellings(known.all()));
    const hint = near.length === 0 ? '' : ` Similar names: ${near.join(', ')}.`;
    return [{ path: `revoked[${index}]`, message: `no tool has the canonical name ${JSON.stringify(name)} now.${hint}` }];
  });
}

const maxMarkedViews = 8;
const markedOf = memoizeByObject((_edition: Edition) => new Map<string, AliasMap>());

/** Returns the table with the revoked tools held: known by their names, not offered and not callable. */
export function holdRevoked(names: AliasMap, revoked: readonly string[] = []): AliasMap {
  const own = new Set<string>(revoked);
  if (own.size === 0 || !names.edition.tools.some(({ canonical }) => own.has(canonical))) return names;
  const held = (tool: EditionTool): Hold => ({ reason: 'revoked', refId: tool.pin, changes: [] });
  const { edition, aliases } = names;
  return getOrBuild(markedOf(edition), `${aliases} ${revoked.join(' ')}`, maxMarkedViews, () => {
    const tools = edition.tools.map((tool) => (own.has(tool.canonical) ? { ...tool, state: 'held' as const, held: held(tool) } : tool));
    return buildAliasMap({ ...edition, tools }, { aliases });
  });
}

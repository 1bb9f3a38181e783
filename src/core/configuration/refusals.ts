/**
 * Explains why a toolset was not stored, by positions in the request and with what to do. The problems are those of every toolset
 * write (`edition.ts`): they use positions in the document, and name conflicts by tool.
 */
import { fold } from '../names/fold.ts';
import type { NameConflict } from '../toolset/name-claims.ts';
import { quote, toWireName } from '../names/names.ts';
import type { Issue, Problem } from '../problem.ts';
import { aliasPath, type Draft } from './draft.ts';
import { namesOfEntry } from './entry-names.ts';
import type { ToolTable } from './tool-table.ts';

/** Reported errors of one request to build or change a toolset. */
export const maxConfigurationFaults = 20;

/** Returns one line per error; the problem's own detail if it does not concern entries. */
export function refusalLines(problem: Problem, draft: Draft, table: ToolTable): string[] {
  // We write both fields, in these shapes (`core/toolset/edition.ts`, `core/problem.ts`).
  const conflicts = (problem.extra.conflicts ?? []) as NameConflict[];
  const issues = (problem.extra.issues ?? []) as Issue[];
  if (problem.code === 'name_conflict' && conflicts.length > 0) {
    // The search for a name walks all entries, so it is done only for the conflicts that are listed.
    const told = conflicts.slice(0, maxConfigurationFaults).map((conflict) => clashLine(conflict, draft, table));
    return [...told, ...conflicts.slice(told.length).map(({ name }) => quote(name))];
  }
  if (problem.code === 'invalid_request' && issues.length > 0) return issues.map((issue) => issueLine(issue, draft));
  return [problem.detail];
}

/** Joins errors to one text, bounded to what can be fixed at once. */
export function faultText(faults: readonly string[]): string {
  const shown = faults.slice(0, maxConfigurationFaults);
  const rest = faults.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function issueLine({ path, message }: Issue, { document, places }: Draft): string {
  const [, index, rest = ''] = /^tools\[(\d+)\](.*)$/s.exec(path) ?? [];
  const place = index === undefined ? undefined : places[Number(index)];
  if (place === undefined) return path === '' ? message : `${path}: ${message}`;
  if (place.path === null) return `the entry of ${document.tools[Number(index)]?.tool}${rest}: ${message}`;
  const [, at] = /^\.aliases\[(\d+)\]/.exec(rest) ?? [];
  if (at !== undefined) return `${aliasPath(place.path, place.hasAlias, Number(at))}: ${message}`;
  return `${place.path}${rest === '.tool' ? '.namespacedName' : rest}: ${message}`;
}

/** An entry that claims a name; `at` is the path of the name itself, or of the entry. */
type Claim = { index: number; at: string; isOfRequest: boolean; isAlias: boolean };

function clashLine({ name, tools: [keeper, mover], suggestion }: NameConflict, draft: Draft, table: ToolTable): string {
  const movers = claimsOf(mover, name, draft, table);
  const keepers = keeper === mover ? movers : claimsOf(keeper, name, draft, table);
  const claims = [...new Map([...keepers, ...movers].map((claim) => [claim.index, claim])).values()].sort((a, b) => a.index - b.index);
  const told = (claim: Claim): string => `${draft.document.tools[claim.index]?.tool} at ${claim.at}`;
  // An alias can be changed, a tool's own name cannot; and the caller can change what the request contains.
  const ofRequest = claims.filter(({ isOfRequest }) => isOfRequest);
  const blamed = ofRequest.findLast(({ isAlias }) => isAlias) ?? ofRequest.at(-1) ?? claims.at(-1);
  if (blamed === undefined) return `tools: ${quote(name)} is claimed by ${keeper} and by ${mover}; name ${mover} "${suggestion}" instead`;
  const others = claims.filter((claim) => claim !== blamed);
  if (keeper === mover && others.length > 0) {
    const again = `${mover} has the name ${quote(name)} twice, also at ${others.map(({ at }) => at).join(', ')}`;
    return `${blamed.at}: ${again}; list it once, or give each entry a different alias, such as "${suggestion}"`;
  }
  const owner = others.length === 0 ? `${keeper}, which has that name in every toolset` : others.map(told).join(' and by ');
  return `${blamed.at}: ${quote(name)} is also claimed by ${owner}; give one of them another alias, such as "${suggestion}" for ${mover}`;
}

function claimsOf(canonical: string, name: string, draft: Draft, table: ToolTable): Claim[] {
  const entries = draft.document.tools.flatMap((entry, index) => (entry.tool === canonical ? [{ entry, index }] : []));
  const claims = entries.flatMap(({ entry, index }): (Claim & { isExact: boolean })[] => {
    const place = draft.places[index];
    const path = place?.path ?? `the entry of ${canonical}`;
    const definition = table.known.get(canonical);
    const names = namesOfEntry(entry, definition);
    const at = (entry.aliases ?? []).findIndex((alias) => fold(typeof alias === 'string' ? alias : alias.name) === fold(name));
    const own = definition?.name ?? '';
    const isExact = at >= 0 || [names.wireName, ...names.aliases.map((alias) => alias.name)].some((known) => fold(known) === fold(name));
    const where = at >= 0 && place?.path != null ? aliasPath(place.path, place.hasAlias, at) : path;
    return isExact || own === name || toWireName(canonical, own) === name
      ? [{ index, at: where, isOfRequest: place?.path != null, isAlias: at >= 0, isExact }]
      : [];
  });
  // Of several entries of one tool, those with this name count, not those that merely have the same tool.
  const exact = claims.filter(({ isExact }) => isExact);
  return exact.length > 0 ? exact : claims;
}

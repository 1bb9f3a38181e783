/**
 * Entries for all tools of a server: `{"tool": "fs.*", "except": ["delete_file"]}`. They are replaced by one entry for each tool when the
 * toolset is written, so the stored document lists tools, and a tool that its server adds later is in no toolset.
 */
import { limits } from '../limits/limits.ts';
import { quote } from '../names/names.ts';
import { didYouMean } from '../names/suggest.ts';
import { reservedCanonicals } from '../names/reserved-names.ts';
import { invalidRequest, type Issue, type Warning } from '../problem.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { Toolset, ToolsetEntry } from './toolset.ts';
import { toolOf } from './entries/entry-targets.ts';

/**
 * Returns the document with the tools of each pattern in its place, sorted by name. A tool that has its own entry, or matches an earlier
 * pattern, is not added again; missing and revoked tools and those that turns add themselves are not added. Throws `invalid_request` for a pattern or
 * an exception that matches no tool: a misspelled exception would add the tool.
 */
export function expandWildcards<Document extends Pick<Toolset, 'tools' | 'revoked'>>(
  document: Document,
  tools: () => Iterable<ToolDefinition>,
): Document {
  const { rows, issues } = expandEntries(document.tools, tools, document.revoked);
  if (issues.length > 0) throw invalidRequest(issues);
  return document.tools.some(isWildcard) ? { ...document, tools: rows.map(({ entry }) => entry) } : document;
}

/** `place`: the index of the entry, or of its pattern, in the document. */
export type PlacedEntry = { entry: ToolsetEntry; place: number };

/** Returns the entries with the tools of each pattern in its place, and the faults of the patterns. `revoked`: tools that patterns leave out, with a warning. */
export function expandEntries(
  entries: readonly ToolsetEntry[],
  tools: () => Iterable<ToolDefinition>,
  revoked: readonly string[] = [],
): { rows: PlacedEntry[]; issues: Issue[]; warnings: Warning[] } {
  if (!entries.some(isWildcard)) return { rows: entries.map((entry, place) => ({ entry, place })), issues: [], warnings: [] };
  const all = [...tools()].filter(isAddable).sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  const listed = new Set([...entries.flatMap(({ tool }) => tool ?? []), ...revoked]);
  const issues: Issue[] = [];
  const warnings: Warning[] = [];
  const unwanted = new Set(revoked);
  const rows = entries.flatMap((entry, index): PlacedEntry[] => {
    if (!isWildcard(entry)) return [{ entry, place: index }];
    const { tool: _pattern, except = [], ...rest } = entry;
    const pattern = toolOf(entry) ?? '';
    const matches = all.filter(({ canonical }) => isMatch(pattern, canonical));
    if (matches.length === 0) issues.push({ path: `tools[${index}].tool`, message: noMatch(pattern, all) });
    const without = matches.filter(({ canonical }) => unwanted.has(canonical)).map(({ canonical }) => canonical);
    if (without.length > 0) warnings.push({ path: `tools[${index}].tool`, message: `leaves out revoked tools: ${without.join(', ')}` });
    for (const [at, exception] of except.entries()) {
      if (matches.length === 0 || matches.some((tool) => isExcept(exception, tool))) continue;
      issues.push({ path: `tools[${index}].except[${at}]`, message: wrongException(exception, pattern, matches) });
    }
    return matches.flatMap((tool) => {
      if (listed.has(tool.canonical) || except.some((exception) => isExcept(exception, tool))) return [];
      listed.add(tool.canonical);
      return [{ entry: { ...rest, tool: tool.canonical }, place: index }];
    });
  });
  if (issues.length === 0 && rows.length > limits.maxToolsetEntries) {
    const message = `the wildcards give ${rows.length} entries; a toolset has at most ${limits.maxToolsetEntries}. List the exceptions in except`;
    issues.push({ path: 'tools', message });
  }
  if (issues.length === 0 && rows.length === 0) issues.push({ path: 'tools', message: 'are all excluded by except, or were revoked' });
  return { rows, issues, warnings };
}

/** The beginning of the path of an entry, or of a part of it. */
export const entryIndex = /^tools\[(\d+)\]/;

/** Returns the path of an entry of `rows`, or of a part of it, in the document in which the entry was written. */
export function placeIn(path: string, rows: readonly PlacedEntry[]): string {
  return path.replace(entryIndex, (whole, index) => {
    const place = rows[Number(index)]?.place;
    return place === undefined ? whole : `tools[${place}]`;
  });
}

/** Names of tools contain no "*". */
export function isWildcard(entry: Pick<ToolsetEntry, 'tool'>): boolean {
  return toolOf(entry)?.endsWith('*') === true;
}

function isAddable({ canonical, source }: ToolDefinition): boolean {
  return source?.state !== 'missing' && !reservedCanonicals.has(canonical);
}

/** `fs.*`, `fs.read_*`: the server is always given in full. */
function isMatch(pattern: string, canonical: string): boolean {
  return pattern.indexOf('.') > 0 && canonical.startsWith(pattern.slice(0, -1));
}

/** The tool's own name or canonical name, or the beginning of one and `*`. */
function isExcept(exception: string, { canonical, name }: ToolDefinition): boolean {
  if (!exception.endsWith('*')) return exception === name || exception === canonical;
  const start = exception.slice(0, -1);
  return name.startsWith(start) || canonical.startsWith(start);
}

function noMatch(pattern: string, all: readonly ToolDefinition[]): string {
  if (pattern.indexOf('.') <= 0) return `${quote(pattern)} has no server; write <server>.* or <server>.<beginning>*`;
  const servers = [...new Set(all.map(({ server }) => server))];
  const candidates = servers.map((server) => [server, `${server}.*`] as const);
  return `${quote(pattern)} matches no tool${didYouMean(pattern.slice(0, pattern.indexOf('.')), candidates, '; GET /v1/tools lists them')}`;
}

function wrongException(exception: string, pattern: string, matches: readonly ToolDefinition[]): string {
  const candidates = matches.map(({ name }) => [name, name] as const);
  return `${quote(exception)} matches no tool of ${pattern}${didYouMean(exception, candidates)}`;
}

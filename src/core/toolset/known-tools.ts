/** The tools of a workspace, as the toolset compiler needs them. The Catalog implements it; tests use in-memory ones. */
import type { StoredSkill } from './edition-skill.ts';
import type { SecretBinding } from '../secrets/secret.ts';
import { type ToolDefinition, toolPin } from '../tools/tool.ts';
import { limits } from '../limits/limits.ts';
import { nearNames } from '../names/suggest.ts';
import { type Issue, invalidRequest, Problem } from '../problem.ts';
import type { NameMap, Toolset, ToolsetEntry } from './toolset.ts';
import { toolOf } from './entries/entry-targets.ts';

export type KnownTools = {
  /** Looks a tool up by its exact canonical name. */
  get(canonical: string): ToolDefinition | undefined;
  all(): Iterable<ToolDefinition>;
  /** True also for servers that have not listed their tools yet. */
  hasServer(server: string): boolean;
  /** Absent: secrets are not known here and are checked at the call. undefined: there is no secret with this name. */
  secret?(name: string): SecretBinding | undefined;
  /** The host that a server's calls go to, as returned by `secretHostOf`; undefined: unknown. */
  host?(server: string): string | undefined;
  /** Absent: skills are not known here. */
  skill?(name: string): StoredSkill | undefined;
  /** Whether each user has an account at the server, whose credentials its calls use. Absent: none is known. */
  isPerUser?(server: string): boolean;
  /** The name map of the workspace. */
  nameMap?: NameMap;
};

/** Returns `known` with these tools in place of those with the same canonical names. */
export function withTools(known: KnownTools, tools: readonly ToolDefinition[]): KnownTools {
  const own = new Map<string, ToolDefinition>(tools.map((tool) => [tool.canonical, tool]));
  return {
    ...known,
    get: (canonical) => own.get(canonical) ?? known.get(canonical),
    *all() {
      for (const tool of known.all()) if (!own.has(tool.canonical)) yield tool;
      yield* own.values();
    },
  };
}

/** Throws `unknown_tool` with similar names. */
export function requireKnownTool(known: KnownTools, canonical: string): ToolDefinition {
  const tool = known.get(canonical);
  if (tool !== undefined) return tool;
  const suggestions = nearNames(
    canonical,
    [...known.all()].flatMap(({ canonical, name }) => [[canonical, canonical] as const, [name, canonical] as const]),
  );
  const near = suggestions.length === 0 ? '' : ` Similar names: ${suggestions.join(', ')}.`;
  throw new Problem('unknown_tool', `No tool has the canonical name ${JSON.stringify(canonical.slice(0, 128))}.${near}`, {
    requested: canonical.slice(0, limits.maxToolNameLength),
    suggestions,
  });
}

/** Returns the names to suggest for a misspelled one, each with its canonical name. Skips missing tools, which cannot be called. */
export function* spellings(tools: Iterable<ToolDefinition>): Generator<readonly [string, string]> {
  for (const tool of tools) {
    if (tool.source?.state === 'missing') continue;
    yield [tool.canonical, tool.canonical];
    yield [tool.name, tool.canonical];
  }
}

// Explains why a tool of a toolset is missing, for error messages and toolset views. The caller adds what to do.

/** A tool without a pin was unknown when the toolset was compiled: its server had not listed any tools. */
export function whyMissing({ server, pin, canonical }: { server: string; pin: string; canonical: string }): string {
  if (ownServers.has(server)) return `it was deleted; create it again with PUT /v1/tools/${canonical}`;
  if (server === 'builtin' || server === 'local')
    return 'the code of this service does not define it any more; remove it from the toolset, or deploy a build that has it';
  return pin === '' ? notListedYet(server) : `its server does not list ${canonical}`;
}

export function notListedYet(server: string): string {
  return `its server "${server}" has listed no tools yet; GET /v1/servers/${server} shows its status and last error`;
}

/** These tools have no server: each one is written directly (`/v1/tools/made.…`, `/v1/tools/ui.…`). */
const ownServers: ReadonlySet<string> = new Set(['made', 'ui']);

// Entries that name their tool by its definition (`refId`). Resolved when a toolset is written, so that the document contains tool names,
// and a definition that changes later causes the tool to be held instead of lost.

/**
 * Returns the document with `tool` in place of every `refId`. Throws `invalid_request` for a reference that matches no tool, several
 * tools, or a tool other than the named one.
 */
export async function resolveReferences(toolset: Toolset, known: KnownTools): Promise<Toolset> {
  const { tools, issues } = await readReferences(toolset.tools, known);
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...toolset, tools };
}

/** Returns the entries with their tools, and the faults; an entry with a fault may have no tool. */
export async function readReferences(entries: ToolsetEntry[], known: KnownTools): Promise<{ tools: ToolsetEntry[]; issues: Issue[] }> {
  if (entries.every(({ refId }) => refId === undefined)) return { tools: entries, issues: [] };
  const byPin = await pinTable(known);
  const issues: Issue[] = [];
  const tools = entries.map((entry, index): ToolsetEntry => {
    const { refId, ...rest } = entry;
    if (refId === undefined) return entry;
    const meant = byPin.get(refId) ?? [];
    const [only, ...others] = entry.tool === undefined ? meant : meant.filter((canonical) => canonical === toolOf(entry));
    if (only !== undefined && others.length === 0) return { ...rest, tool: only };
    issues.push({ path: `tools[${index}].refId`, message: faultOf(entry, meant) });
    return rest;
  });
  return { tools, issues };
}

async function pinTable(known: KnownTools): Promise<ReadonlyMap<string, readonly string[]>> {
  const tools = [...known.all()];
  const pins = await Promise.all(tools.map(toolPin));
  const canonicals = tools.map(({ canonical }) => canonical);
  return Map.groupBy(canonicals, (_canonical, index) => pins[index] ?? '');
}

function faultOf(entry: ToolsetEntry, meant: readonly string[]): string {
  if (meant.length === 0)
    return 'matches no current definition: the tool was changed or removed. GET /v1/tools lists the current definitions';
  const tool = toolOf(entry);
  if (tool === undefined) return `is the definition of ${meant.join(' and of ')}. Set tool as well`;
  return `is the definition of ${meant.join(', ')}, not of ${tool}`;
}

/**
 * What another definition of one tool would have done to its calls of the last days: a held definition of a server, or the draft of a made
 * tool. The audit says in which turns and toolsets the tool was called, and the logs of their sessions with which arguments. Each toolset is
 * compiled with both definitions, and each call is prepared with both entries.
 */
import type { Principal } from '../../core/people/principal.ts';
import { type Issue, nullIfNotFound } from '../../core/problem.ts';
import { type AliasMap, buildAliasMap, findTool } from '../../core/toolset/alias-map.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import type { AuditPort } from '../../ports/audit.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { Sessions } from '../../ports/session.ts';
import { readPages } from '../read-pages.ts';
import { type Entries, judgeCalls, mostRefused, type RefusedCalls } from './argument-impact.ts';
import { type ReadTurns, readRecordedCalls, type CallInSession } from './recorded-turns.ts';

export type DefinitionImpact = {
  /** Calls that the definition in force accepts; `refusedCalls`: those of them that the other one refuses. */
  judged: number;
  refusedCalls: number;
  /** `toolset` null: the calls were made without one that still has the tool. */
  refused: (RefusedCalls & { toolset: string | null })[];
  /** Calls outside of turns, and by code and made tools: only hashes of their arguments are stored. */
  hashed: number;
  /** Calls in toolsets that are too many to compile. */
  left: number;
  turns: ReadTurns;
};

/** `from`, `to`: days, inclusive. `key`: only its calls; undefined: all. */
export type AskedCalls = { from: string; to: string; key: string | undefined };
type Deps = { catalog: Pick<CatalogPort, 'get' | 'previewToolset'>; audit: AuditPort; sessions: Sessions; aliases: boolean };
/** `before` null: no definition is in force, so no call was accepted. */
type Definitions = { before: ToolDefinition | null; after: ToolDefinition };

/** Rows of the audit that one request reads. */
const reading = { limit: 200, maxPages: 20 };
/** Each is compiled twice. */
const maxToolsets = 10;

export async function definitionImpact(
  deps: Deps,
  principal: Principal,
  { before, after }: Definitions,
  asked: AskedCalls,
): Promise<DefinitionImpact> {
  const found = await callsOf(deps.audit, after.canonical, asked);
  const inTurns = found.rows.filter(({ turn, parent }) => turn !== null && parent === null);
  const { calls, ...turns } = await readRecordedCalls(deps.sessions, principal, { rows: inTurns, more: found.more });
  const own = before === null ? [] : calls.filter(({ canonical }) => canonical === after.canonical);
  const toolsetOf = new Map(inTurns.map(({ turn, toolset }) => [turn, toolset]));
  const groups = [...Map.groupBy(own, ({ turn }) => toolsetOf.get(turn) ?? null)].sort(([, a], [, b]) => b.length - a.length);
  const total: Pick<DefinitionImpact, 'judged' | 'refusedCalls' | 'refused'> = { judged: 0, refusedCalls: 0, refused: [] };
  for (const [toolset, made] of groups.slice(0, maxToolsets)) {
    if (before === null) break;
    const { judged, refusedCalls, refused } = judgeCalls(made, await entriesIn(deps, toolset, { before, after }));
    total.judged += judged;
    total.refusedCalls += refusedCalls;
    total.refused.push(...refused.map((one) => ({ ...one, toolset })));
  }
  return {
    ...{ ...total, refused: mostRefused(total.refused) },
    hashed: found.rows.length - inTurns.length,
    left: groups.slice(maxToolsets).reduce((sum, [, made]) => sum + made.length, 0),
    turns,
  };
}

/** The newest first; each call once. */
async function callsOf(audit: AuditPort, tool: string, { from, to, key }: AskedCalls) {
  const where = { from: `${from}T00:00:00.000Z`, to: `${to}T23:59:59.999Z`, kind: 'call' as const, tool };
  const query = { ...where, ...(key !== undefined && { key }) };
  const { items, nextCursor } = await readPages((page) => audit.list({ ...page, ...query }), reading);
  const rows = items.flatMap((row) => (row.kind === 'call' && isOutcome(row.verdict) ? [row] : []));
  return { rows, more: nextCursor !== null };
}

/** Other rows are about a call that waits, or the decision about it. */
function isOutcome(verdict: string): boolean {
  return verdict === 'ran' || verdict === 'refused' || verdict === 'outcome_unknown';
}

/** Returns the entries of a call in the toolset, or, if that is gone or no longer has the tool, the tool without any rules. */
async function entriesIn(
  { catalog, aliases }: Deps,
  toolset: string | null,
  { before, after }: { before: ToolDefinition; after: ToolDefinition },
): Promise<(call: CallInSession) => Entries> {
  const { canonical } = after;
  const compile = async (document: Toolset) => {
    const compiled = [before, after].map((tool) => catalog.previewToolset(toolset ?? '', document, [...document.tools.keys()], [tool]));
    const [was, now] = await Promise.all(compiled);
    return { was: namesOf(was, aliases), now: namesOf(now, aliases), issues: was === undefined ? [] : issuesOf(was, now, canonical) };
  };
  const stored = toolset === null ? null : await nullIfNotFound(catalog.get('toolset', toolset));
  // Bodies of toolsets were parsed by the schema when they were written.
  const listed = stored === null ? null : await compile(stored.body as Toolset);
  const isListed = listed?.was?.tools.some((tool) => tool.canonical === canonical) === true;
  const { was: earlier, now: later, issues } = isListed ? listed : await compile({ announce: 'prompt', tools: [{ tool: canonical }] });
  return ({ requested }) => {
    const [named, renamed] = [findTool(earlier, requested), findTool(later, requested)];
    const [was, now] = [entryOf(earlier, named, canonical), entryOf(later, renamed, canonical)];
    const isLost = named?.canonical === canonical && renamed?.canonical !== canonical;
    const lost = { path: 'aliases', message: `${requested} is no longer a name of ${canonical}` };
    return { was, now, faults: now === null ? issues : isLost ? [lost] : [] };
  };
}

function namesOf(compiled: CompiledDraft | undefined, aliases: boolean): AliasMap | null {
  return compiled?.edition == null ? null : buildAliasMap(compiled.edition, { aliases });
}

/** Why the toolset cannot use the other definition. */
function issuesOf({ edition, places }: CompiledDraft, now: CompiledDraft | undefined, canonical: string): Issue[] {
  const entries = (edition?.tools ?? []).flatMap((tool, index) => (tool.canonical === canonical ? [`tools[${places[index]}]`] : []));
  const own = (now?.issues ?? []).filter(({ path }) => entries.some((entry) => path.startsWith(entry)));
  return own.length > 0 ? own : [{ path: 'tools', message: `the toolset cannot be compiled with this definition of ${canonical}` }];
}

/** A call may have used a name that the tool had then: judged by the first entry of the tool. */
function entryOf(names: AliasMap | null, named: EditionTool | null, canonical: string): EditionTool | null {
  return named?.canonical === canonical ? named : (names?.tools.find((tool) => tool.canonical === canonical) ?? null);
}

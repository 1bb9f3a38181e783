/** What a draft of a toolset would have done to the calls of the last days: reads the counted names, and compares both versions. */
import { mended, mendsOf, nameImpact, type CalledName, type Mend, type NameImpact } from '../../core/impact/name-impact.ts';

import { type AliasMap, buildAliasMap } from '../../core/toolset/alias-map.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { planNames } from '../plan/plan-names.ts';

/** Agents and keys that are named for one name. */
const maxNamed = 20;
const pageRows = 1_000;
/** Rows of one request; `nextCursor` continues after them. */
const maxPages = 20;

export type ToolsetImpact = NameImpact & {
  /** Calls whose name was not kept. */
  unjudged: number;
  mends: Mend[];
  /** The draft with all mends. null: there are none. */
  mended: Toolset | null;
  nextCursor: string | null;
};

type Asked = { workspace: string; toolset: string; from: string; to: string; key: string | undefined; cursor: string | undefined };
type Draft = { toolset: Toolset; compiled: CompiledDraft; compile(toolset: Toolset): Promise<CompiledDraft> };

/** `before`: the stored names; null: the toolset is new. */
export async function toolsetImpact(
  usage: UsageReader,
  asked: Asked,
  before: AliasMap | null,
  { toolset, compiled, compile }: Draft,
  aliases: boolean,
): Promise<ToolsetImpact> {
  const { called, unjudged, nextCursor } = await readNames(usage, asked);
  const after = namesOf(compiled, aliases);
  const impact = nameImpact(before, after, called);
  const wanted = after === null ? [] : mendsOf(toolset, after, compiled.places, impact.changed);
  const whole = wanted.length === 0 ? null : mended(toolset, wanted);
  // An alias may be taken, or lead elsewhere: what is proposed was tried.
  const tried = whole === null ? null : await compile(whole);
  const kept = new Set(
    (tried === null ? [] : nameImpact(before, namesOf(tried, aliases), called).changed).map(({ requested }) => requested),
  );
  const isWhole = tried !== null && tried.issues.length <= compiled.issues.length && tried.conflicts.length <= compiled.conflicts.length;
  const working = isWhole ? wanted.filter(({ requested }) => !kept.has(requested)) : [];
  const mends = working.map(({ requested, tool, alias, entry, note }): Mend => ({ requested, tool, alias, entry, note }));
  return { ...impact, unjudged, mends, mended: mends.length === 0 ? null : mended(toolset, working), nextCursor };
}

function namesOf({ edition }: CompiledDraft, aliases: boolean): AliasMap | null {
  return edition === null ? null : planNames(buildAliasMap(edition, { aliases }), { aliases, allow: null });
}

/** Sums the rows of a name, which are next to each other. */
async function readNames(
  usage: UsageReader,
  { workspace, toolset, from, to, key, cursor: start }: Asked,
): Promise<{ called: CalledName[]; unjudged: number; nextCursor: string | null }> {
  const called = new Map<string, CalledName>();
  let unjudged = 0;
  let cursor: string | null | undefined = start;
  for (let page = 0; page < maxPages && cursor !== null; page += 1) {
    const where = { toolset, ...(key !== undefined && { key }) };
    const range = { from, to, limit: pageRows, ...(cursor !== undefined && { cursor }) };
    const rows = await usage.usage(workspace, { ...range, by: ['requested', 'agent', 'key'], where });
    for (const { requested, calls, failures, lastDay = null, overcount, agent, key: by } of rows.items) {
      if (requested == null) {
        unjudged += calls;
        continue;
      }
      const known = called.get(requested) ?? { requested, calls: 0, failures: 0, lastDay: null, agents: [], keys: [] };
      const over = (known.overcount ?? 0) + (overcount ?? 0);
      called.set(requested, {
        ...{ requested, calls: known.calls + calls, failures: known.failures + failures },
        lastDay:
          [known.lastDay, lastDay]
            .filter((day) => day !== null)
            .toSorted()
            .at(-1) ?? null,
        ...(over > 0 && { overcount: over }),
        agents: withName(known.agents, agent),
        keys: withName(known.keys, by),
      });
    }
    cursor = rows.nextCursor;
  }
  return { called: [...called.values()], unjudged, nextCursor: cursor ?? null };
}

function withName(names: readonly string[], name: string | null | undefined): readonly string[] {
  return name == null || names.includes(name) || names.length >= maxNamed ? names : [...names, name];
}

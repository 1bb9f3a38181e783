/** What a draft of a toolset would have done to the calls of the last days: reads the counted names, and compares both versions. */
import { mended, mendsOf, nameImpact, type Mend, type NameImpact } from '../../core/impact/name-impact.ts';

import { type AliasMap, buildAliasMap } from '../../core/toolset/alias-map.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { type AskedNames, calledNames } from './called-names.ts';
import { planNames } from '../plan/plan-names.ts';

export type ToolsetImpact = NameImpact & {
  /** Calls whose name was not kept. */
  unjudged: number;
  mends: Mend[];
  /** The draft with all mends. null: there are none. */
  mended: Toolset | null;
  nextCursor: string | null;
};

type Draft = { toolset: Toolset; compiled: CompiledDraft; compile(toolset: Toolset): Promise<CompiledDraft> };

/** `before`: the stored names; null: the toolset is new. */
export async function toolsetImpact(
  usage: UsageReader,
  asked: AskedNames,
  before: AliasMap | null,
  { toolset, compiled, compile }: Draft,
  aliases: boolean,
): Promise<ToolsetImpact> {
  const { called, unjudged, nextCursor } = await calledNames(usage, asked);
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

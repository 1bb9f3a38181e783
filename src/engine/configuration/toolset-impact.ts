/** What a draft of a toolset would have done to the calls of the last days: reads the counted names, and compares both versions. */
import { mended, mendsOf, nameImpact, type Mend, type NameImpact, withArgumentAliases } from '../../core/impact/name-impact.ts';
import type { Principal } from '../../core/people/principal.ts';
import { type AliasMap, buildAliasMap } from '../../core/toolset/alias-map.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { Sessions } from '../../ports/session.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { type ImpactInTurns, impactInTurns } from './argument-impact.ts';
import { type AskedNames, calledNames } from './called-names.ts';
import { planNames } from '../plan/plan-names.ts';
import { type ChangedNameInSessions, newestTurns, readRecordedCalls, withSessions } from './recorded-turns.ts';

export type ToolsetImpact = Omit<NameImpact, 'changed'> & {
  changed: ChangedNameInSessions[];
  /** Calls whose name was not kept. */
  unjudged: number;
  mends: Mend[];
  /** Of the newest turns. null: on a later page. */
  arguments: ImpactInTurns | null;
  /** The draft with all fixes. null: no fix is known. */
  mended: Toolset | null;
  nextCursor: string | null;
};

type Draft = { toolset: Toolset; compiled: CompiledDraft; compile(toolset: Toolset): Promise<CompiledDraft> };

/** `before`: the stored names; null: the toolset is new. */
export async function toolsetImpact(
  { usage, sessions }: { usage: UsageReader; sessions: Sessions },
  principal: Principal,
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
  const recorded =
    asked.cursor === undefined
      ? await readRecordedCalls(sessions, principal, await newestTurns(usage, asked, {}, ({ toolset: used }) => used === asked.toolset))
      : null;
  const judged = recorded === null ? null : impactInTurns(before, after, recorded);
  const argumentMends = judged?.refused.flatMap((refused) => refused.mends) ?? [];
  const named = mends.length === 0 ? toolset : mended(toolset, working);
  const whollyMended = after === null ? named : withArgumentAliases(named, after, compiled.places, argumentMends);
  return {
    ...{ same: impact.same, changed: withSessions(impact.changed, recorded?.calls ?? []), unjudged, mends, nextCursor },
    arguments: judged,
    mended: mends.length + argumentMends.length === 0 ? null : whollyMended,
  };
}

function namesOf({ edition }: CompiledDraft, aliases: boolean): AliasMap | null {
  return edition === null ? null : planNames(buildAliasMap(edition, { aliases }), { aliases, allow: null });
}

/** What a draft of a toolset would have done to the calls of the last days: reads the counted names, and compares both versions. */
import { mended, mendsOf, nameImpact, type Mend, type NameImpact, withArgumentAliases } from '../../core/impact/name-impact.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { type AliasMap, buildAliasMap, findTool } from '../../core/toolset/alias-map.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import { type ImpactInTurns, impactInTurns } from './argument-impact.ts';
import { type AskedNames, type CalledNames, calledNames, namedCallers } from './called-names.ts';
import { createDecisionComparison, type DecisionImpact, type DecidedSide } from './decision-impact.ts';
import type { ImpactSources } from './policy-impact.ts';
import { planNames } from '../plan/plan-names.ts';
import {
  type CallInSession,
  type ChangedNameInSessions,
  newestTurns,
  readRecordedCalls,
  type ReadTurns,
  type Turns,
  withSessions,
} from './recorded-turns.ts';

export type ToolsetImpact = Omit<NameImpact, 'changed'> & {
  changed: ChangedNameInSessions[];
  /** Calls whose name was not kept. */
  unjudged: number;
  mends: Mend[];
  /** What the policy decides about calls that both versions have. Of the names of this page, and of the arguments as `arguments`. */
  decisions: DecisionImpact;
  /** Of the newest turns. null: on a later page. */
  arguments: ImpactInTurns | null;
  /** The draft with all fixes. null: no fix is known. */
  mended: Toolset | null;
  nextCursor: string | null;
};

type Draft = { toolset: Toolset; compiled: CompiledDraft; compile(toolset: Toolset): Promise<CompiledDraft> };

/** `before`: the stored names; null: the toolset is new. `turns`: the newest ones of the workspace, if they were read already. */
export async function toolsetImpact(
  { usage, sessions, directory, aliases }: ImpactSources,
  principal: Principal,
  asked: AskedNames,
  before: AliasMap | null,
  { toolset, compiled, compile }: Draft,
  turns?: Turns,
): Promise<ToolsetImpact> {
  const rules = await directory.rules(asked.workspace);
  const names = await calledNames(usage, { ...asked, by: namedCallers(rules) });
  const { called, unjudged, nextCursor } = names;
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
  const recorded = asked.cursor === undefined ? await recordedOf(usage, { sessions, principal }, asked, turns) : null;
  const judged = recorded === null ? null : impactInTurns(before, after, recorded);
  const argumentMends = judged?.refused.flatMap((refused) => refused.mends) ?? [];
  const named = mends.length === 0 ? toolset : mended(toolset, working);
  const whollyMended = after === null ? named : withArgumentAliases(named, after, compiled.places, argumentMends);
  return {
    ...{ same: impact.same, changed: withSessions(impact.changed, recorded?.calls ?? []), unjudged, mends, nextCursor },
    decisions: decisionsOf(rules, [before, after], names.rows, recorded?.calls ?? []),
    arguments: judged,
    mended: mends.length + argumentMends.length === 0 ? null : whollyMended,
  };
}

type Recorded = CallInSession & { key: string };

async function recordedOf(
  usage: ImpactSources['usage'],
  { sessions, principal }: { sessions: ImpactSources['sessions']; principal: Principal },
  asked: AskedNames,
  given: Turns | undefined,
): Promise<ReadTurns & { calls: Recorded[] }> {
  const found = given ?? (await newestTurns(usage, asked));
  const rows = found.rows.filter((row) => row.toolset === asked.toolset);
  const keys = new Map(rows.map(({ turn, id, keyId }) => [turn ?? id, keyId]));
  const { calls, ...turns } = await readRecordedCalls(sessions, principal, { rows, more: found.more });
  return { ...turns, calls: calls.map((call) => ({ ...call, key: keys.get(call.turn) ?? '' })) };
}

/** Names that lead elsewhere are compared as names; here each name leads to the same tool, of an entry that may be another one. */
function decisionsOf(
  rules: readonly PolicyRule[],
  [before, after]: readonly [AliasMap | null, AliasMap | null],
  rows: CalledNames['rows'],
  calls: readonly Recorded[],
): DecisionImpact {
  const comparison = createDecisionComparison();
  const sidesOf = (requested: string): [DecidedSide, DecidedSide] | null => {
    const [was, now] = [findTool(before, requested), findTool(after, requested)];
    if (was === null || now === null || was.canonical !== now.canonical) return null;
    return [
      { tool: was, rules },
      { tool: now, rules },
    ];
  };
  for (const { requested, ...counted } of rows) {
    const sides = sidesOf(requested);
    if (sides !== null) comparison.count(...sides, counted);
  }
  for (const { requested, code, ...call } of calls) {
    const sides = code === 'invalid_arguments' ? null : sidesOf(requested);
    if (sides !== null) comparison.add(...sides, call);
  }
  const { deciding: _deciding, ...impact } = comparison.result();
  return impact;
}

function namesOf({ edition }: CompiledDraft, aliases: boolean): AliasMap | null {
  return edition === null ? null : planNames(buildAliasMap(edition, { aliases }), { aliases, allow: null });
}

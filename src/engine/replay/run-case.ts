/** Runs one case of a replay: plans the turn, runs it in memory with the recorded answers, and compares both. */
import type { Principal } from '../../core/people/principal.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { quoted } from '../../core/problem.ts';
import { compareCalls } from '../../core/replay/compare-calls.ts';
import { judgeRules } from '../../core/replay/judge-rules.ts';
import { type RecordedTurn, recordedTurn } from '../../core/replay/recorded-turn.ts';
import type { CallDifference, ReplayCase, ReplayRequest, ReplaySide } from '../../core/replay/replay.ts';
import type { ReplayRule } from '../../core/replay/suite.ts';
import { joinModelUses, toModelUse, toolCostOf, type UsageReport } from '../../core/records/usage.ts';
import { foldTurnUse } from '../../core/turn/turn-usage.ts';
import { withBudgets } from '../../core/usage-limits.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { SessionEvent } from '../../core/turn/session-event.ts';
import type { Place } from '../fair-pool.ts';
import { readTurnNames } from '../plan/plan-names.ts';
import { admitTurn } from '../plan/turn-limits.ts';
import type { Limiter } from '../../ports/limiter.ts';
import { type MemoryTurnNeeds, startMemoryTurn, type TurnStorage } from '../turn/memory-turn.ts';
import { answerCalls } from './answer-calls.ts';
import { ownSchemas, withOwnArguments } from './own-arguments.ts';
import { planCase, type PlanCaseDeps, type PlannedCase } from './plan-case.ts';
import { readCase } from './read-case.ts';
import { type CaseDeps, pricesOf, type RecordedCase, type RecordedPlace, Unreadable } from './recorded-case.ts';
import type { Replacements } from './replacements.ts';

export type RunCaseDeps = CaseDeps &
  PlanCaseDeps &
  Omit<MemoryTurnNeeds, 'namesFor'> & {
    limiter: Limiter;
    turnStorage(): Promise<TurnStorage>;
  };

export type CaseToRun = {
  principal: Principal;
  source: RecordedPlace;
  /** The id of the replayed turn. */
  turn: string;
  replaced: Replacements;
  rules: readonly ReplayRule[];
  unmatched: ReplayRequest['unmatched'];
  place: Place;
  signal: AbortSignal;
};

/** What is stored of a case. `detail`: null where there is no replayed turn. `plan`, `events`: for its usage. */
export type CaseResult = Pick<ReplayCase, 'status' | 'reason' | 'calls' | 'rules' | 'recorded' | 'replayed'> & {
  detail: CaseDetail | null;
  used: { plan: Plan; events: readonly SessionEvent[]; wasRun(callId: string): boolean } | null;
};
export type CaseDetail = { side: ReplaySide; differences: CallDifference[]; isApproximate?: true };

/** Of a case without a replayed turn. */
export const noResult = {
  calls: { same: 0, changed: 0, added: 0, missing: 0 },
  rules: [],
  recorded: null,
  replayed: null,
  detail: null,
  used: null,
};

/** Throws `rate_limited` if the limits of its key, agent or workspace do not allow the turn now. What is wrong with the recording or the turn is its result. */
export async function runCase(deps: RunCaseDeps, given: CaseToRun): Promise<CaseResult> {
  try {
    const found = await readCase(deps, given.principal, given.source);
    const planned = await planCase(deps, given.principal, found, given.replaced);
    return await withinLimits(deps, given, planned.plan, () => replayTurn(deps, given, found, planned));
  } catch (error) {
    if (error instanceof Unreadable) return { ...noResult, status: 'unreadable', reason: error.message };
    throw error;
  } finally {
    given.place.release();
  }
}

async function withinLimits(
  { limiter }: RunCaseDeps,
  { principal: { workspace }, turn }: CaseToRun,
  { limited }: Plan,
  run: () => Promise<CaseResult>,
): Promise<CaseResult> {
  if (limited === undefined) return await run();
  await admitTurn(limiter, workspace, limited, turn);
  try {
    return await run();
  } finally {
    await limiter.endTurn(workspace, limited, turn);
  }
}

async function replayTurn(
  deps: RunCaseDeps,
  given: CaseToRun,
  found: RecordedCase,
  { plan, directory, edition }: PlannedCase,
): Promise<CaseResult> {
  const { principal, turn, unmatched, signal } = given;
  const { workspace, keyId } = principal;
  const names = await readTurnNames(directory, workspace, plan, keyId);
  const before = edition?.names ?? names;
  const schemaOf = ownSchemas(before, names);
  const calls = withOwnArguments(found.recorded.calls, before);
  const answered = answerCalls(found.answers ? calls : [], schemaOf, found.answers ? unmatched : 'end');
  const events: SessionEvent[] = [];
  const needs: MemoryTurnNeeds = {
    ...deps,
    namesFor: async () => names,
    // Calls that are answered from the recording were not made.
    audit: (of) => ({ append: async (rows) => await deps.audit(of).append(rows.filter(({ callId }) => answered.wasRun(callId))) }),
  };
  const reader = { take: (event: SessionEvent) => void events.push(event), isOver: () => answered.unmatched() !== null, unread: () => 0 };
  const memory = startMemoryTurn(
    needs,
    {
      ...{ principal, turn, plan, history: [...found.history], gathered: found.gathered, input: [...found.input] },
      ...{ taint: createTaintMarks(), place: given.place, recorded: answered, storage: await deps.turnStorage() },
    },
    reader,
  );
  signal.addEventListener('abort', memory.leave, { once: true });
  if (signal.aborted) memory.leave();
  await memory.done;
  signal.removeEventListener('abort', memory.leave);

  const replayed = recordedTurn(events, await pricesOf(directory, workspace, events));
  if (replayed === null) throw new Error('the replayed turn did not start');
  const { asked, denied } = answered.counts();
  const own = { ...replayed, calls: withOwnArguments(replayed.calls, names), facts: { ...replayed.facts, approvals: asked } };
  const { differences, calls: counts, isApproximate } = compareCalls(calls, own.calls, schemaOf);
  const { status, reason } = outcomeOf(found, replayed, answered.unmatched(), counts.changed + counts.added + counts.missing === 0);
  const forbidden = denied === 0 ? [] : [`The policy now forbids ${denied} of the calls; their recorded answers were used.`];
  const { text } = replayed;
  return {
    status,
    reason: [...(reason === null ? [] : [reason]), ...forbidden, ...found.notes].join(' ') || null,
    calls: counts,
    rules: judgeRules(given.rules, { recorded: { ...found.recorded, calls }, replayed: own, schemaOf }),
    recorded: found.recorded.facts,
    replayed: own.facts,
    detail: { side: { text, calls: own.calls.map(toSideCall) }, differences, ...(isApproximate && { isApproximate }) },
    used: { plan, events, wasRun: answered.wasRun },
  };
}

type Unmatched = ReturnType<ReturnType<typeof answerCalls>['unmatched']>;

function outcomeOf(
  { answers }: RecordedCase,
  { status, code }: RecordedTurn,
  unmatched: Unmatched,
  isSame: boolean,
): Pick<CaseResult, 'status' | 'reason'> {
  const compared = isSame ? ('same' as const) : ('different' as const);
  // A request ends with its calls, which its client runs.
  if (unmatched !== null) return answers ? { status: 'ended', reason: noAnswer(unmatched) } : { status: compared, reason: null };
  if (status === null) return { status: 'ended', reason: 'The turn would wait for a person here.' };
  if (status === 'completed') return { status: compared, reason: null };
  return { status: 'failed', reason: `The turn ended as ${status}: ${code ?? 'without a reason'}.` };
}

function noAnswer({ canonical, requested }: NonNullable<Unmatched>): string {
  const name = canonical === null || canonical === requested ? quoted(requested) : `${quoted(requested)} (${canonical})`;
  return `The recording has no answer to the call of ${name} with these arguments: the comparison ends there.`;
}

/** Returns the report of what a replayed turn used, and its cost as far as that is known. Only calls that were made are counted. */
export async function usageOfCase(
  directory: Pick<Directory, 'provider'>,
  { workspace, keyId }: Principal,
  turn: string,
  used: CaseResult['used'],
): Promise<{ report: UsageReport | null; knownCost: number }> {
  if (used === null) return { report: null, knownCost: 0 };
  const { plan, events, wasRun } = used;
  const made = events.filter((event) => event.type !== 'tool-result' || wasRun(event.callId));
  const priceOf = await pricesOf(directory, workspace, events);
  const use = foldTurnUse(made, plan.model);
  const models = joinModelUses(use.calls.map((call) => toModelUse(call, priceOf(call.model))));
  const { agent = null, edition, limited } = plan;
  const about = { id: turn, part: 1, at: use.start?.at ?? use.at, keyId, agent, toolset: edition?.toolset ?? null };
  const knownCost = models.reduce((sum, { cost }) => sum + cost, 0) + toolCostOf(use.tools);
  return { report: { ...about, models, tools: use.tools, request: null, ...withBudgets(limited) }, knownCost };
}

export function toSideCall({
  requested,
  canonical,
  arguments: args,
  isError,
  code,
}: RecordedTurn['calls'][number]): ReplaySide['calls'][number] {
  return { requested, canonical, arguments: args, isError, code };
}

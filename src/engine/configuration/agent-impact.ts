/**
 * What a draft of an agent would have done to the calls of its past turns. Both versions are planned as a turn is, so its toolset, list,
 * skills, made tools and code mode count.
 */
import { nameImpact } from '../../core/impact/name-impact.ts';
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { readToolsetReference } from '../../core/toolset/toolset.ts';
import type { Agent } from '../../core/turn/agent.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Sessions } from '../../ports/session.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { readTurnNames } from '../plan/plan-names.ts';
import { planTurn } from '../plan/plan-turn.ts';
import { type ImpactInTurns, impactInTurns } from './argument-impact.ts';
import { type AskedNames, calledNames } from './called-names.ts';
import { type ChangedNameInSessions, newestTurns, readRecordedCalls, withSessions } from './recorded-turns.ts';

export type AgentImpact = {
  same: { names: number; calls: number };
  changed: ChangedNameInSessions[];
  unjudged: number;
  /** Calls of turns that named another toolset than the agent's. */
  elsewhere: number;
  arguments: ImpactInTurns | null;
  /** Tools that the draft's list leaves out, and the draft with them. null: its list does not matter. */
  mends: { requested: string; tool: string }[];
  mended: Agent | null;
  nextCursor: string | null;
};

type Deps = { usage: UsageReader; sessions: Sessions; directory: Directory; aliases: boolean };
type Asked = Omit<AskedNames, 'toolset' | 'agent'> & { agent: string };

/** `stored` null: the agent is new. */
export async function agentImpact(
  deps: Deps,
  principal: Principal,
  asked: Asked,
  stored: Agent | null,
  draft: Agent,
): Promise<AgentImpact> {
  const { usage, sessions } = deps;
  const names = (agent: Agent | null) => namesOf(deps, principal, asked.agent, agent);
  const [before, after] = [await names(stored), await names(draft)];
  const toolset = stored?.toolset === undefined ? null : readToolsetReference(stored.toolset).name;
  const { called, rows: _rows, ...counted } = await calledNames(usage, { ...asked, toolset });
  const { same, changed } = nameImpact(before, after, called);
  const whole = draft.tools === undefined ? null : await names({ ...draft, tools: undefined });
  const wanted = changed.filter(({ change, was }) => change === 'gone' && whole?.tools.some(({ canonical }) => canonical === was));
  const mended = { ...draft, tools: [...new Set([...(draft.tools ?? []), ...wanted.flatMap(({ was }) => was ?? [])])] };
  // A name may lead elsewhere among the tools that are added: what is proposed was tried.
  const left = wanted.length === 0 ? [] : nameImpact(before, await names(mended), called).changed;
  const mends = wanted.flatMap(({ requested, was }) =>
    was === null || left.some((one) => one.requested === requested) ? [] : [{ requested, tool: was }],
  );
  const turns = asked.cursor === undefined ? await newestTurns(usage, asked) : null;
  const own = turns === null ? null : { ...turns, rows: turns.rows.filter((row) => row.toolset === toolset) };
  const recorded = own === null ? null : await readRecordedCalls(sessions, principal, own);
  return {
    ...{ same, changed: withSessions(changed, recorded?.calls ?? []), ...counted },
    arguments: recorded === null ? null : impactInTurns(before, after, recorded),
    ...{ mends, mended: mends.length === 0 ? null : mended },
  };
}

/** Returns what a turn of the agent offers; null: nothing, or its toolset does not exist. No model is needed for that. */
async function namesOf({ directory, aliases }: Deps, principal: Principal, name: string, given: Agent | null): Promise<AliasMap | null> {
  if (given === null) return null;
  const { fallbacks: _fallbacks, models: _models, limits: _limits, ...agent } = { ...given, model: 'rehearsal/default' };
  const withDraft: Directory = {
    ...directory,
    agent: async (workspace, of) => (of === name ? agent : await directory.agent(workspace, of)),
  };
  const plan = await nullIfNotFound(planTurn({ directory: withDraft, aliases }, principal, { agent: name, callsOnly: true }));
  return plan === null ? null : await readTurnNames(withDraft, principal.workspace, plan, principal.keyId);
}

/** The plan of a replayed turn: as the recorded one had it, with what the replay replaces. */
import type { Agent } from '../../core/turn/agent.ts';
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import { readToolsetReference } from '../../core/toolset/toolset.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { CompiledToolset, Directory } from '../../ports/directory.ts';
import { planTurn, type PlanRequest } from '../plan/plan-turn.ts';
import { type RecordedCase, Unreadable } from './recorded-case.ts';
import type { Replacements } from './replacements.ts';

export type PlanCaseDeps = { directory: Directory; aliases: boolean };

/** `directory`: where the names of the plan are. `edition`: that the recorded turn used; null: none, or it is not stored any more. */
export type PlannedCase = { plan: Plan; directory: Directory; edition: CompiledToolset | null };

/** The name of a draft of an agent, for a turn that had none. */
const draftAgent = 'draft';

/** Throws `Unreadable` where what the recorded turn used is gone or not allowed, and adds what differs from it to the notes of the case. */
export async function planCase(
  { directory, aliases }: PlanCaseDeps,
  principal: Principal,
  { asked, recorded, notes }: Pick<RecordedCase, 'asked' | 'recorded' | 'notes'>,
  replaced: Replacements,
): Promise<PlannedCase> {
  const { workspace } = principal;
  const edition = recorded.edition === null ? null : await nullIfNotFound(directory.edition(workspace, recorded.edition));
  const isOwnToolset = replaced.toolset === undefined && (replaced.agent === undefined || replaced.agent.name === asked.agent);
  if (recorded.edition !== null && edition === null && isOwnToolset)
    notes.push(`The edition of ${recorded.edition.toolset} that the turn used is not stored any more: its current one was used.`);
  const agent = replaced.agent === undefined ? asked.agent : (replaced.agent.name ?? asked.agent ?? draftAgent);
  const used = recorded.edition?.toolset ?? null;
  const overlay = overlaid(directory, {
    agent: agent === undefined ? null : { name: agent, change: (stored) => changedAgent(stored, replaced, used) },
    draft: replaced.agent?.agent ?? null,
    toolset: typeof replaced.toolset === 'object' ? replaced.toolset : isOwnToolset ? edition : null,
  });
  try {
    const stored = agent === undefined || replaced.agent !== undefined ? null : await nullIfNotFound(directory.agent(workspace, agent));
    const plan = await planTurn(
      { directory: overlay, aliases },
      principal,
      requestOf(asked, agent, replaced, isOf(stored, used) ? null : used),
    );
    return { plan, directory: overlay, edition };
  } catch (error) {
    if (error instanceof Problem && error.code !== 'unavailable' && error.code !== 'internal')
      throw new Unreadable(`It cannot be planned: ${error.detail}`);
    throw error;
  }
}

function isOf(agent: Agent | null, toolset: string | null): boolean {
  return agent?.toolset !== undefined && readToolsetReference(agent.toolset).name === toolset;
}

/** `used`: the toolset of the recorded turn, unless it is that of the agent. */
function requestOf(asked: PlanRequest, agent: string | undefined, replaced: Replacements, used: string | null): PlanRequest {
  const { toolset, model, instructions } = replaced;
  const given = typeof toolset === 'string' ? toolset : toolset?.pointer.toolset;
  // An agent that is replaced brings its own toolset.
  const reference = given ?? (replaced.agent === undefined ? (asked.toolset ?? used ?? undefined) : undefined);
  const { agent: _agent, model: recordedModel, toolset: _toolset, ...rest } = asked;
  return {
    ...rest,
    ...(agent === undefined ? { model: model ?? recordedModel } : { agent }),
    ...(reference !== undefined && { toolset: reference }),
    // The prompt of an agent is replaced in the agent; what the request added stays.
    ...(agent === undefined && instructions !== undefined && { instructions }),
  };
}

/** `used`: the toolset of the recorded turn; null: it had none. */
function changedAgent(agent: Agent, { agent: other, toolset, model, instructions }: Replacements, used: string | null): Agent {
  const { toolset: _toolset, ...rest } = agent;
  const changed = {
    ...(other === undefined && toolset === undefined && used === null ? rest : agent),
    ...(model !== undefined && { model, fallbacks: [] }),
    ...(instructions !== undefined && { instructions }),
  };
  // An administrator has exempted the agent with its own prompt.
  if (instructions !== undefined && agent.taint === false) delete changed.taint;
  return changed;
}

type Overlay = {
  agent: { name: string; change(agent: Agent): Agent } | null;
  draft: Agent | null;
  /** In place of all versions of its name. */
  toolset: CompiledToolset | null;
};

/** Reads these documents in place of the stored ones. */
function overlaid(directory: Directory, { agent, draft, toolset }: Overlay): Directory {
  const isReplaced = (name: string): boolean => toolset !== null && readToolsetReference(name).name === toolset.pointer.toolset;
  return {
    ...directory,
    agent: async (workspace, name) => {
      if (agent === null || name !== agent.name) return await directory.agent(workspace, name);
      return agent.change(draft ?? (await directory.agent(workspace, name)));
    },
    toolset: async (workspace, name, version) =>
      toolset !== null && isReplaced(name) ? toolset : await directory.toolset(workspace, name, version),
    edition: async (workspace, pointer) =>
      toolset !== null && pointer.hash === toolset.pointer.hash ? toolset : await directory.edition(workspace, pointer),
  };
}

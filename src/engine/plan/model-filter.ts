/** Which models a caller may use, for lists of models. */
import { splitModelRef } from '../../core/turn/agent.ts';
import { modelsOf } from '../../core/model/route.ts';
import { type CalledModel, isModelAllowed } from '../../core/model/model-name.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Directory } from '../../ports/directory.ts';
import { type UsedAgent, agentRules, findModel, readModelRules, requireModels, resolveModels, toCalled } from './plan-models.ts';

/** The function returns whether all of these models may be used; by the agent, if one is given. */
export async function createModelFilter(
  directory: Directory,
  principal: Principal,
): Promise<(refs: readonly string[], agent?: UsedAgent) => Promise<boolean>> {
  const rules = await readModelRules(directory, principal);
  const kinds = new Map<string, CalledModel['kind']>();
  return async (refs, agent) => {
    const all = [...rules, ...agentRules(agent)];
    for (const ref of all.length === 0 ? [] : refs) {
      const { provider, model } = splitModelRef(ref);
      const kind = kinds.get(provider) ?? toCalled(await findModel(directory, principal.workspace, ref)).kind;
      kinds.set(provider, kind);
      if (!isModelAllowed(all, { provider, model, kind })) return false;
    }
    return true;
  };
}

/** Throws `forbidden` if one of the models of an agent, after aliases, is not allowed. */
export async function requireModelsOf(directory: Directory, principal: Principal, used: UsedAgent): Promise<void> {
  const { model, fallbacks = [] } = used.agent;
  const resolved = await resolveModels(directory, principal.workspace, [model, ...fallbacks]);
  await requireModels(directory, principal, resolved.flatMap(modelsOf), used);
}

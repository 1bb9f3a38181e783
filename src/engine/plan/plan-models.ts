/** The models of a turn: aliases resolved, allowed for its key, agent and workspace, and with a price where one is needed. */
import { splitModelRef, type Agent } from '../../core/turn/agent.ts';
import { resolveModelRef } from '../../core/model/model-alias.ts';
import { modelsOf, type ResolvedModel } from '../../core/model/route.ts';
import { type CalledModel, type ModelRule, requireAllowedModel } from '../../core/model/model-name.ts';
import { modelName } from '../../core/model/model-facts.ts';
import { missingPrice, priceOf } from '../../core/model/price.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { type LimitedHolder, withBudgets } from '../../core/usage-limits.ts';
import type { Directory } from '../../ports/directory.ts';
import { requireNoBudget } from '../turn/limited-model.ts';

export type UsedAgent = { name: string; agent: Agent };

/** `limited`: whose limits the turn counts for. `callsOnly`: no model is called. */
type ModelRequest = {
  refs: readonly ResolvedModel[];
  agent: UsedAgent | undefined;
  limited: readonly LimitedHolder[];
  callsOnly: boolean;
};

/** `access`: null if there is no such provider, or it is not configured; `fault` says why the model is not available. */
type FoundModel = { ref: string; provider: string; model: string; access: ProviderAccess | null; fault: unknown };

/**
 * Returns the models in order, and their prices if the turn has a limit of cost. Throws `forbidden` if one of them is not allowed, also a
 * fallback, which would otherwise be missing without a sign; and `model_not_found` if none is available.
 */
export async function planModels(
  directory: Directory,
  principal: Principal,
  { refs, agent, limited, callsOnly }: ModelRequest,
): Promise<{ models: readonly string[]; routes: Plan['routes']; prices: NonNullable<Plan['prices']> | null }> {
  const resolved = await resolveModels(directory, principal.workspace, refs);
  const routes = resolved.some((one) => typeof one !== 'string') ? resolved : undefined;
  const all = resolved.flatMap(modelsOf);
  const models = routes === undefined ? all : [...new Set(all)];
  const found = callsOnly
    ? await Promise.all(models.map((ref) => findModel(directory, principal.workspace, ref)))
    : await requireModels(directory, principal, models, agent);
  // The turn falls back to a model that is available.
  if (found.every(({ fault }) => fault !== null)) for (const { fault } of found) throw fault;
  if (!callsOnly && withBudgets(limited).budgets !== undefined) await requirePrices(found, limited);
  return { models, routes, prices: agent?.agent.limits?.maxCost === undefined ? null : readPrices(found, agent.name) };
}

/** Whose allow-lists apply to a request. `agent`: that it uses. */
export async function readModelRules(
  directory: Pick<Directory, 'workspaceSettings'>,
  { workspace, keyId, models }: Principal,
  agent?: UsedAgent,
): Promise<ModelRule[]> {
  const { models: ofWorkspace } = await directory.workspaceSettings(workspace);
  return [
    ...(models === undefined ? [] : [{ of: 'key' as const, name: keyId, models }]),
    ...agentRules(agent),
    ...(ofWorkspace === null ? [] : [{ of: 'workspace' as const, name: workspace, models: ofWorkspace }]),
  ];
}

export function agentRules(used: UsedAgent | undefined): ModelRule[] {
  return used?.agent.models === undefined ? [] : [{ of: 'agent', name: used.name, models: used.agent.models }];
}

/**
 * Returns the provider of a request outside of turns, and whether its model must be on an allow-list. Throws `forbidden` if it is not on that of
 * the key and of the workspace. `known`: these lists, of a request that may be sent to several models.
 */
export async function readAllowedProvider(
  directory: Directory,
  principal: Principal,
  ref: string,
  known?: readonly ModelRule[],
): Promise<{ access: ProviderAccess; isListed: boolean }> {
  const found = await findModel(directory, principal.workspace, ref);
  const rules = known ?? (await readModelRules(directory, principal));
  requireAllowedModel(rules, toCalled(found));
  if (found.access === null) throw found.fault;
  return { access: found.access, isListed: rules.length > 0 };
}

/** Throws `forbidden` if one of the models is not allowed. `agent`: that uses them. */
export async function requireModels(
  directory: Directory,
  principal: Principal,
  refs: readonly string[],
  agent?: UsedAgent,
): Promise<readonly FoundModel[]> {
  const found = await Promise.all(refs.map((ref) => findModel(directory, principal.workspace, ref)));
  const rules = await readModelRules(directory, principal, agent);
  for (const one of found) requireAllowedModel(rules, toCalled(one));
  return found;
}

/**
 * Returns whose allow-lists apply to a request outside of turns. Throws `forbidden` if a model of a route is not allowed, since the request could
 * get any of them.
 */
export async function readRouteRules(
  directory: Directory,
  principal: Principal,
  models: readonly ResolvedModel[],
): Promise<readonly ModelRule[]> {
  const rules = await readModelRules(directory, principal);
  // Without a list, the providers are only read when they are asked.
  if (rules.length === 0) return rules;
  const listed = models.flatMap((model) => (typeof model === 'string' ? [] : modelsOf(model)));
  for (const ref of listed) requireAllowedModel(rules, toCalled(await findModel(directory, principal.workspace, ref)));
  return rules;
}

/** Without a provider, the name is compared as it is. */
export function toCalled({ provider, model, access }: FoundModel): CalledModel {
  return { provider, model, kind: access?.kind ?? 'openai' };
}

/** Resolves aliases of models. Names that no alias matches are left out if there are other models; otherwise throws `model_not_found`. */
export async function resolveModels(
  directory: Directory,
  workspace: string,
  refs: readonly ResolvedModel[],
): Promise<readonly ResolvedModel[]> {
  if (refs.every((ref) => typeof ref !== 'string' || ref.includes('/'))) return refs;
  const aliases = await directory.modelAliases(workspace);
  const resolved = refs.map((ref) => (typeof ref === 'string' ? resolveModelRef(aliases, ref) : { model: ref }));
  const models = resolved.flatMap((found) => ('model' in found ? [found.model] : []));
  const [fault] = resolved.flatMap((found) => ('fault' in found ? [found.fault] : []));
  if (models.length === 0) throw new Problem('model_not_found', fault ?? 'There is no such model.', { param: 'model' });
  return models;
}

/** Only a provider that lists all its models, such as the rehearsal, is checked here. */
export async function findModel(directory: Directory, workspace: string, ref: string): Promise<FoundModel> {
  const { provider, model } = splitModelRef(ref);
  try {
    const access = await directory.provider(workspace, provider);
    if (access.kind !== 'rehearsal' || access.models.includes(model)) return { ref, provider, model, access, fault: null };
    const detail = `The provider "${provider}" has no model "${model}"; it has ${access.models.map(modelName).join(', ')}.`;
    return { ref, provider, model, access, fault: new Problem('model_not_found', detail) };
  } catch (fault) {
    // Thrown by the callers unless another model is available.
    return { ref, provider, model, access: null, fault };
  }
}

/** Throws if a model has no price, which a budget needs. */
async function requirePrices(found: readonly FoundModel[], limited: readonly LimitedHolder[]): Promise<void> {
  for (const { provider, model, access } of found)
    if (access !== null && priceOf(access, model) === null) requireNoBudget({ provider, model }, limited);
}

/** Throws if a model has no price: then `maxCost` of the agent could not be enforced. */
function readPrices(found: readonly FoundModel[], agent: string): NonNullable<Plan['prices']> {
  const priced = found.map(({ ref, provider, model, access, fault }) => {
    if (access === null) throw fault;
    return { ref, provider, model, price: priceOf(access, model) };
  });
  const missing = priced.filter(({ price }) => price === null);
  const [first] = missing;
  if (first !== undefined) {
    const issues = missing.map(({ provider, model }) => ({ path: 'limits.maxCost', message: missingPrice(provider, model) }));
    const { detail } = invalidRequest(issues);
    throw new Problem('invalid_request', detail, { issues, limit: 'maxCost', of: 'agent', name: agent, model: first.ref });
  }
  return priced.flatMap(({ ref, price }) => (price === null ? [] : [{ model: ref, price }]));
}

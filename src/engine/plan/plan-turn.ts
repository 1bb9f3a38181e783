/**
 * From "this agent" or "this model with this toolset" to a plan: names resolved, rights checked, the edition fixed. Reads
 * only the warm directory; stores nothing.
 */
import { splitModelRef, type Agent } from '../../core/agent.ts';
import { requireAllowed } from '../../core/authority.ts';
import { limits } from '../../core/limits.ts';
import { missingPrice, priceOf } from '../../core/price.ts';
import { grantOf, resolveName, toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import { runCodeCanonical } from '../../core/code-mode/run-code.ts';
import { isForModels, type EditionTool } from '../../core/edition-tool.ts';
import { joinParagraphs } from '../../core/paragraphs.ts';
import type { ClientTool, ModelSettings, Plan } from '../../core/plan.ts';
import { callerFields, type Principal } from '../../core/principal.ts';
import { invalidRequest, orNull, Problem, quoted } from '../../core/problem.ts';
import { utf8Length } from '../../core/utf8.ts';
import { allowOf, joinAgentLists, type AgentList } from './agent-list.ts';
import { codeNames } from './code-names.ts';
import { checkClientTools } from './client-tools.ts';
import { whyMissing } from '../../core/missing-tool.ts';
import { joinMade } from './made-names.ts';
import { planNames, turnNames } from './plan-names.ts';
import { planSkills } from './plan-skills.ts';
import { readEdition, readToolset, type UsableToolset } from './read-toolset.ts';
import type { Directory } from '../../ports/catalog.ts';

/** What a turn is asked to run with: an agent, or a model with or without a toolset. */
export type PlanRequest = {
  agent?: string;
  model?: string;
  /** A name, or `name@version`. With an agent: in place of the agent's own. */
  toolset?: string;
  instructions?: string;
  settings?: ModelSettings;
  /** The caller's own; checked against the toolset's names. */
  tools?: readonly ClientTool[];
  /** Where the name of one stands in the request; absent: `tools[i].name`. */
  toolPath?: (index: number) => string;
  /** All that the turn may call, by any name: of the caller's own as well as of the toolset. Absent or null: whatever there is. */
  allowed?: readonly NamedTool[] | null;
  /** For direct calls: the model is never asked, so the key needs no right to it. */
  callsOnly?: true;
};

/** `path`: where it stands in the request. */
export type NamedTool = { name: string; path: string };

export type PlanDeps = { directory: Directory; aliases: boolean };

/**
 * Throws `model_not_found`, `not_found` (agent, toolset), `forbidden` (a key bound to others) and `invalid_request` for a
 * tool of the caller's that takes a name of the server's, and for a choice of tools that the plan does not offer.
 */
export async function planTurn(deps: PlanDeps, principal: Principal, request: PlanRequest): Promise<Plan> {
  if (request.agent === undefined && request.callsOnly !== true) requireAllowed(principal, { act: 'use-model' });
  const agent = request.agent === undefined ? null : await readAgent(deps, principal, request.agent);
  const compiled = await readUsed(deps, principal, agent, request.toolset);
  const model = agent?.model ?? request.model;
  if (model === undefined) throw invalidRequest([{ path: 'model', message: 'give an agent or a model' }]);
  const models = [model, ...(agent?.fallbacks ?? [])];
  await checkModels(deps, principal, models);
  const prices = agent?.limits?.maxCost === undefined ? null : await readPrices(deps, principal, models);

  const [made, ownMade] = agent?.made === true ? await readMade(deps, principal) : [null, null];
  const madeNames = joinMade(made?.names ?? null, ownMade?.names ?? null);
  const list = compiled?.list ?? null;
  const own = allowOf(list);
  const { tools: brought = [] } = request;
  const usable = planNames(compiled?.names ?? null, { aliases: deps.aliases, ...own }, madeNames);
  const allowed = agent?.codeMode === true ? behindCode(request.allowed ?? null, usable) : (request.allowed ?? null);
  if (brought.length > 0) checkClientTools(usable, brought, request.toolPath);
  const { clientTools, ...offered } = allowed === null ? { ...own, clientTools: brought } : narrowTo(allowed, usable, brought, madeNames);
  const tools = { aliases: deps.aliases, ...offered, clientTools };
  const skills =
    agent?.skills === undefined
      ? []
      : await planSkills(deps.directory, principal.workspace, agent.skills, turnNames(compiled?.names ?? null, tools, madeNames));
  const codeMode = agent?.codeMode === true ? { codeMode: true as const } : {};
  const view = { ...tools, ...codeMode, ...(skills.length > 0 && { skills }) };
  const settings = { ...agent?.settings, ...request.settings };
  checkToolChoice(settings.toolChoice, turnNames(compiled?.names ?? null, view, madeNames));
  const instructions = joinParagraphs(agent?.instructions, request.instructions);
  const plan: Plan = {
    model,
    fallbacks: agent?.fallbacks ?? [],
    instructions,
    ...(request.agent !== undefined && { agent: request.agent }),
    ...(compiled !== null && { edition: compiled.pointer }),
    ...(made !== null && { made: made.pointer }),
    ...(ownMade !== null && { ownMade: ownMade.pointer }),
    ...offered,
    aliases: deps.aliases,
    limits: agent?.limits ?? {},
    ...(prices !== null && { prices }),
    settings,
    ...(agent?.protocol !== undefined && { protocol: agent.protocol }),
    caller: callerFields(principal),
    ...codeMode,
    ...taintOf(agent, request.toolset),
    ...(skills.length > 0 && { skills }),
    ...(clientTools.length > 0 && { clientTools }),
  };
  requireSmall(plan, list);
  return plan;
}

/** `taint: false` is for the toolset that the agent was given it with: in another one the policy decides. */
function taintOf(agent: Agent | null, asked: string | undefined): Pick<Plan, 'taint'> {
  if (agent?.taint === undefined) return {};
  const isOwn = asked === undefined || asked === agent.toolset;
  return agent.taint || isOwn ? { taint: agent.taint } : {};
}

/** Every turn is stored with its plan. What makes it large is the caller's; the list of its agent was measured when it was matched. */
function requireSmall({ instructions, settings, clientTools = [], allow, ...rest }: Plan, list: AgentList | null): void {
  const allowed = allow === list?.allow ? list.bytes : utf8Length(JSON.stringify(allow));
  const parts = { tools: clientTools, instructions, settings };
  const sizes = Object.entries(parts).map(([path, part]) => ({ path, bytes: utf8Length(JSON.stringify(part)) }));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, utf8Length(JSON.stringify(rest)) + allowed);
  if (bytes <= limits.maxPlanBytes) return;
  const [largest = { path: '', bytes }] = sizes.sort((a, b) => b.bytes - a.bytes);
  const message = `is ${largest.bytes} bytes; instructions (system messages), tools and settings of a turn are at most ${limits.maxPlanBytes} together`;
  throw invalidRequest([{ path: largest.path, message }]);
}

/** The shared made tools, and those that are private to the key. */
async function readMade({ directory }: PlanDeps, { workspace, keyId }: Principal) {
  return await Promise.all([directory.made(workspace), directory.privateMade(workspace, keyId)]);
}

async function readAgent({ directory }: PlanDeps, principal: Principal, name: string): Promise<Agent> {
  requireAllowed(principal, { act: 'use-agent', agent: name });
  if (principal.toolsets === undefined) return await directory.agent(principal.workspace, name);
  const agent = await orNull(directory.agent(principal.workspace, name));
  requireAllowed(principal, { act: 'read-agent', name, agent });
  return agent ?? (await directory.agent(principal.workspace, name));
}

/** What the turn uses: the toolset that the request names, else that of the agent. A key needs both: it uses no agent to reach another toolset. */
async function readUsed(
  { directory }: PlanDeps,
  principal: Principal,
  agent: Agent | null,
  asked: string | undefined,
): Promise<UsableToolset | null> {
  if (agent === null) return asked === undefined ? null : await readToolset(directory, principal, asked);
  for (const toolset of [agent.toolset, asked])
    if (toolset !== undefined) requireAllowed(principal, { act: 'use-edition', toolset, agents: [agent] });
  const reference = asked ?? agent.toolset;
  if (reference === undefined) return null;
  const compiled = await readEdition(directory, principal.workspace, reference);
  return { ...compiled, list: await joinAgentLists(compiled.names, [agent.tools]) };
}

/** One that can be asked is enough: the turn goes on to it. Throws what the first one lacks when there is none. */
async function checkModels(deps: PlanDeps, principal: Principal, refs: readonly string[]): Promise<void> {
  const checks = await Promise.allSettled(refs.map((ref) => checkModel(deps, principal, ref)));
  if (checks.some(({ status }) => status === 'fulfilled')) return;
  for (const check of checks) if (check.status === 'rejected') throw check.reason;
}

/** A provider that lists all it has, such as the rehearsal, is asked here; of the others only the provider can say. */
async function checkModel(deps: PlanDeps, principal: Principal, ref: string): Promise<void> {
  const { provider, model } = splitModelRef(ref);
  const access = await deps.directory.provider(principal.workspace, provider);
  if (access.kind === 'rehearsal' && !access.models.includes(model)) {
    throw new Problem('model_not_found', `The provider "${provider}" has no model "${model}"; it has ${access.models.join(', ')}.`);
  }
}

/** A limit that nothing counts against would be none. */
async function readPrices(deps: PlanDeps, principal: Principal, refs: readonly string[]): Promise<NonNullable<Plan['prices']>> {
  const found = await Promise.all(
    refs.map(async (ref) => {
      const { provider, model } = splitModelRef(ref);
      const { prices = {} } = await deps.directory.provider(principal.workspace, provider);
      return { ref, price: priceOf(prices, model), message: missingPrice(provider, model) };
    }),
  );
  const priced = found.flatMap(({ ref, price }) => (price === null ? [] : [{ model: ref, price }]));
  if (priced.length === found.length) return priced;
  throw invalidRequest(found.flatMap(({ price, message }) => (price === null ? [{ path: 'limits.maxCost', message }] : [])));
}

/** In code mode the tool that runs code stands for all that its code may call. */
function behindCode(allowed: readonly NamedTool[] | null, usable: AliasMap | null): readonly NamedTool[] | null {
  if (allowed === null || usable === null) return allowed;
  const model = codeNames(usable);
  return allowed.flatMap(({ name, path }) =>
    toolsNamed(model, name).some(({ canonical }) => canonical === runCodeCanonical)
      ? usable.tools.filter(isForModels).map(({ wireName }) => ({ name: wireName, path }))
      : [{ name, path }],
  );
}

/** What is left of what the turn could use. Throws `invalid_request` for names that it could not. */
function narrowTo(allowed: readonly NamedTool[], usable: AliasMap | null, brought: readonly ClientTool[], made: AliasMap | null) {
  const own = new Set(brought.map(({ name }) => name));
  const others = allowed.filter(({ name }) => !own.has(name));
  const issues = others.flatMap(({ name, path }) => {
    const message = callFault(name, usable);
    return message === null ? [] : [{ path, message }];
  });
  if (issues.length > 0) throw invalidRequest(issues);
  const names = new Set(allowed.map(({ name }) => name));
  const found = usable === null ? [] : others.flatMap(({ name }) => toolsNamed(usable, name).map((tool) => grantOf(usable, tool)));
  const allow = [...new Set(found)];
  const ofMade = made === null ? null : new Set<string>(made.tools.map(({ canonical }) => canonical));
  return {
    allow,
    ...(ofMade !== null && { madeAllow: allow.filter((name) => ofMade.has(name)) }),
    clientTools: brought.filter(({ name }) => names.has(name)),
  };
}

/** What has to be called must be what the plan offers: nothing else may be. */
function checkToolChoice(choice: ModelSettings['toolChoice'], offered: AliasMap | null): void {
  const message =
    choice === 'required' && !offered?.tools.some(isForModels)
      ? 'requires a call, and there is no tool that could be called'
      : typeof choice === 'object'
        ? callFault(choice.tool, offered)
        : null;
  if (message !== null) throw invalidRequest([{ path: 'tool_choice', message }]);
}

/** Why no call by this name can be asked of a model; null: it can. */
function callFault(name: string, offered: AliasMap | null): string | null {
  const resolution = offered === null ? null : resolveName(offered, name);
  if (resolution?.ok) return isForModels(resolution.tool) ? null : `${quoted(name)} ${standing(resolution.tool)}`;
  const near = resolution === null ? [] : resolution.code === 'ambiguous_tool' ? resolution.candidates : resolution.suggestions;
  return `${quoted(name)} is not one tool of this turn${near.length > 0 ? `; did you mean ${near.join(', ')}?` : ''}`;
}

function standing(tool: EditionTool): string {
  if (tool.kind === 'ui') return 'is shown to the person, not called';
  return tool.state === 'held' ? 'is held until somebody accepts its definition' : `is missing: ${whyMissing(tool)}`;
}

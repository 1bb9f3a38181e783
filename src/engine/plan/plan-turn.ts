/**
 * Turns "this agent" or "this model with this toolset" into a plan: resolves names, checks rights, fixes the edition. Reads only the cached
 * directory and stores nothing.
 */
import type { Agent } from '../../core/turn/agent.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import { grantOf, resolveName, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import { runCodeCanonical } from '../../core/turn/run-code.ts';
import { describeHold } from '../../core/tools/hold.ts';
import { isForModels, onlyForApps, type EditionTool } from '../../core/toolset/edition-tool.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import type { ResolvedModel } from '../../core/model/route.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import { fold } from '../../core/names/fold.ts';
import type { AcceptedNames, ClientTool, Plan } from '../../core/turn/plan.ts';
import { callerFields, type Principal } from '../../core/people/principal.ts';
import { invalidRequest, nullIfNotFound, quoted } from '../../core/problem.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { allowOf, joinAgentLists, type AgentList, readEdition, readToolset, requireVersion, type UsableToolset } from './read-toolset.ts';
import { replacedTools, withoutReplaced } from './client-tools.ts';
import { codeNames, mergeMadeTools, planNames, turnNames } from './plan-names.ts';
import { whyMissing } from '../../core/toolset/known-tools.ts';
import { planModels } from './plan-models.ts';
import { planSkills } from './plan-skills.ts';
import { readLimits } from './turn-limits.ts';
import type { WithTelemetry } from '../../ports/telemetry.ts';
import type { Directory } from '../../ports/directory.ts';
import { MB } from '../../core/limits/units.ts';

/**
 * The plan of a turn, including instructions and the caller's tools: it is one value in the session's storage, which accepts 2 MB.
 */
const maxPlanBytes = 1.5 * MB;

/** What a turn is requested to run with: an agent, or a model with or without a toolset. */
export type PlanRequest = {
  agent?: string;
  model?: ResolvedModel;
  /** A name, or `name@version`. With an agent, it replaces the agent's toolset. */
  toolset?: string;
  instructions?: string;
  settings?: ModelSettings;
  dropped?: Plan['dropped'];
  /** The client's tools; checked against the toolset's names. */
  tools?: readonly ClientTool[];
  /** The path of a client tool's name in the request; default: `tools[i].name`. */
  toolPath?: (index: number) => string;
  /** All tools the turn may call, by any name, of the client and of the toolset. Absent or null: all. */
  allowed?: readonly AllowedToolName[] | null;
  /** For direct calls: no model is called, so the key needs no right to use it. */
  callsOnly?: true;
};

/** `path`: where the name is in the request. */
export type AllowedToolName = { name: string; path: string };

export type PlanDeps = { directory: Directory; aliases: boolean } & WithTelemetry;

/**
 * Throws `model_not_found`, `not_found` (agent, toolset), `forbidden` (the key is bound to others), and `invalid_request` for client tools
 * whose names clash (`client-tools.ts`) and for a tool choice that the plan does not offer.
 */
export async function planTurn(deps: PlanDeps, principal: Principal, request: PlanRequest): Promise<Plan> {
  if (request.agent === undefined && request.callsOnly !== true) requireAllowed(principal, { act: 'use-model' });
  const agent = request.agent === undefined ? null : await readAgent(deps, principal, request.agent);
  const compiled = await readUsed(deps, principal, agent, request.toolset);
  const ref = agent?.model ?? request.model;
  if (ref === undefined) throw invalidRequest([{ path: 'model', message: 'name an agent or a model' }]);
  const used = agent === null ? undefined : { name: request.agent ?? '', agent };
  const limited = await readLimits(deps.directory, principal, used);
  const refs = [ref, ...(agent?.fallbacks ?? [])];
  const { models, routes, prices } = await planModels(deps.directory, principal, {
    refs,
    agent: used,
    limited,
    callsOnly: request.callsOnly === true,
  });
  const [model = '', ...fallbacks] = models;

  const [made, ownMade] = agent?.made === true ? await readMade(deps, principal) : [null, null];
  const madeNames = mergeMadeTools(made?.names ?? null, ownMade?.names ?? null);
  const list = compiled?.list ?? null;
  const { acceptedNames: ofList = {}, ...listed } = allowOf(list);
  const { tools: brought = [] } = request;
  const offeredBy = (own: Pick<Plan, 'allow' | 'allowHash' | 'madeAllow' | 'acceptedNames'>) =>
    planNames(compiled?.names ?? null, { aliases: deps.aliases, ...own }, madeNames);
  const every = offeredBy(listed);
  const strict = agent?.clientTools === 'strict';
  const replaced = replacedTools(every, brought, { pathOf: request.toolPath, strict, codeMode: agent?.codeMode === true });
  const own = replaced.length === 0 || every === null ? listed : withoutReplaced(every, replaced, madeNames);
  const listNames = freeNames(ofList, brought);
  const usable = offeredBy({ ...own, ...listNames });
  const allowed = agent?.codeMode === true ? expandCodeTools(request.allowed ?? null, usable) : (request.allowed ?? null);
  const { clientTools, ...offered } = allowed === null ? { ...own, clientTools: brought } : narrowTo(allowed, usable, brought, madeNames);
  const tools = { aliases: deps.aliases, ...offered, ...listNames, clientTools };
  const ofToolset = compiled?.names.edition.skills ?? [];
  const { skills, accepted } =
    agent?.skills === undefined && ofToolset.length === 0
      ? { skills: [], accepted: {} }
      : await planSkills(
          deps.directory,
          principal.workspace,
          agent?.skills ?? [],
          turnNames(compiled?.names ?? null, tools, madeNames),
          ofToolset,
        );
  const acceptedNames = freeNames({ ...listNames.acceptedNames, ...accepted }, brought);
  const codeMode = agent?.codeMode === true ? { codeMode: true as const } : {};
  const view = { ...tools, ...codeMode, ...acceptedNames, ...(skills.length > 0 && { skills }) };
  const turn = turnNames(compiled?.names ?? null, view, madeNames);
  const settings = withSearchTool({ ...agent?.settings, ...request.settings }, turn);
  checkToolChoice(settings.toolChoice, turn);
  const instructions = joinParagraphs(agent?.instructions, request.instructions);
  const trace = deps.telemetry?.carrier();
  const plan: Plan = {
    model,
    fallbacks,
    ...(routes !== undefined && { routes }),
    instructions,
    ...(request.agent !== undefined && { agent: request.agent }),
    ...(compiled !== null && { edition: compiled.pointer }),
    ...(agent?.made === true && { offersMade: true as const }),
    ...(made !== null && { made: made.pointer }),
    ...(ownMade !== null && { ownMade: ownMade.pointer }),
    ...offered,
    ...acceptedNames,
    aliases: deps.aliases,
    ...(trace != null && { trace }),
    limits: agent?.limits ?? {},
    ...(prices !== null && { prices }),
    ...(principal.egressHosts !== undefined && { egressHosts: principal.egressHosts }),
    ...(limited.length > 0 && { limited }),
    settings,
    ...(agent?.timeouts !== undefined && { timeouts: agent.timeouts }),
    ...(request.dropped !== undefined && { dropped: request.dropped }),
    ...(agent?.protocol !== undefined && { protocol: agent.protocol }),
    caller: callerFields(principal),
    ...codeMode,
    ...taintOf(agent, request.toolset),
    ...(skills.length > 0 && { skills }),
    ...(clientTools.length > 0 && { clientTools }),
    ...(request.callsOnly !== true && askedIn(request)),
    ...(replaced.length > 0 && { replaced: replaced.map(({ tool, by }) => ({ canonical: tool.canonical, by })) }),
  };
  requireSmall(plan, list);
  return plan;
}

/** Of a turn without an agent, the plan itself has the instructions and settings. */
function askedIn({ agent, toolset, instructions = '', settings = {}, allowed }: PlanRequest): Pick<Plan, 'asked'> {
  const asked = {
    ...(toolset !== undefined && { toolset }),
    ...(agent !== undefined && instructions !== '' && { instructions }),
    ...(agent !== undefined && Object.keys(settings).length > 0 && { settings }),
    ...(allowed != null && { allowed: [...allowed] }),
  };
  return Object.keys(asked).length === 0 ? {} : { asked };
}

/** Returns the names as the plan has them: without those of the client's tools, and nothing for none. */
function freeNames(accepted: AcceptedNames, brought: readonly ClientTool[]): Pick<Plan, 'acceptedNames'> {
  const names = Object.entries(accepted);
  const taken = new Set(names.length === 0 ? [] : brought.map(({ name }) => fold(name)));
  const free = names.filter(([name]) => !taken.has(fold(name)));
  return free.length === 0 ? {} : { acceptedNames: Object.fromEntries(free) };
}

/** `taint: false` applies only with the agent's own toolset; with another one the policy decides. */
function taintOf(agent: Agent | null, asked: string | undefined): Pick<Plan, 'taint'> {
  if (agent?.taint === undefined) return {};
  const isOwn = asked === undefined || asked === agent.toolset;
  return agent.taint || isOwn ? { taint: agent.taint } : {};
}

/** Throws if the plan is too large, since every turn stores its plan. The agent's list was measured when it was matched. */
function requireSmall({ instructions, settings, clientTools = [], allow, ...rest }: Plan, list: AgentList | null): void {
  const allowed = allow === list?.allow ? list.bytes : utf8Length(JSON.stringify(allow));
  const parts = { tools: clientTools, instructions, settings };
  const sizes = Object.entries(parts).map(([path, part]) => ({ path, bytes: utf8Length(JSON.stringify(part)) }));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, utf8Length(JSON.stringify(rest)) + allowed);
  if (bytes <= maxPlanBytes) return;
  const [largest = { path: '', bytes }] = sizes.sort((a, b) => b.bytes - a.bytes);
  const message = `is ${largest.bytes} bytes; the instructions (system messages), tools and settings of a turn may have at most ${maxPlanBytes} in total`;
  throw invalidRequest([{ path: largest.path, message }]);
}

/** Returns the shared made tools and those private to the key. */
async function readMade({ directory }: PlanDeps, { workspace, keyId }: Principal) {
  return await Promise.all([directory.made(workspace), directory.privateMade(workspace, keyId)]);
}

async function readAgent({ directory }: PlanDeps, principal: Principal, name: string): Promise<Agent> {
  requireAllowed(principal, { act: 'use-agent', agent: name });
  const agent = await nullIfNotFound(directory.agent(principal.workspace, name));
  requireAllowed(principal, { act: 'read-agent', name, agent });
  return agent ?? (await directory.agent(principal.workspace, name));
}

/** Returns the toolset that the request names, else the agent's. The key needs rights to both, so that it cannot use an agent to reach another toolset. */
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
  await requireVersion(directory, principal, reference, [agent]);
  const compiled = await readEdition(directory, principal.workspace, reference);
  return { ...compiled, list: await joinAgentLists(compiled.names, [agent.tools]) };
}

/** In code mode, allowing the tool that runs code allows all tools that its code may call. */
function expandCodeTools(allowed: readonly AllowedToolName[] | null, usable: AliasMap | null): readonly AllowedToolName[] | null {
  if (allowed === null || usable === null) return allowed;
  const model = codeNames(usable);
  return allowed.flatMap(({ name, path }) =>
    toolsNamed(model, name).some(({ canonical }) => canonical === runCodeCanonical)
      ? usable.tools.filter(isForModels).map(({ wireName }) => ({ name: wireName, path }))
      : [{ name, path }],
  );
}

/** Narrows a turn to the allowed names. Throws `invalid_request` for names that the turn does not have. */
function narrowTo(allowed: readonly AllowedToolName[], usable: AliasMap | null, brought: readonly ClientTool[], made: AliasMap | null) {
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

/** The tool that stands for a web search is offered in any case: only a search that the model's provider does not run is named after it. */
function withSearchTool({ webSearch, ...settings }: ModelSettings, offered: AliasMap | null): ModelSettings {
  if (webSearch === undefined) return settings;
  const tool = offered?.tools.find((one) => one.standsFor === 'web_search' && isForModels(one));
  return { ...settings, webSearch: { ...webSearch, ...(tool !== undefined && { tool: tool.wireName }) } };
}

/** A forced tool must be one that the plan offers. */
function checkToolChoice(choice: ModelSettings['toolChoice'], offered: AliasMap | null): void {
  const message =
    choice === 'required' && !offered?.tools.some(isForModels)
      ? 'requires a call, but this turn has no tool that could be called'
      : typeof choice === 'object'
        ? callFault(choice.tool, offered)
        : null;
  if (message !== null) throw invalidRequest([{ path: 'tool_choice', message }]);
}

/** Returns why a model cannot be asked to call this name; null if it can. */
function callFault(name: string, offered: AliasMap | null): string | null {
  const resolution = offered === null ? null : resolveName(offered, name);
  if (resolution?.ok) return isForModels(resolution.tool) ? null : `${quoted(name)} ${whyNotCallable(resolution.tool)}`;
  const near = resolution === null ? [] : resolution.code === 'ambiguous_tool' ? resolution.candidates : resolution.suggestions;
  return `${quoted(name)} is not a tool of this turn${near.length > 0 ? `; did you mean ${near.join(', ')}?` : ''}`;
}

function whyNotCallable(tool: EditionTool): string {
  if (tool.kind === 'ui') return 'is shown to the user and cannot be called';
  if (tool.state === 'ready') return `cannot be called: ${onlyForApps}`;
  return tool.state === 'held' ? `cannot be called: ${describeHold(tool.held)}` : `is missing: ${whyMissing(tool)}`;
}

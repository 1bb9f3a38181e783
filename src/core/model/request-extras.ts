/**
 * What a request makes a service use besides its model, in members that are forwarded unread: other models, tools that the provider runs
 * and bills by the call, and dearer tiers. Usage reports do not have them, and neither allow-lists nor prices of models cover them.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { invalidRequest, type Issue } from '../problem.ts';
import type { Dropped } from './dropped.ts';

/** Members with which gateways (OpenRouter, LiteLLM, Vercel) are given further models. */
const modelMembers = [
  'models',
  'fallbacks',
  'fallback_models',
  'context_window_fallbacks',
  'context_window_fallback_dict',
  'content_policy_fallbacks',
];

/** Returns where a request names models besides `model`. */
export function otherModels(body: Json): Issue[] {
  const message = 'names other models, which would not be checked: remove it, or use an agent with `fallbacks`';
  const { gateway } = recordOf(body.providerOptions);
  const places: [string, unknown][] = [
    ...modelMembers.map((name): [string, unknown] => [name, body[name]]),
    ...modelMembers.map((name): [string, unknown] => [`extra_body.${name}`, recordOf(body.extra_body)[name]]),
    ['providerOptions.gateway.models', recordOf(gateway).models],
    ...['routingConfig', 'modelSelectionConfig'].map((name): [string, unknown] => [`generationConfig.${name}`, inGeneration(body, name)]),
    ...listOf(body.tools).map((tool, index): [string, unknown] => [`tools[${index}].model`, recordOf(tool).model]),
  ];
  return places.flatMap(([path, value]) => (isGiven(value) ? [{ path, message }] : []));
}

/** Vertex AI's members, in either spelling. */
function inGeneration({ generationConfig, generation_config }: Json, name: string): unknown {
  const config = { ...recordOf(generation_config), ...recordOf(generationConfig) };
  return config[name] ?? config[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

/**
 * Returns the body that may be sent. Throws `invalid_request` for other models if the model is checked, and with a budget for what has a price
 * of its own. With a budget, searches of the provider beside tools of the client are left out: agents send them to every provider.
 */
export function checkedBody(body: Json, { isChecked, hasBudget, dropped }: BodyRules): Json {
  const { body: rest, issues } = hasBudget ? withoutPaidExtras(body, dropped) : { body, issues: [] };
  const all = isChecked ? [...otherModels(body), ...issues] : [];
  if (all.length > 0) throw invalidRequest(all);
  return rest;
}

type BodyRules = { isChecked: boolean; hasBudget: boolean; dropped?: Dropped | undefined };

function withoutPaidExtras(body: Json, dropped: Dropped | undefined): { body: Json; issues: Issue[] } {
  const tools = listOf(body.tools);
  const hasOwn = tools.some((tool) => !isProviderTool(tool));
  const isDropped = (tool: unknown): boolean => hasOwn && isFreeChoice(body.tool_choice) && isSearch(tool);
  for (const [index, tool] of tools.entries()) if (isDropped(tool)) dropped?.add(`tools[${index}]`, `a search of the provider ${paid}`);
  const issues = tools.flatMap((tool, index) => {
    if (!isProviderTool(tool) || isDropped(tool)) return [];
    const { type } = recordOf(tool);
    const [path, name] = typeof type === 'string' ? ['type', type] : [geminiToolIn(tool), geminiToolIn(tool)];
    return [{ path: `tools[${index}].${path}`, message: `${name} ${paid}` }];
  });
  for (const name of ['web_search_options', 'plugins', 'search_parameters', 'enable_search'])
    if (isGiven(body[name])) issues.push({ path: name, message: paid });
  // The second spelling is Gemini's, which takes both, and capitals.
  for (const path of ['service_tier', 'serviceTier'])
    if (body[path] != null && !usualTiers.has(String(body[path]).toLowerCase()))
      issues.push({ path, message: 'has other prices than `prices` of the provider: leave it out, or use a key without a budget' });
  if (body.speed != null && body.speed !== 'standard')
    issues.push({ path: 'speed', message: 'has other prices than `prices` of the provider: leave it out, or use a key without a budget' });
  return { body: tools.some(isDropped) ? { ...body, tools: tools.filter((tool) => !isDropped(tool)) } : body, issues };
}

const paid =
  'is run by the provider and billed by the call, which budgets cannot count: remove it, use a tool of a toolset, or a key without a budget';

/** At most the standard price. */
const usualTiers: ReadonlySet<string> = new Set(['auto', 'default', 'unspecified', 'standard', 'standard_only', 'flex', 'batch']);

/** Tools without a type are Anthropic's own form of functions; the client runs these types, too. */
const clientTypes = /^(function|custom|namespace|local_shell|apply_patch|computer|bash|text_editor|memory|tool_search)(_|$)/;

function isProviderTool(tool: unknown): boolean {
  const { type } = recordOf(tool);
  return typeof type === 'string' ? !clientTypes.test(type) : geminiToolIn(tool) !== undefined;
}

/** Gemini's tools have a member each, in either spelling: the client runs functions and the computer, and the provider all others. */
function geminiToolIn(tool: unknown): string | undefined {
  const { name, function: named, custom, ...members } = recordOf(tool);
  if (name !== undefined || named !== undefined || custom !== undefined) return undefined;
  return Object.keys(members).find((member) => !/^(function_?declarations|computer_?use|cache_control|description)$/i.test(member));
}

function isSearch(tool: unknown): boolean {
  return /^web_(search|fetch)(_|$)/.test(stringOf(recordOf(tool).type));
}

/** Whether the model decides if it calls a tool. */
function isFreeChoice(choice: unknown): boolean {
  const name = isRecord(choice) ? choice.type : choice;
  return name == null || name === 'auto' || name === 'none';
}

function isGiven(value: unknown): boolean {
  if (value == null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

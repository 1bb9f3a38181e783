/** Writes agents. An agent that names missing documents is stored with a warning and fails when it is used. */
import { Agent, ResourceName, splitModelRef } from '../../../core/turn/agent.ts';
import { buildAliasMap, type AliasMap } from '../../../core/toolset/alias-map.ts';
import { allowListWarnings, matchAllowList } from '../../../core/toolset/allow-list.ts';
import type { Edition } from '../../../core/toolset/edition-tool.ts';
import { modelsOf } from '../../../core/model/route.ts';
import { resolveModelRef } from '../../../core/model/model-alias.ts';
import { allowsModel, type CalledModel } from '../../../core/model/model-name.ts';
import { readWorkspaceSettings } from './workspace-settings.ts';
import { missingPrice, priceOf } from '../../../core/model/price.ts';
import type { Provider, ProviderAccess } from '../../../core/model/provider.ts';
import { providerBaseUrl } from '../../../core/names/provider-kind.ts';
import { builtinProvider, rehearsalProviderName } from '../../../storage/providers.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, listModelAliases } from './documents.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { readToolsetReference } from '../../../core/toolset/toolset.ts';
import { findPointer, isRetiredVersion } from '../toolsets/toolset-versions.ts';
import { checkNameInBody, type DocumentWriter } from './write-document.ts';
import { type Warning, parseInput } from '../../../core/problem.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import { readSkillNames } from '../../../core/skills/skill-names.ts';
import { limits } from '../../../core/limits/limits.ts';
import { madeToolset } from '../../../core/made/made-toolset.ts';
import { selectMadeTools } from '../../../engine/plan/plan-names.ts';

export const agentWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body) => {
    const document = parseInput(Agent, body);
    checkNameInBody(name, document);
    return { body: { ...document, name }, warnings: warningsOf(context, document) };
  },

  // Agent bodies were parsed by the schema when they were written.
  review: (context, body) => warningsOf(context, body as Agent),
};

function warningsOf(context: CatalogContext, agent: Agent): Warning[] {
  return [
    ...modelsWarnings(context, agent),
    ...toolWarnings(context, agent),
    ...skillWarnings(context, agent),
    ...madeWarnings(context, agent),
  ];
}

function modelsWarnings(context: CatalogContext, agent: Agent): Warning[] {
  const refs = [
    { path: 'model', ref: agent.model },
    ...(agent.fallbacks ?? []).map((ref, index) => ({ path: `fallbacks[${index}]`, ref })),
  ];
  const aliases = refs.every(({ ref }) => ref.includes('/')) ? [] : listModelAliases(context);
  return refs.flatMap(({ path, ref }) => {
    const resolved = resolveModelRef(aliases, ref);
    if ('fault' in resolved) return [{ path, message: `${resolved.fault} Until then, this model cannot be used.` }];
    return modelsOf(resolved.model).flatMap((one) => modelWarnings(context, agent, one, path));
  });
}

function modelWarnings(context: CatalogContext, agent: Agent, ref: string, path: string): Warning[] {
  const { provider, model } = splitModelRef(ref);
  const known = findProvider(context, provider);
  const forbidden = listWarnings(context, agent, { provider, model, kind: known?.kind ?? 'openai' }, path);
  if (known === null)
    return [...forbidden, { path, message: `The provider "${provider}" does not exist yet. This agent cannot run until it is created.` }];
  return [...forbidden, ...(priceOf(known, model) === null ? priceWarnings(agent, missingPrice(provider, model)) : [])];
}

/** Warns about a model that the agent or the workspace does not allow. */
function listWarnings({ sql }: CatalogContext, agent: Agent, called: CalledModel, path: string): Warning[] {
  const lists = { 'the agent': agent.models, 'the workspace': readWorkspaceSettings(sql).models ?? undefined };
  const without = Object.entries(lists).flatMap(([whose, models]) => (models === undefined || allowsModel(models, called) ? [] : [whose]));
  const ref = `${called.provider}/${called.model}`;
  return without.map((whose) => ({
    path,
    message: `${ref} is not among \`models\` of ${whose}. Turns of this agent are rejected until then.`,
  }));
}

/** `missing`: which price is missing, and how to add it. */
function priceWarnings({ limits = {} }: Agent, missing: string): Warning[] {
  const budgets = (['maxCost', 'dailyCost', 'monthlyCost'] as const).filter((name) => limits[name] !== undefined);
  return budgets.map((name) => ({ path: `limits.${name}`, message: `${missing}. Turns of this agent are rejected until then.` }));
}

/** A stored provider takes precedence over a built-in one, as when a turn is planned. */
export function findProvider(context: CatalogContext, name: string): Pick<ProviderAccess, 'kind' | 'prices' | 'baseUrl'> | null {
  const stored = name === rehearsalProviderName ? null : findRow(context.sql, 'provider', name);
  // Provider bodies were parsed by the schema when they were written.
  const provider = stored === null ? null : (stored.body as Provider);
  if (provider === null) return builtinProvider(context.settings, name);
  const { kind, prices } = provider;
  return { kind, baseUrl: providerBaseUrl(provider), ...(prices !== undefined && { prices }) };
}

function toolWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.toolset === undefined) {
    return agent.tools === undefined
      ? []
      : [{ path: 'tools', message: '`tools` has no effect without a toolset: the agent has no tools.' }];
  }
  const edition = readEdition(context, agent.toolset);
  if (edition === null) {
    return [{ path: 'toolset', message: `The toolset "${agent.toolset}" does not exist yet. This agent cannot run until it is created.` }];
  }
  const retired = retiredVersion(context, agent.toolset);
  if (retired !== null) return [{ path: 'toolset', message: `${retired} This agent cannot run until it names another version.` }];
  if (agent.tools === undefined) return [];
  return allowListWarnings(buildAliasMap(edition, { aliases: true }), agent.tools, agent.toolset);
}

/** Warns about missing skills, and about missing tools that they need. */
function skillWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.skills === undefined || agent.skills.length === 0) return [];
  const names = namesOf(context, agent);
  return agent.skills.flatMap((name, index): Warning[] => {
    const path = `skills[${index}]`;
    const row = findRow(context.sql, 'skill', name);
    if (row === null) return [{ path, message: `The skill "${name}" does not exist yet. The agent runs without it until it is created.` }];
    // A missing toolset already has a warning.
    if (names === 'unknown') return [];
    // Skill bodies were parsed from their files when they were written.
    const { missing } = readSkillNames(row.body as Skill, names);
    if (missing.length === 0) return [];
    return [{ path, message: `The skill "${name}" is unavailable: it needs ${missing.join(', ')}, which matches no tool of the agent.` }];
  });
}

/** Returns the toolset's names as a turn of the agent has them; null: the agent has no toolset. */
function namesOf(context: CatalogContext, { toolset, tools }: Agent): AliasMap | null | 'unknown' {
  if (toolset === undefined) return null;
  const edition = readEdition(context, toolset);
  if (edition === null) return 'unknown';
  const { aliases } = context.settings;
  const names = buildAliasMap(edition, { aliases });
  return tools === undefined ? names : buildAliasMap(edition, { aliases, allow: matchAllowList(names, tools).allow });
}

/** Warns about made tools that an agent with `made: true` is not offered, with the reasons. */
function madeWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.made !== true) return [];
  const names = namesOf(context, agent);
  const edition = readEdition(context, madeToolset);
  // A missing toolset already has a warning.
  if (names === 'unknown' || edition === null) return [];
  const { omitted } = selectMadeTools(names, buildAliasMap(edition, { aliases: context.settings.aliases }));
  const messages = omitted.slice(0, limits.maxReportedWarnings).map(({ canonical, why }) => `${canonical} is not offered: ${why}.`);
  if (omitted.length > messages.length) messages.push(`And ${omitted.length - messages.length} more made tools are not offered.`);
  return messages.map((message) => ({ path: 'made', message }));
}

/** Says that the version which a reference names is retired; null: it names none, or one that is not. */
function retiredVersion({ sql }: CatalogContext, reference: string): string | null {
  const { name, version } = readToolsetReference(reference);
  return version !== undefined && isRetiredVersion(sql, name, version) ? `The version "${reference}" is retired.` : null;
}

/** Returns the newest edition; null: there is no such toolset. */
function readEdition({ sql }: CatalogContext, toolset: string): Edition | null {
  const pointer = findPointer(sql, toolset);
  // Editions are written only by our own code.
  return pointer === null ? null : (JSON.parse(readEditionText(sql, pointer.hash)) as Edition);
}

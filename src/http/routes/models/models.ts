/**
 * `/v1/models`: the values of `model` in a chat request: aliases first, then agents and the providers' models. OpenAI's and Anthropic's clients use the
 * same path, so every object has the fields of both, and those of OpenRouter and LiteLLM for what is known of the model (`model-facts.ts`).
 * Wire: API references of OpenAI, Anthropic and OpenRouter, "List models"; LiteLLM, "/model/info"; for Codex `codex-models.ts`.
 */
import { z } from 'zod';
import { isAllowed } from '../../../core/people/authority.ts';
import { splitModelRef, type Agent } from '../../../core/turn/agent.ts';
import { type NamedModel, resolveModelAlias, resolveModelRef } from '../../../core/model/model-alias.ts';
import type { ModelPrice } from '../../../core/model/price.ts';
import { nullIfNotFound, Problem, quoted } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { readableAgents } from '../../../engine/configuration/readable.ts';
import { createModelFilter, requireModelsOf } from '../../../engine/plan/model-filter.ts';
import { requireModels } from '../../../engine/plan/plan-models.ts';
import type { KnownModel, ModelLists } from '../../../providers/model-list.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { codexModels } from './codex-models.ts';
import { resolveModel } from '../../../engine/chat/incoming-chat.ts';

/** Members of what is known; absent: not known. */
const factMembers = {
  context_length: z.int().optional().meta({ description: 'Context window in tokens.' }),
  max_input_tokens: z.int().optional().meta({ description: 'Maximum input in tokens.' }),
  max_tokens: z.int().optional().meta({ description: 'Maximum output in tokens, in Anthropic’s format.' }),
  max_output_tokens: z.int().optional().meta({ description: 'The same as `max_tokens`.' }),
  architecture: z
    .object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) })
    .optional()
    .meta({ description: 'What the model takes and gives. PDF is `file`, as at OpenRouter.' }),
  supported_parameters: z.array(z.string()).optional().meta({
    description: 'Present if it is known whether the model calls tools: `tools`, `tool_choice`, `reasoning` and settings that it takes.',
  }),
  pricing: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Price of a token as a decimal number: `prompt`, `completion`, `input_cache_read`, `input_cache_write`.' }),
  capabilities: z.looseObject({}).optional().meta({ description: 'As the list of Anthropic’s API has it.' }),
};

const Model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().meta({ description: 'Unix time in seconds; 0: not known.' }),
    owned_by: z.string(),
    type: z.literal('model'),
    display_name: z.string(),
    created_at: z.string().meta({ description: 'The same as `created`, in Anthropic’s format.' }),
    ...factMembers,
  })
  .meta({
    id: 'Model',
    example: {
      id: 'rehearsal/default',
      object: 'model',
      created: 0,
      owned_by: 'rehearsal',
      type: 'model',
      display_name: 'rehearsal/default',
      created_at: '1970-01-01T00:00:00Z',
    },
  });
const ModelList = z
  .object({
    object: z.literal('list'),
    data: z.array(Model),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    unavailable: z
      .array(z.object({ provider: z.string(), reason: z.string() }))
      .meta({ description: 'Providers whose models are missing, since they could not be listed.' }),
    models: z
      .array(z.looseObject({ slug: z.string() }))
      .optional()
      .meta({ description: 'Only with `client_version`: the list in the format of Codex.' }),
  })
  .meta({ id: 'ModelList' });
type Model = z.infer<typeof Model>;

const common = { tag: 'OpenAI', scopes: ['chat'] } as const;

// Stock clients add other parameters.
const ListQuery = z.looseObject({
  provider: z.string().max(64).optional().meta({ description: 'Only models of this provider; `moniker`: agents, `alias`: aliases.' }),
  client_version: z.string().max(64).optional().meta({ description: 'Sent by Codex: adds the member `models`, which it reads.' }),
  search: z.string().max(200).optional().meta({ description: 'Only ids that contain this text, in any case.' }),
});

export const modelRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/models',
      operationId: 'listModels',
      summary: 'List agents and models',
      description:
        'Aliases without `*`, agents, and the models of all providers that are no alias: those of a provider’s `models`, or else those that the provider itself lists (cached for five minutes; a provider that does not respond within five seconds is left out and named in `unavailable`). Members for limits, abilities and prices are present where they are known: from the provider’s document, its own list, or the built-in table.',
      query: ListQuery,
      answers: {
        200: {
          description:
            'The models that the key may use: those of an allow-list (`models` of the key, of the agent and of the workspace), if there is one.',
          schema: ModelList,
        },
      },
    },
    async ({ answer, services, principal, query: { provider, search = '', client_version: codex } }) => {
      const { models, unavailable } = await listModels(services, principal);
      const text = search.toLowerCase();
      const data = models.filter(
        ({ id, owned_by: owner }) => (provider === undefined || owner === provider) && id.toLowerCase().includes(text),
      );
      const ends = { has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null } as const;
      return answer(200, { object: 'list', data, ...ends, unavailable, ...(codex !== undefined && { models: codexModels(data) }) });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/models/{model+}',
      operationId: 'getModel',
      summary: 'Read a model',
      query: 'ignored',
      params: z.object({ model: z.string().min(1).max(300).meta({ example: 'rehearsal/default' }) }),
      answers: { 200: { description: 'The model.', schema: Model } },
      problems: ['model_not_found'],
    },
    async ({ answer, services, principal, params }) => {
      const { models: listed } = await listModels(services, principal);
      const ref = await resolveModel(services, principal, params.model);
      const found = listed.find(({ id }) => id === params.model) ?? listed.find(({ id }) => id === ref);
      const model = found && { ...found, id: params.model };
      if (model === undefined) await refuseUnlisted(services, principal, ref);
      if (model === undefined)
        throw new Problem('model_not_found', `The model ${quoted(params.model)} does not exist. GET /v1/models lists all models.`);
      return answer(200, model);
    },
  ),
];

/** Throws `forbidden` for a model that is not listed because an allow-list does not have it, as a request with it does. */
async function refuseUnlisted({ directory }: HttpServices, principal: Principal, ref: string): Promise<void> {
  if (!ref.includes('/')) return;
  const { provider, model: name } = splitModelRef(ref);
  if (provider !== 'agent') return void (await requireModels(directory, principal, [ref]));
  const agent = await nullIfNotFound(directory.agent(principal.workspace, name));
  if (isAllowed(principal, { act: 'read-agent', name, agent }) && agent !== null)
    await requireModelsOf(directory, principal, { name, agent });
}

async function listModels(
  services: HttpServices,
  principal: Principal,
): Promise<{ models: Model[]; unavailable: ModelLists['unavailable'] }> {
  const { directory } = services;
  const mayUseModels = isAllowed(principal, { act: 'use-model' });
  const [readable, lists, aliases, allows] = await Promise.all([
    readableAgents(services.catalog(principal), principal),
    services.models(principal.workspace),
    directory.modelAliases(principal.workspace),
    createModelFilter(directory, principal),
  ]);
  const agents = await keepIf(readable, ({ name, body }) => {
    // Bodies of agents were parsed by the schema when they were written.
    const agent = body as Agent;
    const resolved = [agent.model, ...(agent.fallbacks ?? [])].map((ref) => resolveModelRef(aliases, ref));
    return allows(
      resolved.flatMap((found) => ('model' in found ? [found.model] : [])),
      { name, agent },
    );
  });
  // A request with such a name uses what the alias names.
  const shadowing = aliases.filter(({ name }) => name.includes('/'));
  const models = await keepIf(mayUseModels ? lists.listed : [], async ({ provider, model }) => {
    const ref = `${provider}/${model}`;
    return resolveModelAlias(shadowing, ref) === null && (await allows([ref]));
  });
  const ofAgents = new Set(agents.map(({ name }) => `agent/${name}`));
  // A pattern is not a name that a client can send.
  const names = await keepIf(aliases, async ({ name, model }) => {
    if (name.includes('*')) return false;
    return model.startsWith('agent/') ? ofAgents.has(model) : mayUseModels && (await allows([model]));
  });
  const entries = [
    ...names.map(({ name, model }) => ({ model: toModel(name, 'alias', 0), ref: targetOf(agents, aliases, model) })),
    ...agents.map(({ name, createdAt }) => ({
      model: toModel(`agent/${name}`, 'moniker', Math.floor(Date.parse(createdAt) / 1000)),
      ref: targetOf(agents, aliases, `agent/${name}`),
    })),
    ...models.map(({ provider, model, created, displayName }) => {
      const ref = `${provider}/${model}`;
      return { model: toModel(ref, provider, created, displayName), ref };
    }),
  ];
  return {
    models: await Promise.all(
      entries.map(async ({ model, ref }) => ({ ...model, ...factsOf(ref === null ? null : await lists.describe(ref)) })),
    ),
    unavailable: mayUseModels ? lists.unavailable : [],
  };
}

/** Returns the model that an alias or an agent uses first; null if an agent names an alias that does not exist. */
function targetOf(agents: readonly { name: string; body: unknown }[], aliases: readonly NamedModel[], ref: string): string | null {
  if (!ref.startsWith('agent/')) return ref;
  const agent = agents.find(({ name }) => `agent/${name}` === ref);
  if (agent === undefined) return null;
  // Bodies of agents were parsed by the schema when they were written.
  const found = resolveModelRef(aliases, (agent.body as Agent).model);
  return 'model' in found ? found.model : null;
}

function factsOf(known: KnownModel | null): Partial<Model> {
  if (known === null) return {};
  const { contextTokens, maxInputTokens = contextTokens, maxOutputTokens, inputs, outputs = ['text'], tools, price } = known;
  const named = (modalities: readonly string[]): string[] => modalities.map((one) => (one === 'pdf' ? 'file' : one));
  const parameters = {
    max_tokens: true,
    temperature: known.sampling,
    top_p: known.sampling,
    stop: known.stops,
    tools,
    tool_choice: tools,
    reasoning: known.reasoning,
  };
  return {
    ...(contextTokens !== undefined && { context_length: contextTokens }),
    ...(maxInputTokens !== undefined && { max_input_tokens: maxInputTokens }),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens, max_output_tokens: maxOutputTokens }),
    ...(inputs !== undefined && { architecture: { input_modalities: named(inputs), output_modalities: named(outputs) } }),
    ...(tools !== undefined && { supported_parameters: Object.entries(parameters).flatMap(([name, has]) => (has ? [name] : [])) }),
    ...(price !== null && { pricing: pricingOf(price) }),
    ...(known.capabilities !== undefined && { capabilities: { ...known.capabilities } }),
  };
}

/** Prices are per million tokens. */
function pricingOf({ input, output, cachedInput, cacheWrite }: ModelPrice): Record<string, string> {
  const each = { prompt: input, completion: output, input_cache_read: cachedInput, input_cache_write: cacheWrite };
  return Object.fromEntries(
    Object.entries(each).flatMap(([name, price]) =>
      price === undefined ? [] : [[name, (price / 1e6).toFixed(12).replace(/\.?0+$/, '')] as const],
    ),
  );
}

async function keepIf<Item>(items: readonly Item[], isKept: (item: Item) => Promise<boolean>): Promise<Item[]> {
  const kept: Item[] = [];
  for (const item of items) if (await isKept(item)) kept.push(item);
  return kept;
}

function toModel(id: string, ownedBy: string, created: number, displayName = id): Model {
  // Without fractions of a second, which some clients cannot parse.
  const createdAt = new Date(created * 1000).toISOString().replace('.000Z', 'Z');
  return { id, object: 'model', created, owned_by: ownedBy, type: 'model', display_name: displayName, created_at: createdAt };
}

/**
 * `/v1/models`: the values of `model` in a chat request: aliases first, then agents and the providers' models. OpenAI's and Anthropic's clients use the
 * same path, so every object has the fields of both, and those of OpenRouter and LiteLLM for what is known of the model (`model-facts.ts`); clients of
 * Gemini's API, known by their header, get its fields, too. Wire: API references of OpenAI, Anthropic, Gemini and OpenRouter, "List models"; LiteLLM,
 * "/model/info"; for Codex `codex-models.ts`.
 */
import * as z from 'zod';
import { isAllowed } from '../../../core/people/authority.ts';
import { splitModelRef, type Agent } from '../../../core/turn/agent.ts';
import type { ModelPrice } from '../../../core/model/price.ts';
import { modelsOf, type ResolvedModel } from '../../../core/model/route.ts';
import { namedBy, type NamedModel, resolveModelAlias, resolveModelRef } from '../../../core/model/model-alias.ts';
import { once } from '../../../core/memoize.ts';
import { nullIfNotFound, Problem, quoted } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { readableAgents } from '../../../engine/configuration/readable.ts';
import { createModelFilter, requireModelsOf } from '../../../engine/plan/model-filter.ts';
import { requireModels } from '../../../engine/plan/plan-models.ts';
import type { KnownModel, ModelLists } from '../../../providers/lists/model-list.ts';
import { defineRoute } from '../../route.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import type { HttpServices } from '../../services.ts';
import { codexModels } from './codex-models.ts';
import { resolveModel } from '../../../engine/chat/incoming-chat.ts';

export const GeminiModel = z.object({ name: z.string(), displayName: z.string(), supportedGenerationMethods: z.array(z.string()) }).meta({
  id: 'GeminiModel',
  example: { name: 'models/rehearsal/default', displayName: 'rehearsal/default', supportedGenerationMethods: ['generateContent'] },
});
const _forGemini = 'For requests with `x-goog-api-key`: the form of Gemini’s API.';
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
    ...GeminiModel.partial().shape,
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
      .array(z.looseObject({}))
      .optional()
      .meta({ description: 'With `client_version` the list in the format of Codex; with `x-goog-api-key` in that of Gemini’s API.' }),
  })
  .meta({ id: 'ModelList' });
type Model = z.infer<typeof Model>;

const RouteStep = z
  .object({
    model: z.string(),
    why: z.string().meta({ description: 'The strategy, `sticky`, `fallback`, or `all-down`: every model that is left is put aside.' }),
    state: z.enum(['up', 'due', 'probing', 'down']).meta({
      description: '`down`: put aside after failures. `due`: the next request asks it again. `probing`: that request runs.',
    }),
    pauseLeftMs: z.number().meta({ description: 'How long it stays `down`.' }),
    code: z.string().nullable().meta({ description: 'The code of the failure for which it was put aside.' }),
    running: z.int().meta({ description: 'Requests that run.' }),
    latencyMs: z.int().nullable().meta({ description: 'Average time to the first output. null: not known.' }),
  })
  .meta({ id: 'RouteStep' });
const ReadModel = Model.extend({
  route: z.array(RouteStep).optional().meta({
    description:
      'Of an alias with `targets`: in which order a request of this key would ask its models now, as far as the server that replies knows. A step is reached only if those before fail.',
  }),
}).meta({ id: 'ReadModel' });

const loadRoutes = once(() => import('../../../engine/try-routes.ts'));

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
    async ({ c, answer, services, principal, query: { provider, search = '', client_version: codex } }) => {
      const { models, unavailable } = await listModels(services, principal);
      const text = search.toLowerCase();
      const data = models.filter(
        ({ id, owned_by: owner }) => (provider === undefined || owner === provider) && id.toLowerCase().includes(text),
      );
      const ends = { has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null } as const;
      const other = codex !== undefined ? codexModels(data) : isOfGemini(c) ? data.map(toGeminiModel) : undefined;
      return answer(200, { object: 'list', data, ...ends, unavailable, ...(other && { models: other }) });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/models/{model+}',
      operationId: 'getModel',
      summary: 'Read a model',
      // Stock clients add other parameters.
      query: z.looseObject({
        session: z.string().max(200).optional().meta({ description: 'With a route: the order for this session.' }),
      }),
      params: z.object({ model: z.string().min(1).max(300).meta({ example: 'rehearsal/default' }) }),
      answers: { 200: { description: 'The model.', schema: ReadModel } },
      problems: ['model_not_found'],
    },
    async ({ c, answer, services, principal, params, query }) => {
      const { model, ref } = await readListedModel(services, principal, params.model);
      const shown = { ...model, ...(isOfGemini(c) && toGeminiModel(model)) };
      if (typeof ref === 'string') return answer(200, shown);
      const { clock, ids } = services;
      const { workspace, keyId } = principal;
      const routing = { clock, ids, workspace, keyId, session: query.session ?? null };
      return answer(200, { ...shown, route: (await loadRoutes()).explainRoute(ref, routing) });
    },
  ),
];

function isOfGemini(c: AppContext): boolean {
  return c.req.header('x-goog-api-key') !== undefined;
}

export function toGeminiModel({ id, display_name: displayName }: Pick<Model, 'id' | 'display_name'>): z.infer<typeof GeminiModel> {
  return { name: `models/${id}`, displayName, supportedGenerationMethods: ['generateContent', 'countTokens', 'embedContent'] };
}

/** Throws `model_not_found`, and `forbidden` as below. */
export async function readListedModel(
  services: HttpServices,
  principal: Principal,
  name: string,
): Promise<{ model: Model; ref: ResolvedModel }> {
  const { models: listed } = await listModels(services, principal);
  const ref = await resolveModel(services, principal, name);
  const found = listed.find(({ id }) => id === name) ?? listed.find(({ id }) => id === ref);
  if (found !== undefined) return { model: { ...found, id: name }, ref };
  await refuseUnlisted(services, principal, ref);
  throw new Problem('model_not_found', `The model ${quoted(name)} does not exist. GET /v1/models lists all models.`);
}

/** Throws `forbidden` for a model that is not listed because an allow-list does not have it, as a request with it does. */
async function refuseUnlisted({ directory }: HttpServices, principal: Principal, ref: ResolvedModel): Promise<void> {
  if (typeof ref !== 'string') return void (await requireModels(directory, principal, modelsOf(ref)));
  if (!ref.includes('/')) return;
  const { provider, model: name } = splitModelRef(ref);
  if (provider !== 'agent') return void (await requireModels(directory, principal, [ref]));
  const agent = await nullIfNotFound(directory.agent(principal.workspace, name));
  if (isAllowed(principal, { act: 'read-agent', name, agent }) && agent !== null)
    await requireModelsOf(directory, principal, { name, agent });
}

export async function listModels(
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
      resolved.flatMap((found) => ('model' in found ? modelsOf(found.model) : [])),
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
  const names = await keepIf(aliases, async (alias) => {
    if (alias.name.includes('*')) return false;
    const model = namedBy(alias);
    const isAgent = typeof model === 'string' && model.startsWith('agent/');
    return isAgent ? ofAgents.has(model) : mayUseModels && (await allows(modelsOf(model)));
  });
  const entries = [
    ...names.map((alias) => ({ model: toModel(alias.name, 'alias', 0), ref: targetOf(agents, aliases, namedBy(alias)) })),
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
function targetOf(agents: readonly { name: string; body: unknown }[], aliases: readonly NamedModel[], named: ResolvedModel): string | null {
  const [ref = ''] = modelsOf(named);
  if (!ref.startsWith('agent/')) return ref;
  const agent = agents.find(({ name }) => `agent/${name}` === ref);
  if (agent === undefined) return null;
  // Bodies of agents were parsed by the schema when they were written.
  const found = resolveModelRef(aliases, (agent.body as Agent).model);
  return 'model' in found ? (modelsOf(found.model)[0] ?? null) : null;
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

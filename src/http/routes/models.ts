/**
 * `/v1/models`: the values of `model` in a chat request: aliases first, then agents and the providers' models. OpenAI's and Anthropic's clients use the
 * same path, so every object has the fields of both. Wire: API references of both, "List models".
 */
import { z } from 'zod';
import { isAllowed } from '../../core/authority.ts';
import { Problem, quoted } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { readableAgents } from '../../engine/configuration/readable.ts';
import type { Services } from '../../wiring.ts';
import { defineRoute, type Route } from '../route.ts';
import { resolveModel } from './chat-request.ts';

const Model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().meta({ description: 'Unix time in seconds; 0: not known.' }),
    owned_by: z.string(),
    type: z.literal('model'),
    display_name: z.string(),
    created_at: z.string().meta({ description: 'The same as `created`, in Anthropic’s format.' }),
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
  })
  .meta({ id: 'ModelList' });
type Model = z.infer<typeof Model>;

const common = { tag: 'OpenAI', scopes: ['chat'] } as const;

// Stock clients add other parameters.
const ListQuery = z.looseObject({
  provider: z.string().max(64).optional().meta({ description: 'Only models of this provider; `moniker`: agents, `alias`: aliases.' }),
  search: z.string().max(200).optional().meta({ description: 'Only ids that contain this text, in any case.' }),
});

export const modelRoutes: readonly Route[] = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/models',
      operationId: 'listModels',
      summary: 'List agents and models',
      description:
        'Aliases without `*`, agents, and the models of all providers: those of a provider’s `models`, or else those that the provider itself lists (cached for five minutes; a provider that does not respond within five seconds is left out).',
      query: ListQuery,
      answers: { 200: { description: 'The models that the key may use.', schema: ModelList } },
    },
    async ({ answer, services, principal, query: { provider, search = '' } }) => {
      const found = await listModels(services, principal);
      const text = search.toLowerCase();
      const data = found.filter(
        ({ id, owned_by: owner }) => (provider === undefined || owner === provider) && id.toLowerCase().includes(text),
      );
      return answer(200, { object: 'list', data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null });
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
      const listed = await listModels(services, principal);
      const ref = await resolveModel(services, principal, params.model);
      const found = listed.find(({ id }) => id === params.model) ?? listed.find(({ id }) => id === ref);
      const model = found && { ...found, id: params.model };
      if (model === undefined)
        throw new Problem('model_not_found', `The model ${quoted(params.model)} does not exist. GET /v1/models lists all models.`);
      return answer(200, model);
    },
  ),
];

async function listModels(services: Services, principal: Principal): Promise<Model[]> {
  const mayUseModels = isAllowed(principal, { act: 'use-model' });
  const [agents, models, aliases] = await Promise.all([
    readableAgents(services.catalog(principal), principal),
    mayUseModels ? services.models(principal.workspace) : [],
    services.directory.modelAliases(principal.workspace),
  ]);
  const ofAgents = new Set(agents.map(({ name }) => `agent/${name}`));
  const isUsable = (model: string): boolean => (model.startsWith('agent/') ? ofAgents.has(model) : mayUseModels);
  return [
    // A pattern is not a name that a client can send.
    ...aliases.flatMap(({ name, model }) => (name.includes('*') || !isUsable(model) ? [] : [toModel(name, 'alias', 0)])),
    ...agents.map(({ name, createdAt }) => toModel(`agent/${name}`, 'moniker', Math.floor(Date.parse(createdAt) / 1000))),
    ...models.map(({ provider, model, created, displayName }) => toModel(`${provider}/${model}`, provider, created, displayName)),
  ];
}

function toModel(id: string, ownedBy: string, created: number, displayName = id): Model {
  // Without fractions of a second, which some clients cannot parse.
  const createdAt = new Date(created * 1000).toISOString().replace('.000Z', 'Z');
  return { id, object: 'model', created, owned_by: ownedBy, type: 'model', display_name: displayName, created_at: createdAt };
}

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

// Stock clients add other parameters.
const common = { tag: 'OpenAI', scopes: ['chat'], query: z.looseObject({}) } as const;

export const modelRoutes: readonly Route[] = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/models',
      operationId: 'listModels',
      summary: 'List agents and models',
      answers: { 200: { description: 'The models that the key may use.', schema: ModelList } },
    },
    async ({ answer, services, principal }) => {
      const data = await listModels(services, principal);
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
      params: z.object({ model: z.string().min(1).max(300).meta({ example: 'rehearsal/default' }) }),
      answers: { 200: { description: 'The model.', schema: Model } },
      problems: ['model_not_found'],
    },
    async ({ answer, services, principal, params }) => {
      const model = (await listModels(services, principal)).find(({ id }) => id === params.model);
      if (model === undefined)
        throw new Problem('model_not_found', `The model ${quoted(params.model)} does not exist. GET /v1/models lists all models.`);
      return answer(200, model);
    },
  ),
];

async function listModels(services: Services, principal: Principal): Promise<Model[]> {
  const mayUseModels = isAllowed(principal, { act: 'use-model' });
  const [agents, providers, aliases] = await Promise.all([
    readableAgents(services.catalog(principal), principal),
    mayUseModels ? services.directory.providers(principal.workspace) : [],
    services.directory.modelAliases(principal.workspace),
  ]);
  const ofAgents = new Set(agents.map(({ name }) => `agent/${name}`));
  const isUsable = (model: string): boolean => (model.startsWith('agent/') ? ofAgents.has(model) : mayUseModels);
  return [
    // A pattern is not a name that a client can send.
    ...aliases.flatMap(({ name, model }) => (name.includes('*') || !isUsable(model) ? [] : [toModel(name, 'alias', 0)])),
    ...agents.map(({ name, createdAt }) => toModel(`agent/${name}`, 'moniker', Math.floor(Date.parse(createdAt) / 1000))),
    ...providers.flatMap(({ name, models }) => models.map((model) => toModel(`${name}/${model}`, name, 0))),
  ];
}

function toModel(id: string, ownedBy: string, created: number): Model {
  // Without fractions of a second, which some clients cannot parse.
  const createdAt = new Date(created * 1000).toISOString().replace('.000Z', 'Z');
  return { id, object: 'model', created, owned_by: ownedBy, type: 'model', display_name: id, created_at: createdAt };
}

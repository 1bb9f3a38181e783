/**
 * The rest of Gemini's API under `/v1beta/models`: the models, the tokens of a request, and embeddings, which providers with OpenAI's API make, too.
 * Wire: API references "Models", "Counting tokens" and "Embeddings".
 */
import * as z from 'zod';
import { isRecord, listOf, recordOf, tryParse } from '../../../core/json/wire-value.ts';
import { limits } from '../../../core/limits/limits.ts';
import { cacheHeader } from '../../../core/model/cache/cache-decision.ts';
import { createDropped, droppedHeader, droppedHeaders } from '../../../core/model/dropped.ts';
import { targetHeaders } from '../../../core/model/route.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import { invalidRequest, type Issue, parseInput, Problem } from '../../../core/problem.ts';
import { geminiDialect } from '../../../dialects/gemini/dialect.ts';
import { estimateGeminiTokens, GenerateContentRequest } from '../../../dialects/gemini/request.ts';
import { inOneSpelling } from '../../../dialects/gemini/wire-names.ts';
import { resolveModel } from '../../../engine/chat/incoming-chat.ts';
import { readBounded } from '../../../net/read-bounded.ts';
import { defineRoute, type RouteRequest } from '../../route.ts';
import { cacheAnswerHeader } from '../chat/chat.ts';
import { modelIn, withPath } from '../chat/gemini.ts';
import { countOrEstimate } from './count-tokens.ts';
import { GeminiModel, listModels, readListedModel, toGeminiModel } from './models.ts';

const CountedTokens = z
  .looseObject({
    totalTokens: z.int(),
    estimated: z
      .literal(true)
      .optional()
      .meta({ description: 'An extension of Gemini’s API: true if counted by characters, without server tools.' }),
  })
  .meta({ id: 'GeminiTokenCount', example: { totalTokens: 14, estimated: true } });

const CountRequest = z
  .looseObject({
    contents: GenerateContentRequest.shape.contents.optional(),
    generateContentRequest: z.looseObject({}).optional().meta({ description: 'A whole request, in place of `contents`.' }),
  })
  .meta({ id: 'GeminiCountRequest', example: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] } });

const EmbedRequest = z
  .looseObject({
    content: z.looseObject({ parts: z.array(z.looseObject({ text: z.string() })).min(1) }),
    outputDimensionality: z.int().min(1).nullish(),
    taskType: z.string().nullish(),
    title: z.string().nullish(),
  })
  .meta({ id: 'GeminiEmbedRequest', example: { content: { parts: [{ text: 'Hello' }] } } });
const BatchRequest = z.looseObject({ requests: z.array(EmbedRequest).min(1).max(2048) }).meta({ id: 'GeminiBatchEmbedRequest' });
const Embedding = z.looseObject({ values: z.array(z.number()) }).meta({ id: 'GeminiEmbedding' });

const keyed = { tag: 'Gemini', scopes: ['chat'], query: 'ignored' } as const;
const params = z.object({ model: z.string().min(1).max(400).meta({ example: 'rehearsal/default' }) });
const asked = { ...keyed, method: 'post', params } as const;
const failures = ['model_not_found', 'not_found', 'upstream_error', 'upstream_timeout', 'rate_limited', 'loop_detected'] as const;
const embedded = {
  description:
    'A provider of kind `gemini` is sent the request, and one of kind `openai` or `openai-compatible` its texts, `outputDimensionality` and no `taskType` and `title`.',
  problems: failures,
} as const;
const embedHeaders = {
  [droppedHeader]: 'What the request asked for and the provider was not sent. Absent: nothing.',
  [cacheHeader]: cacheAnswerHeader,
  ...targetHeaders,
};

export const geminiModelRoutes = [
  defineRoute(
    {
      ...asked,
      path: '/v1beta/models/{model+}:countTokens',
      alsoAt: '/v1/models/{model+}:countTokens',
      operationId: 'countGeminiTokens',
      summary: 'Count the tokens of a request (Gemini)',
      description:
        'Returns the provider’s count if it is of kind `gemini` and the request has `contents` alone; otherwise an estimate, marked `estimated`. Runs no model.',
      body: { documented: CountRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'The count.', schema: CountedTokens, contentType: 'application/json' } },
      problems: failures,
    },
    async (request) => {
      const { model, ...given } = withPath(request);
      const whole = given.generateContentRequest ?? given.generate_content_request;
      const { model: _same, ...own } = isRecord(whole) ? whole : given;
      const counted = await countOrEstimate(
        { ...request, body: { ...own, model }, text: undefined },
        {
          dialect: geminiDialect,
          headers: {},
          estimate: estimateGeminiTokens,
          isEstimated: Object.keys(own).some((name) => name !== 'contents'),
        },
      );
      return counted instanceof Response ? counted : request.answer(200, { totalTokens: counted, estimated: true });
    },
  ),

  defineRoute(
    {
      ...asked,
      ...embedded,
      path: '/v1beta/models/{model+}:embedContent',
      alsoAt: '/v1/models/{model+}:embedContent',
      operationId: 'embedContent',
      summary: 'Embed a text (Gemini)',
      body: { documented: EmbedRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'The embedding.', schema: z.looseObject({ embedding: Embedding }), headers: embedHeaders } },
    },
    async (request) => {
      const { model: _same, ...own } = withPath(request);
      const { embeddings, headers } = await embed(request, [own], '');
      const [embedding] = embeddings;
      if (embedding === undefined) throw noEmbedding();
      return request.answer(200, { embedding }, headers);
    },
  ),

  defineRoute(
    {
      ...asked,
      ...embedded,
      path: '/v1beta/models/{model+}:batchEmbedContents',
      alsoAt: '/v1/models/{model+}:batchEmbedContents',
      operationId: 'batchEmbedContents',
      summary: 'Embed texts (Gemini)',
      body: { documented: BatchRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: {
        200: {
          description: 'The embeddings, in order.',
          schema: z.looseObject({ embeddings: z.array(Embedding) }),
          headers: embedHeaders,
        },
      },
    },
    async (request) => {
      const { requests } = parseInput(z.looseObject({ requests: z.array(z.unknown()).min(1).max(2048) }), request.body);
      const { embeddings, headers } = await embed(request, requests, 'requests[].');
      if (embeddings.length !== requests.length) throw noEmbedding();
      return request.answer(200, { embeddings }, headers);
    },
  ),

  // Behind those whose path is more special.
  defineRoute(
    {
      ...keyed,
      method: 'get',
      path: '/v1beta/models',
      operationId: 'listGeminiModels',
      summary: 'List agents and models (Gemini)',
      description: 'Those of `GET /v1/models`, all on one page.',
      answers: { 200: { description: 'The models that the key may use.', schema: z.object({ models: z.array(GeminiModel) }) } },
    },
    async ({ answer, services, principal }) => answer(200, { models: (await listModels(services, principal)).models.map(toGeminiModel) }),
  ),

  defineRoute(
    {
      ...keyed,
      method: 'get',
      path: '/v1beta/models/{model+}',
      operationId: 'getGeminiModel',
      summary: 'Read a model (Gemini)',
      params,
      answers: { 200: { description: 'The model.', schema: GeminiModel } },
      problems: ['model_not_found'],
    },
    async ({ answer, services, principal, params: { model } }) =>
      answer(200, toGeminiModel((await readListedModel(services, principal, model)).model)),
  ),
];

type Embedder = Pick<RouteRequest, 'c' | 'services' | 'principal'> & { params: { model: string } };

/** `place`: of a request, for the names of what is left out. */
async function embed({ c, services, principal, params: given }: Embedder, requests: readonly unknown[], place: string) {
  requireAllowed(principal, { act: 'use-model' });
  const { requests: read } = parseInput(BatchRequest, { requests: inOneSpelling(requests) });
  const model = modelIn(given.model);
  const ref = await resolveModel(services, principal, model);
  if (typeof ref === 'string' && (!/^[^/]+\/./.test(ref) || ref.startsWith('agent/')))
    throw new Problem('model_not_found', 'Embeddings need <provider>/<model>, or an alias of one. GET /v1beta/models lists them.', {
      param: 'model',
    });
  const sizes = new Set(read.map(({ outputDimensionality }) => outputDimensionality ?? null));
  const issues: Issue[] = sizes.size > 1 ? [{ path: 'requests[].outputDimensionality', message: 'must be the same in all requests' }] : [];
  if (issues.length > 0) throw invalidRequest(issues);
  const [dimensions] = sizes;
  const response = await services.passRequest(principal, {
    ref,
    path: '/embeddings',
    body: {
      model,
      input: read.map(({ content }) => content.parts.map(({ text }) => text).join('\n')),
      encoding_format: 'float',
      ...(dimensions != null && { dimensions }),
    },
    requestId: c.get('requestId'),
    cache: c.req.header(cacheHeader),
    gemini: {
      method: 'batchEmbedContents',
      body: (resource) => ({ requests: read.map((request) => ({ ...request, model: resource })) }),
    },
  });
  const { bytes, truncated } = await readBounded(response, limits.maxLargeBodyBytes);
  const reply = truncated ? null : recordOf(tryParse(new TextDecoder().decode(bytes)));
  // Of several models of a route, any may have replied.
  const isOwn = reply !== null && 'embeddings' in reply;
  const dropped = createDropped();
  for (const name of isOwn ? [] : (['taskType', 'title'] as const))
    if (read.some((request) => request[name] != null)) dropped.add(`${place}${name}`, 'the API does not have it');
  const passed = Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-moniker-')));
  const names = [passed, droppedHeaders(dropped.items())].flatMap((headers) => headers[droppedHeader] ?? []);
  const headers = { ...passed, ...(names.length > 0 && { [droppedHeader]: names.join(', ') }) };
  return { embeddings: valuesIn(reply ?? {}, isOwn).map((values) => ({ values })), headers };
}

/** In the order of the inputs. */
function valuesIn({ data, embeddings }: Record<string, unknown>, isOwn: boolean): number[][] {
  const items = listOf(isOwn ? embeddings : data).map(recordOf);
  if (!isOwn) items.sort((one, other) => Number(one.index ?? 0) - Number(other.index ?? 0));
  return items.flatMap(({ values, embedding }) => {
    const numbers = isOwn ? values : embedding;
    return Array.isArray(numbers) && numbers.every((number) => typeof number === 'number') ? [numbers] : [];
  });
}

function noEmbedding(): Problem {
  return new Problem('upstream_error', 'The provider sent no embedding for each text.');
}

/**
 * The rest of OpenAI's API that a provider may have: embeddings, moderations, audio and images. The request is passed to the provider of its
 * model with that model's own name, and the reply, which may be binary or a stream, is passed back.
 */
import { targetHeaders } from '../../../core/model/route.ts';
import * as z from 'zod';
import { cacheHeader } from '../../../core/model/cache/cache-decision.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import { limits } from '../../../core/limits/limits.ts';
import { MB } from '../../../core/limits/units.ts';
import { rootKeyId } from '../../../core/people/principal.ts';
import { invalidRequest, Problem, quoted } from '../../../core/problem.ts';
import { nameDeployment, withDeployment } from '../../azure-paths.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { isEventStream } from '../../../net/sse.ts';
import { keepStreamPlace, requireStream } from '../../places.ts';
import { readRequestBody } from '../../request-body.ts';
import { streamHoldingPlace } from '../../sent-body.ts';
import { type Answer, type RouteRequest, defineRoute } from '../../route.ts';
import { requireModel, resolveModel } from '../../../engine/chat/incoming-chat.ts';

/** As large as the audio that OpenAI accepts. */
const maxFormBytes = 25 * MB;

const PassedBody = z.looseObject({ model: z.string().min(1) }).meta({
  id: 'PassedRequest',
  description: 'As in the API of OpenAI. `model` is `<provider>/<model>` or an alias.',
  example: { model: 'openai/text-embedding-3-small', input: 'hello' },
});

const json = [
  { path: '/embeddings', operationId: 'createEmbeddings', summary: 'Create embeddings' },
  { path: '/rerank', operationId: 'createRerank', summary: 'Order documents by relevance' },
  { path: '/moderations', operationId: 'createModeration', summary: 'Classify text or images' },
  { path: '/audio/speech', operationId: 'createSpeech', summary: 'Create speech from text' },
  { path: '/images/generations', operationId: 'createImage', summary: 'Create images' },
] as const;
const forms = [
  { path: '/audio/transcriptions', operationId: 'createTranscription', summary: 'Transcribe audio' },
  { path: '/audio/translations', operationId: 'createTranslation', summary: 'Translate audio to English text' },
  { path: '/images/edits', operationId: 'editImage', summary: 'Edit images' },
  { path: '/images/variations', operationId: 'createImageVariation', summary: 'Create variations of an image' },
] as const;

const common = {
  method: 'post',
  tag: 'OpenAI',
  scopes: ['chat'],
  query: 'ignored',
  answers: { 200: { description: 'The reply of the provider.', contentType: '*/*', headers: targetHeaders } satisfies Answer },
  problems: ['model_not_found', 'rate_limited', 'upstream_error', 'upstream_timeout', 'loop_detected'],
} as const;
const description =
  'Passed to the provider of the model, which must be of kind `openai`, `openai-responses`, `openai-compatible` or `azure-openai`, with its key. The reply is passed back unchanged, also as a stream or as binary data. Providers of kind `gemini`, `vertex`, `cohere` and `bedrock` have embeddings, which are translated; those of kind `cohere` have `/v1/rerank`.';

export const passedRequestRoutes = [
  ...json.map(({ path, ...spec }) =>
    defineRoute(
      {
        ...common,
        ...spec,
        path: `/v1${path}`,
        description,
        body: { schema: z.unknown(), documented: PassedBody, maxBytes: limits.maxLargeBodyBytes },
      },
      (request) => {
        requireAllowed(request.principal, { act: 'use-model' });
        const body = requireModel(withDeployment(request.c.req.raw, request.body));
        return pass(request, path, body.model, body);
      },
    ),
  ),
  ...forms.map(({ path, ...spec }) =>
    defineRoute(
      {
        ...common,
        ...spec,
        path: `/v1${path}`,
        description,
        rawBody: {
          description: `A form as in the API of OpenAI, with \`model\`, of at most ${maxFormBytes} bytes.`,
          type: 'multipart/form-data',
        },
        problems: [...common.problems, 'unsupported_media_type'],
      },
      async (request) => {
        // Before the form is read.
        requireAllowed(request.principal, { act: 'use-model' });
        const form = nameDeployment(request.c.req.raw, await readForm(request.c));
        const [model, ...others] = form.getAll('model');
        if (typeof model !== 'string' || others.length > 0)
          throw invalidRequest([{ path: 'model', message: 'must be <provider>/<model>, once' }]);
        return await pass(request, path, model, form);
      },
    ),
  ),
];

async function pass(
  { c, services, principal }: Pick<RouteRequest, 'c' | 'services' | 'principal'>,
  path: string,
  model: string,
  body: Readonly<Record<string, unknown>> | FormData,
): Promise<Response> {
  const ref = await resolveModel(services, principal, model);
  if (typeof ref === 'string' && (!/^[^/]+\/./.test(ref) || ref.startsWith('agent/'))) {
    const detail = `Unknown model ${quoted(model)}: it must be <provider>/<model>, or an alias of one. GET /v1/models lists them.`;
    throw new Problem('model_not_found', detail, { param: 'model' });
  }
  const isBinary = path === '/audio/speech';
  if (isBinary || (!(body instanceof FormData) && body.stream === true)) requireStream(c);
  const response = await services.passRequest(principal, {
    ref,
    path,
    body,
    requestId: c.get('requestId'),
    cache: c.req.header(cacheHeader),
  });
  // Events are counted where their key is watched.
  if (!isBinary || response.body === null || isEventStream(response) || principal.keyId === rootKeyId) return response;
  return new Response(streamHoldingPlace(response.body, keepStreamPlace(c)), response);
}

async function readForm(c: AppContext): Promise<FormData> {
  const type = c.req.header('content-type') ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw new Problem('unsupported_media_type', 'Send a form as `content-type: multipart/form-data`.');
  const bytes = await readRequestBody(c, maxFormBytes);
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData();
  } catch (error) {
    throw new Problem('invalid_request', 'The body is not a multipart form with the boundary of its content type.', {}, { cause: error });
  }
}

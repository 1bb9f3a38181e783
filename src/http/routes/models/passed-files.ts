/** `/v1/files` and `/v1/batches` of OpenAI's API, passed to a provider that has them (`providers/passed/passed-files.ts`). */
import * as z from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import { rootKeyId } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { type FileRequest, maxFileBytes } from '../../../providers/passed/passed-files.ts';
import { keepStreamPlace } from '../../places.ts';
import { defineRoute, type RouteRequest } from '../../route.ts';
import { streamHoldingPlace } from '../../sent-body.ts';

const provider = z.string().min(1).max(32).optional().meta({
  description: 'The provider. Absent: that of the id or of `x-moniker-provider`, else the only one of a kind with files.',
});
const ProviderQuery = z.strictObject({ provider });
const ById = z.object({ id: z.string().min(1).max(1_024).meta({ description: 'As a reply here had it.' }) });
const ProviderFile = z.looseObject({ id: z.string(), object: z.string() }).meta({ id: 'ProviderFile' });
const Batch = z.looseObject({ id: z.string(), object: z.string(), status: z.string().optional() }).meta({ id: 'Batch' });
const BatchRequest = z
  .looseObject({ input_file_id: z.string().max(1_024), endpoint: z.string(), completion_window: z.string() })
  .meta({ id: 'BatchRequest' });

const common = {
  tag: 'OpenAI',
  scopes: ['chat'],
  description:
    'Passed to a provider of kind `openai`, `openai-responses` or `openai-compatible`, with its key. Ids are for the key that got them. A list of `models` must have the whole provider (`openai/*`).',
  headers: { 'x-moniker-provider': 'The same as `provider`.' },
  problems: ['model_not_found', 'not_found', 'rate_limited', 'upstream_error', 'upstream_timeout', 'loop_detected'],
} as const;
const file = { 200: { description: 'The file.', schema: ProviderFile, contentType: 'application/json' } };
const batch = { 200: { description: 'The batch, of the provider.', schema: Batch, contentType: 'application/json' } };

async function pass(
  { c, services, principal, query }: PassedRoute,
  request: Omit<FileRequest, 'provider' | 'requestId'>,
): Promise<Response> {
  requireAllowed(principal, { act: 'use-model' });
  if (c.req.header('anthropic-version') !== undefined)
    throw new Problem(
      'not_found',
      'These are the files of the API of OpenAI. Those of Anthropic, which have the same path, are not passed on.',
    );
  const provider = (query as z.infer<typeof ProviderQuery>).provider ?? c.req.header('x-moniker-provider');
  const body = request.of === 'files' && request.method === 'POST' ? formOf(c.req.raw) : request.body;
  return await services.passFiles(principal, { ...request, ...(body && { body }), provider, requestId: c.get('requestId') });
}

function formOf({ body, headers }: Request): NonNullable<FileRequest['body']> {
  const contentType = headers.get('content-type') ?? '';
  if (body === null || !/^multipart\/form-data\s*;/i.test(contentType))
    throw new Problem('unsupported_media_type', 'Send a form as `content-type: multipart/form-data`.');
  return { form: body, contentType, length: headers.get('content-length') };
}

type PassedRoute = Pick<RouteRequest, 'c' | 'services' | 'principal' | 'query'>;

/** The provider's list has what all keys of the workspace made. */
function refuseList({ principal }: PassedRoute, what: string): never {
  requireAllowed(principal, { act: 'use-model' });
  const detail = `${what} are not listed: the keys of a workspace share the account of its provider, whose list has those of all keys. Keep the ids that you get.`;
  throw new Problem('method_not_allowed', detail, { allow: ['POST', 'OPTIONS'] });
}

export const passedFileRoutes = [
  defineRoute(
    {
      ...{ ...common, method: 'post', path: '/v1/files', operationId: 'uploadProviderFile', summary: 'Upload a file to a provider' },
      query: ProviderQuery,
      rawBody: {
        description: `A form as in the API of OpenAI, of at most ${maxFileBytes} bytes, passed on as it arrives.`,
        type: 'multipart/form-data',
      },
      answers: file,
      problems: [...common.problems, 'unsupported_media_type'],
    },
    (request) => pass(request, { of: 'files', method: 'POST' }),
  ),
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/files',
      operationId: 'listProviderFiles',
      summary: 'Refused: files are not listed',
      query: 'ignored',
      answers: file,
    },
    (request) => refuseList(request, 'Files'),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: '/v1/files/{id}', operationId: 'getProviderFile', summary: 'Read a file of a provider' },
      ...{ params: ById, query: ProviderQuery, answers: file },
    },
    (request) => pass(request, { of: 'files', method: 'GET', id: request.params.id }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: '/v1/files/{id}/content', operationId: 'getProviderFileContent', summary: 'Download a file' },
      ...{ params: ById, query: ProviderQuery, answers: { 200: { description: 'The content.', contentType: '*/*' } } },
    },
    async (request) => {
      const response = await pass(request, { of: 'files', method: 'GET', id: request.params.id, action: 'content' });
      if (response.body === null || request.principal.keyId === rootKeyId) return response;
      return new Response(streamHoldingPlace(response.body, keepStreamPlace(request.c)), response);
    },
  ),
  defineRoute(
    {
      ...{ ...common, method: 'delete', path: '/v1/files/{id}', operationId: 'deleteProviderFile', summary: 'Delete a file of a provider' },
      ...{ params: ById, query: ProviderQuery, answers: file },
    },
    (request) => pass(request, { of: 'files', method: 'DELETE', id: request.params.id }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'post', path: '/v1/batches', operationId: 'createBatch', summary: 'Create a batch of a provider' },
      ...{ query: ProviderQuery, body: BatchRequest, answers: batch },
    },
    (request) => pass(request, { of: 'batches', method: 'POST', body: request.body }),
  ),
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/batches',
      operationId: 'listBatches',
      summary: 'Refused: batches are not listed',
      query: 'ignored',
      answers: batch,
    },
    (request) => refuseList(request, 'Batches'),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: '/v1/batches/{id}', operationId: 'getBatch', summary: 'Read a batch' },
      ...{ params: ById, query: ProviderQuery, answers: batch },
    },
    (request) => pass(request, { of: 'batches', method: 'GET', id: request.params.id }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'post', path: '/v1/batches/{id}/cancel', operationId: 'cancelBatch', summary: 'Cancel a batch' },
      ...{ params: ById, query: ProviderQuery, answers: batch },
    },
    (request) => pass(request, { of: 'batches', method: 'POST', id: request.params.id, action: 'cancel' }),
  ),
];

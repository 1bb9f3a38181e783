/**
 * `/v1/files` and `/v1/batches` of OpenAI's API, passed to a provider that has them (`providers/passed/passed-files.ts`). `message-batches.ts` has
 * those of Anthropic's API.
 */
import * as z from 'zod';
import { stringOf } from '../../../core/json/wire-value.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import { rootKeyId } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { maxListedItems } from '../../../providers/passed/own-items.ts';
import { type FileRequest, maxFileBytes, type PassedListRequest } from '../../../providers/passed/passed-files.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { issuerOf } from '../../own-origin.ts';
import { keepStreamPlace } from '../../places.ts';
import { defineRoute, type RouteRequest } from '../../route.ts';
import { streamHoldingPlace } from '../../sent-body.ts';

const provider = z.string().min(1).max(32).optional().meta({
  description: 'The provider. Absent: that of the id or of `x-moniker-provider`, else the only one of a kind with files.',
});
const ProviderQuery = z.strictObject({ provider });
export const PassedId = z.object({ id: z.string().min(1).max(1_024).meta({ description: 'As a reply here had it.' }) });
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
/** Lists of OpenAI's API. Its clients ask for more files than a page has here. */
const listLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(10_000)
  .default(20)
  .meta({
    description: `A page has at most ${maxListedItems}: \`has_more\` says whether there are more.`,
  });
const BatchList = z.strictObject({
  provider: z.string().min(1).max(32).optional().meta({ description: 'Only what is at this provider.' }),
  after: z.string().min(1).max(1_024).optional().meta({ description: 'Continues after this id.' }),
  limit: listLimit,
});
const FileList = BatchList.extend({
  order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'By the time at which they were made. `desc`: newest first.' }),
  purpose: z.string().min(1).max(100).optional(),
});
const ItemPage = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: z.string(), object: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'ProviderItemPage' });
const listed = {
  200: { description: 'What this key made, as its providers have it now.', schema: ItemPage, contentType: 'application/json' },
};
const listDescription =
  'Lists what this key made, at all of its providers or at one. An item that was made before there were lists is in them once its content was downloaded or, of a batch, once it has ended and was read.';

const batch = { 200: { description: 'The batch, of the provider.', schema: Batch, contentType: 'application/json' } };

export type PassedRoute = Pick<RouteRequest, 'c' | 'services' | 'principal'> & { query?: unknown };

export async function passItem(
  { c, services, principal, query }: PassedRoute,
  request: Omit<FileRequest, 'provider' | 'requestId' | 'ownUrl'>,
): Promise<Response> {
  requireAllowed(principal, { act: 'use-model' });
  if (request.of !== 'messages/batches') refuseAnthropic(c);
  const provider = (query as z.infer<typeof ProviderQuery> | undefined)?.provider ?? c.req.header('x-moniker-provider');
  const body = request.of === 'files' && request.method === 'POST' ? formOf(c.req.raw) : request.body;
  const own = { provider, requestId: c.get('requestId'), ownUrl: ownUrlOf({ c, services }) };
  return await services.passFiles(principal, { ...request, ...(body && { body }), ...own });
}

/** Passes content as it is read, which takes the place of a stream. */
export async function passContent(route: PassedRoute, request: Parameters<typeof passItem>[1]): Promise<Response> {
  const response = await passItem(route, request);
  if (response.body === null || route.principal.keyId === rootKeyId) return response;
  return new Response(streamHoldingPlace(response.body, keepStreamPlace(route.c)), response);
}

/** Where the client has reached this service, as far as that is known. */
export function ownUrlOf({ c, services }: Pick<PassedRoute, 'c' | 'services'>): string {
  return issuerOf(services.settings, c.req.url) ?? new URL(c.req.url).origin;
}

function refuseAnthropic(c: AppContext): void {
  if (c.req.header('anthropic-version') === undefined) return;
  throw new Problem(
    'not_found',
    'These are the files of the API of OpenAI. Those of Anthropic, which have the same path, are not passed on.',
  );
}

/** Lists what the key made. */
async function listItems(
  { c, services, principal }: PassedRoute,
  request: Omit<PassedListRequest, 'ownUrl' | 'requestId'>,
): Promise<z.infer<typeof ItemPage>> {
  requireAllowed(principal, { act: 'use-model' });
  refuseAnthropic(c);
  const provider = request.provider ?? c.req.header('x-moniker-provider');
  const own = { provider, requestId: c.get('requestId'), ownUrl: ownUrlOf({ c, services }) };
  const { data, hasMore } = await services.listPassed(principal, { ...request, ...own });
  const ids = data.map(({ id }) => stringOf(id));
  // The documents of the provider, which are not checked here.
  const items = data as z.infer<typeof ItemPage>['data'];
  return { object: 'list', data: items, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: hasMore };
}

function formOf({ body, headers }: Request): NonNullable<FileRequest['body']> {
  const contentType = headers.get('content-type') ?? '';
  if (body === null || !/^multipart\/form-data\s*;/i.test(contentType))
    throw new Problem('unsupported_media_type', 'Send a form as `content-type: multipart/form-data`.');
  return { form: body, contentType, length: headers.get('content-length') };
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
    (request) => passItem(request, { of: 'files', method: 'POST' }),
  ),
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/files',
      operationId: 'listProviderFiles',
      summary: 'List the files of the key',
      description: listDescription,
      query: FileList,
      answers: listed,
    },
    async (request) => request.answer(200, await listItems(request, { of: 'files', ...request.query })),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: '/v1/files/{id}', operationId: 'getProviderFile', summary: 'Read a file of a provider' },
      ...{ params: PassedId, query: ProviderQuery, answers: file },
    },
    (request) => passItem(request, { of: 'files', method: 'GET', id: request.params.id }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: '/v1/files/{id}/content', operationId: 'getProviderFileContent', summary: 'Download a file' },
      ...{ params: PassedId, query: ProviderQuery, answers: { 200: { description: 'The content.', contentType: '*/*' } } },
    },
    (request) => passContent(request, { of: 'files', method: 'GET', id: request.params.id, action: 'content' }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'delete', path: '/v1/files/{id}', operationId: 'deleteProviderFile', summary: 'Delete a file of a provider' },
      ...{ params: PassedId, query: ProviderQuery, answers: file },
    },
    (request) => passItem(request, { of: 'files', method: 'DELETE', id: request.params.id }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'post', path: '/v1/batches', operationId: 'createBatch', summary: 'Create a batch of a provider' },
      ...{ query: ProviderQuery, body: BatchRequest, answers: batch },
    },
    (request) => passItem(request, { of: 'batches', method: 'POST', body: request.body }),
  ),
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/batches',
      operationId: 'listBatches',
      summary: 'List the batches of the key',
      description: listDescription,
      query: BatchList,
      answers: listed,
    },
    async (request) => request.answer(200, await listItems(request, { of: 'batches', order: 'desc', ...request.query })),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: '/v1/batches/{id}', operationId: 'getBatch', summary: 'Read a batch' },
      ...{ params: PassedId, query: ProviderQuery, answers: batch },
    },
    (request) => passItem(request, { of: 'batches', method: 'GET', id: request.params.id }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'post', path: '/v1/batches/{id}/cancel', operationId: 'cancelBatch', summary: 'Cancel a batch' },
      ...{ params: PassedId, query: ProviderQuery, answers: batch },
    },
    (request) => passItem(request, { of: 'batches', method: 'POST', id: request.params.id, action: 'cancel' }),
  ),
];

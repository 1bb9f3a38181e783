/** `/v1/keys`: creates, lists and revokes keys. The root key comes from the environment and is not listed. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { KeyRequest, Scope } from '../../core/principal.ts';
import { PageQuery, pageOf } from '../paging.ts';
import { defineRoute, type Route } from '../route.ts';

const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(Scope),
    toolsets: z.array(z.string()).optional(),
    agents: z.array(z.string()).optional(),
    caller: z.record(z.string(), z.string()).optional(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    revokedAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Key' });
const CreatedKey = Key.extend({ key: z.string().meta({ description: 'The complete key. It is shown only once.' }) }).meta({
  id: 'CreatedKey',
});
const Cancellation = z
  .object({
    cancelledTurns: z.int().meta({ description: 'Number of turns ended so far.' }),
    isDone: z.boolean().meta({ description: 'false: more sessions are being processed in the background.' }),
  })
  .meta({ id: 'KeyCancellation', example: { cancelledTurns: 2, isDone: true } });
const params = z.object({
  key: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .meta({ description: 'The id of a key, not the key.' }),
});

/** Otherwise a bound key could create an unbound one, or learn the bindings of others. */
const common = { tag: 'Keys', scopes: ['admin'], workspace: 'Keys' } as const;

export const keyRoutes: readonly Route[] = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/keys',
      operationId: 'createKey',
      summary: 'Create a key',
      description:
        'A key bound to `agents` can use those agents and their tools, and cannot write anything. A key bound to `toolsets` can use those toolsets and, with the scope, write them; it can list only tools that they have. Bound keys see only their own sessions and no workspace-wide resources, even with the scope `admin`.',
      body: { schema: KeyRequest },
      answers: {
        201: {
          description: 'Created. The key is returned only in this response.',
          schema: CreatedKey,
          headers: { location: 'URL of the key.' },
        },
      },
    },
    async ({ answer, services, principal, body }) => {
      const { key, record } = await services.catalog(principal).createKey(body);
      return answer(201, { key, ...record }, { location: `/v1/keys/${record.id}` });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/keys',
      operationId: 'listKeys',
      summary: 'List keys',
      query: PageQuery,
      answers: { 200: { description: 'A page of keys, without their secrets.', schema: pageOf(Key) } },
    },
    async ({ answer, services, principal, query }) => answer(200, await services.catalog(principal).keys(query)),
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/keys/{key}',
      operationId: 'getKey',
      summary: 'Read a key',
      params,
      answers: { 200: { description: 'The key, without its secret.', schema: Key } },
    },
    async ({ answer, services, principal, params }) => answer(200, await services.catalog(principal).key(params.key)),
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/keys/{key}',
      operationId: 'revokeKey',
      summary: 'Revoke a key',
      description: `The key is rejected everywhere within ${limits.principalTtlMs / 1000} seconds, and its open event streams end within that time. Turns that it has started, including queued ones, continue with the rights that they were accepted with. For a leaked key, use \`cancel=true\`, which ends every running, waiting or queued turn in its sessions, and its open MCP calls. Remaining work is done in the background, and survives a restart.`,
      params,
      query: z.strictObject({ cancel: z.enum(['true', 'false']).default('false') }),
      answers: {
        200: { description: 'With `cancel=true`: revoked.', schema: Cancellation },
        204: { description: 'Revoked.' },
      },
    },
    async ({ answer, services, principal, params, query }) => {
      const catalog = services.catalog(principal);
      const cancel = query.cancel === 'true';
      await catalog.revokeKey(params.key, { cancel });
      return cancel ? answer(200, await catalog.keyCancellation(params.key)) : answer(204, null);
    },
  ),
];

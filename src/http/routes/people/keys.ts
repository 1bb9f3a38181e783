/** `/v1/keys`: creates, lists, changes, rotates and revokes keys. The root key comes from the environment and is not listed. */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { KeyRequest } from '../../../core/people/principal.ts';
import type { Warning } from '../../../core/problem.ts';
import { KeyView, type KeyRecord } from '../../../core/people/key-view.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { patchBody, patchedAnswer } from '../../patch.ts';
import { defineRoute } from '../../route.ts';

const maxOverlapSeconds = 30 * 86_400;

const CreatedKey = KeyView.extend({ key: z.string().meta({ description: 'The complete key. It is shown only once.' }) }).meta({
  id: 'CreatedKey',
});
const Cancellation = z
  .object({
    cancelledTurns: z.int().meta({ description: 'Number of turns ended so far.' }),
    isDone: z.boolean().meta({ description: 'false: more sessions are being processed in the background.' }),
  })
  .meta({ id: 'KeyCancellation', example: { cancelledTurns: 2, isDone: true } });
const Rotation = z
  .strictObject({
    overlapSeconds: z.int().min(0).max(maxOverlapSeconds).default(86_400).meta({
      description: 'How long earlier secrets of the key work. 0: they are refused everywhere within 30 seconds.',
    }),
  })
  .meta({ id: 'KeyRotation', example: { overlapSeconds: 3600 } });
const params = z.object({
  key: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .meta({ description: 'The id of a key, not the key.' }),
});

/** Otherwise a bound key could create an unbound one, or learn the bindings of others. */
const common = { tag: 'Keys', scopes: ['admin'], workspace: 'Keys' } as const;

export const keyRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/keys',
      operationId: 'createKey',
      summary: 'Create a key',
      description:
        'A key bound to `agents` can use those agents and their tools, and cannot write anything. A key bound to `toolsets` can use those toolsets and, with the scope, write them; it can list only tools that they have. Bound keys see only their own sessions and no workspace-wide resources, even with the scope `admin`.',
      body: KeyRequest,
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
      return answer(201, { key, ...withWarnings(record, services.clock.now()) }, { location: `/v1/keys/${record.id}` });
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
      answers: { 200: { description: 'A page of keys, without their secrets.', schema: pageOf(KeyView) } },
    },
    async ({ answer, services, principal, query }) => {
      const { items, nextCursor } = await services.catalog(principal).keys(query);
      const now = services.clock.now();
      return answer(200, { items: items.map((record) => withWarnings(record, now)), nextCursor });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/keys/{key}',
      operationId: 'getKey',
      summary: 'Read a key',
      params,
      answers: { 200: { description: 'The key, without its secret.', schema: KeyView } },
    },
    async ({ answer, services, principal, params }) =>
      answer(200, withWarnings(await services.catalog(principal).key(params.key), services.clock.now())),
  ),

  defineRoute(
    {
      ...common,
      method: 'patch',
      path: '/v1/keys/{key}',
      operationId: 'patchKey',
      summary: 'Change a key',
      description: `A change applies to requests that arrive after it, everywhere within ${limits.principalTtlMs / 1000} seconds. Turns that were accepted before keep the rights that they were accepted with. \`expiresAt: null\` removes the expiry. The root key and revoked keys cannot be changed (409).`,
      params,
      body: patchBody,
      answers: { 200: { description: patchedAnswer, schema: KeyView } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params, body }) =>
      answer(200, withWarnings(await services.catalog(principal).patchKey(params.key, body), services.clock.now())),
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/keys/{key}/rotate',
      operationId: 'rotateKey',
      summary: 'Replace the secret of a key',
      description:
        'The id, the rights and the expiry stay, and so the key keeps its sessions. The previous secret works until `previousExpiresAt`, so that clients can be changed one after the other; `previousUsedAt` shows whether one still sends it. A rotation also ends secrets of earlier rotations that would work longer. Revoked and expired keys cannot be rotated (409).',
      params,
      body: { schema: Rotation, isOptional: true },
      answers: { 201: { description: 'Rotated. The key is returned only in this response.', schema: CreatedKey } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params, body }) => {
      const { key, record } = await services.catalog(principal).rotateKey(params.key, body.overlapSeconds * 1000);
      return answer(201, { key, ...withWarnings(record, services.clock.now()) });
    },
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

const expiresSoonMs = 7 * 86_400_000;

function withWarnings(record: KeyRecord, now: number): z.input<typeof KeyView> {
  const { revokedAt, expiresAt, previousExpiresAt, previousUsedAt } = record;
  if (revokedAt !== null) return record;
  const warnings: Warning[] = [];
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now;
  if (left > 0 && left <= expiresSoonMs)
    warnings.push({ path: 'expiresAt', message: `The key expires at ${expiresAt}. Send PATCH with a later \`expiresAt\` to keep it.` });
  if (previousUsedAt !== null) {
    const message = `A client used an earlier secret at ${previousUsedAt}, which works until ${previousExpiresAt}. Give it the newest one.`;
    warnings.push({ path: 'previousUsedAt', message });
  }
  return warnings.length === 0 ? record : { ...record, warnings };
}

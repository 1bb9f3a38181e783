/** `/v1/keys`: making, listing and revoking keys. The root key comes from the environment and stands in no list. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { KeyRequest, Scope } from '../../core/principal.ts';
import { Problem, quoted } from '../../core/problem.ts';
import type { Catalog, KeyRecord } from '../../ports/catalog.ts';
import { PageQuery, pageOf } from '../paging.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';

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
const CreatedKey = Key.extend({ key: z.string().meta({ description: 'The whole key, shown this once.' }) }).meta({ id: 'CreatedKey' });
const Cancellation = z
  .object({
    cancelledTurns: z.int().meta({ description: 'Turns that were ended so far.' }),
    isDone: z.boolean().meta({ description: 'false: more sessions are gone through in the background.' }),
  })
  .meta({ id: 'KeyCancellation', example: { cancelledTurns: 2, isDone: true } });
const params = z.object({
  key: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .meta({ description: 'The id of a key, not the key.' }),
});

/** A bound key could otherwise make itself one without bindings, or learn what the others are bound to. */
const common = { tag: 'Keys', scopes: ['admin'], workspace: 'Keys' } as const;

export function mountKeys(app: App): void {
  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/keys',
      operationId: 'createKey',
      summary: 'Make a key',
      description:
        'A key bound to `agents` uses those agents and their tools, and writes nothing. One bound to `toolsets` uses and, with the scope, writes those; it lists only tools that they have. Bound keys see only their own sessions and nothing that belongs to the whole workspace, also with the scope `admin`.',
      body: { schema: KeyRequest },
      answers: {
        201: { description: 'Made. The key is in this answer and nowhere else.', schema: CreatedKey, headers: { location: 'Of the key.' } },
      },
    },
    async ({ c, services, principal, body }) => {
      const { key, record } = await services.catalog(principal).createKey(body);
      return c.json({ key, ...record }, 201, { location: `/v1/keys/${record.id}` });
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/keys',
      operationId: 'listKeys',
      summary: 'List keys',
      query: PageQuery,
      answers: { 200: { description: 'A page of keys, without their secrets.', schema: pageOf(Key) } },
    },
    async ({ c, services, principal, query }) => c.json(await services.catalog(principal).keys(query)),
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/keys/{key}',
      operationId: 'getKey',
      summary: 'Read a key',
      params,
      answers: { 200: { description: 'The key, without its secret.', schema: Key } },
    },
    async ({ c, services, principal, params }) => c.json(await findKey(services.catalog(principal), params.key)),
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'delete',
      path: '/v1/keys/{key}',
      operationId: 'revokeKey',
      summary: 'Revoke a key',
      description: `The key is refused everywhere within ${limits.principalTtlMs / 1000} seconds, and its open event streams end within that time. Turns that it has started go on with the rights that they were accepted with, those in the queue included. \`cancel=true\`, for a key that has leaked, ends them: every turn that runs, waits or is queued in a session of the key, and what it holds open over MCP. What is not done when this is answered is done in the background, and survives a restart.`,
      params,
      query: z.strictObject({ cancel: z.enum(['true', 'false']).default('false') }),
      answers: {
        200: { description: 'With `cancel=true`: revoked.', schema: Cancellation },
        204: { description: 'Revoked.' },
      },
    },
    async ({ c, services, principal, params, query }) => {
      const catalog = services.catalog(principal);
      if (query.cancel === 'true') return c.json(await catalog.cancelKey(params.key));
      await catalog.revokeKey(params.key);
      return c.body(null, 204);
    },
  );
}

/** Keys are few and read one by one rarely: the list is walked, within a bound. */
async function findKey(catalog: Catalog, id: string): Promise<KeyRecord> {
  let cursor: string | undefined;
  for (let page = 0; page < limits.maxListedPages; page++) {
    const { items, nextCursor } = await catalog.keys({ limit: limits.maxPageItems, ...(cursor !== undefined && { cursor }) });
    const record = items.find((item) => item.id === id);
    if (record !== undefined) return record;
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  throw new Problem('not_found', `There is no key ${quoted(id)}.`);
}

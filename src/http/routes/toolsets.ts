/** `/v1/toolsets`: the documents, written through the Catalog. `toolset-versions.ts` has their versions, `toolset-use.ts` their calls. */
import { z } from 'zod';
import { requireAllowed } from '../../core/authority.ts';
import { Announce, readToolsetReference, Toolset, ToolsetName, ToolsetReference } from '../../core/toolset/toolset.ts';
import type { Principal } from '../../core/principal.ts';
import type { Services } from '../../wiring.ts';
import { Problem, quoted } from '../../core/problem.ts';
import { withoutRevoked } from '../../core/toolset/revocations.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import { readableToolsets, requireReadable } from '../../engine/configuration/readable.ts';
import { revokedNow, writeToolset } from '../../engine/configuration/write-toolset.ts';
import {
  answerDocument,
  answerWrite,
  conditionHeaders,
  etag,
  etagHeader,
  readConditionHeaders,
  requireSameName,
  storedBody,
  unchanged,
  writeConditions,
} from '../documents.ts';
import { pageFor, PageQuery, pageOf } from '../paging.ts';
import { patchBody, patchDocument, patchHeaders, patchedAnswer } from '../patch.ts';
import { defineRoute, type Route } from '../route.ts';
import { Version } from '../toolset-names.ts';
import { Warning } from '../../core/warning.ts';

const params = z.object({ toolset: ToolsetName.meta({ example: 'demo' }) });
const dryRunFlag = z.enum(['true', 'false']).default('false').meta({ description: '`true`: validate without storing.' });

const revoke = z.boolean().optional().meta({
  description: '`true`: the tools that this write removes are revoked: they are added to `revoked`. Not stored.',
});
const ToolsetView = z.object({ ...Toolset.shape, name: ToolsetName }).meta({
  id: 'ToolsetView',
  example: { name: 'demo', announce: 'prompt', tools: [{ tool: 'builtin.bash', name: 'terminalRun', aliases: ['shell', 'bash'] }] },
});
export const ToolsetBody = z
  .strictObject({
    ...Toolset.shape,
    announce: Announce.optional(),
    tools: Toolset.shape.tools.optional(),
    from: ToolsetReference.optional().meta({
      description:
        'Copies this toolset, or this version of it, instead of listing `tools`. The other members replace those of the copy. Tools that are revoked there or here are left out, with a warning.',
    }),
    revoke,
  })
  .refine(({ tools, from }) => (tools === undefined) !== (from === undefined), {
    path: ['tools'],
    message: 'is required, unless `from` names a toolset to copy; give one of them',
  })
  .meta({ id: 'ToolsetBody', example: Toolset.meta()?.example });
const ToolsetSummary = z
  .object({
    name: ToolsetName,
    version: z.int(),
    description: z.string().optional(),
    toolCount: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ToolsetSummary' });
export const WrittenToolset = z
  .object({ toolset: ToolsetName, version: z.int(), warnings: z.array(Warning) })
  .meta({ id: 'WrittenToolset', example: { toolset: 'demo', version: 1, warnings: [] } });

const tag = 'Toolsets';
const readers = ['tools', 'toolsets'] as const;
const writers = ['toolsets'] as const;

export const toolsetRoutes: readonly Route[] = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/toolsets',
      operationId: 'listToolsets',
      tag,
      scopes: readers,
      summary: 'List toolsets',
      query: PageQuery,
      answers: { 200: { description: 'A page of toolsets, without their tools.', schema: pageOf(ToolsetSummary) } },
    },
    async ({ answer, services, principal, query }) => {
      const { items, nextCursor } = await pageFor(principal, {
        list: 'toolset',
        query,
        all: (page) => services.catalog(principal).list('toolset', page),
        own: () => readableToolsets(services.catalog(principal), services.directory, principal),
        nameOf: ({ name }) => name,
      });
      return answer(200, { items: items.map(toSummary), nextCursor });
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/v1/toolsets/{toolset}',
      operationId: 'getToolset',
      tag,
      scopes: readers,
      summary: 'Read a toolset',
      description: 'The response can be sent back with PUT unchanged.',
      params,
      query: z.strictObject({ version: Version }),
      headers: readConditionHeaders,
      answers: { 200: { description: 'The document.', schema: ToolsetView, headers: etagHeader }, 304: unchanged },
    },
    async ({ c, services, principal, params, query, answer }) => {
      const { version } = query;
      await requireReadable(services.directory, principal, version === undefined ? params.toolset : `${params.toolset}@${version}`);
      const document = await services.catalog(principal).get('toolset', params.toolset, version);
      return answerDocument({ c, answer }, document, { ...storedBody<z.input<typeof ToolsetView>>(document), name: document.name });
    },
  ),

  defineRoute(
    {
      method: 'put',
      path: '/v1/toolsets/{toolset}',
      operationId: 'putToolset',
      tag,
      scopes: writers,
      summary: 'Create or replace a toolset',
      description:
        'Checks all names for conflicts and compiles an edition. An unchanged document creates no new version. `from` copies another toolset. A key bound to toolsets can list only tools that they have.  ' +
        'Only unbound keys with scope `admin` can add or change entries with `approval: "never"` or a secret in a preset.',
      params,
      query: z.strictObject({ dryRun: dryRunFlag }),
      headers: conditionHeaders,
      body: { schema: ToolsetBody },
      answers: {
        200: { description: 'Replaced, unchanged, or validated.', schema: WrittenToolset, headers: etagHeader },
        201: { description: 'Created.', schema: WrittenToolset, headers: { ...etagHeader, location: 'URL of the toolset.' } },
      },
      problems: ['name_conflict', 'precondition_failed', 'conflict'],
    },
    async ({ c, services, principal, params, query, body, answer }) => {
      const name = params.toolset;
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      requireSameName(name, body);
      const dryRun = query.dryRun === 'true';
      const options = { ...writeConditions(c), ...(dryRun && { dryRun }) };
      const { toolset, warnings: copied } = await toToolset(services, principal, name, body);
      const written = { ...options, ...(body.revoke === true && { revoke: true as const }) };
      const { document, created, warnings } = await writeToolset(services.catalog(principal), principal, name, toolset, written);
      const view = { toolset: name, version: document.version, warnings: [...copied, ...warnings] };
      return dryRun ? answer(200, view) : answerWrite(answer, { document, created }, `/v1/toolsets/${name}`, view);
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path: '/v1/toolsets/{toolset}',
      operationId: 'patchToolset',
      tag,
      scopes: writers,
      summary: 'Change members of a toolset',
      description: 'The result is checked and stored as with PUT. A list such as `tools` is replaced as a whole.',
      params,
      query: z.strictObject({ dryRun: dryRunFlag }),
      headers: patchHeaders,
      body: patchBody,
      answers: { 200: { description: patchedAnswer, schema: WrittenToolset, headers: etagHeader } },
      problems: ['name_conflict', 'precondition_failed'],
    },
    async ({ c, services, principal, params, query, body, answer }) => {
      const name = params.toolset;
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      const catalog = services.catalog(principal);
      const { document, warnings } = await patchDocument(body, writeConditions(c), {
        schema: Toolset.extend({ revoke }),
        // Without the member, a PUT keeps what is revoked.
        kept: ['revoked'],
        removable: ['revoked'],
        read: () => catalog.get('toolset', name),
        write: ({ revoke: isRevoking, ...patched }, { removed = [], ...options }) => {
          requireSameName(name, patched);
          const toolset = removed.includes('revoked') ? { ...patched, revoked: [] } : patched;
          const how = { ...(query.dryRun === 'true' && { dryRun: true }), ...(isRevoking === true && { revoke: true as const }) };
          return writeToolset(catalog, principal, name, toolset, { ...options, ...how });
        },
      });
      return answer(200, { toolset: name, version: document.version, warnings }, { etag: etag(document.version) });
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/v1/toolsets/{toolset}',
      operationId: 'deleteToolset',
      tag,
      scopes: writers,
      summary: 'Delete a toolset',
      description: 'Its versions remain, and their numbers are not reused.',
      params,
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, answer }) => {
      requireAllowed(principal, { act: 'write-toolset', toolset: params.toolset });
      await services.catalog(principal).remove('toolset', params.toolset, writeConditions(c));
      return answer(204, null);
    },
  ),
];

/**
 * For a copy, reads the toolset with the rights of the key; `writeToolset` checks which of its entries the key may write. `to`: the toolset that is
 * written.
 */
export async function toToolset(
  services: Services,
  principal: Principal,
  to: string,
  { from, revoke: _revoke, ...given }: z.infer<typeof ToolsetBody>,
): Promise<{ toolset: Toolset; warnings: Warning[] }> {
  const { tools } = given;
  if (from === undefined) return { toolset: { ...given, announce: given.announce ?? 'prompt', tools: tools ?? [] }, warnings: [] };
  await requireReadable(services.directory, principal, from);
  const catalog = services.catalog(principal);
  const { name, version } = readToolsetReference(from);
  const source = await catalog.get('toolset', name, version);
  const { name: _name, revoked: _revoked, ...copied } = toolsetOf(source);
  const revoked = [...(await revokedNow(catalog, name)), ...(given.revoked ?? (await revokedNow(catalog, to)))];
  const left = withoutRevoked(usableTools(source, 'from'), revoked, 'from');
  return { toolset: { ...copied, ...given, announce: given.announce ?? copied.announce, tools: left.tools }, warnings: left.warnings };
}

/** Returns the entries of a stored version, for another version. `path`: where the request names it. Throws `conflict` if it is retired. */
export function usableTools(document: StoredDocument, path: string): Toolset['tools'] {
  if (document.retired !== true) return toolsetOf(document).tools;
  const reference = `${document.name}@${document.version}`;
  throw new Problem('conflict', `${path}: the version ${quoted(reference)} is retired. Undo that first, or list its tools.`);
}

/** Bodies of toolsets were parsed by the schema when they were written. */
export function toolsetOf({ body }: StoredDocument): Toolset {
  return body as Toolset;
}

function toSummary({ name, version, body, createdAt, updatedAt }: StoredDocument): z.infer<typeof ToolsetSummary> {
  return {
    name,
    version,
    ...(typeof body.description === 'string' && { description: body.description }),
    toolCount: Array.isArray(body.tools) ? body.tools.length : 0,
    createdAt,
    updatedAt,
  };
}

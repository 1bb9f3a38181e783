/** `/v1/toolsets`: the documents, written through the Catalog. `toolset-versions.ts` has their versions, `toolset-use.ts` their calls. */
import * as z from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import { Announce, readToolsetReference, Toolset, ToolsetName, ToolsetReference } from '../../../core/toolset/toolset.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { Problem, quoted, Warning } from '../../../core/problem.ts';
import { withoutRevoked } from '../../../core/toolset/revocations.ts';
import type { StoredDocument } from '../../../ports/catalog.ts';
import { readableToolsets, requireReadable } from '../../../engine/configuration/readable.ts';
import { revokedNow, writeToolset } from '../../../engine/configuration/write-toolset.ts';
import { requireSameName, storedBody } from '../../conditions.ts';
import { pageFor, PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { storedDocument } from '../../stored-document.ts';
import { ofToolset, Version } from './toolset-names.ts';

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

const readers = ['tools', 'toolsets'] as const;
const toolset = storedDocument({
  ...ofToolset,
  path: '/v1/toolsets/{toolset}',
  id: 'Toolset',
  one: 'toolset',
  scopes: ['toolsets'],
  at: ({ services, principal, params }) => ({ catalog: services.catalog(principal), kind: 'toolset', name: params.toolset }),
});

export const toolsetRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/toolsets',
      operationId: 'listToolsets',
      tag: ofToolset.tag,
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

  toolset.read(
    {
      scopes: readers,
      description: 'The response can be sent back with PUT unchanged.',
      view: ToolsetView,
      found: 'The document.',
      versions: { version: Version },
    },
    async ({ services, principal, version, place: { catalog, name } }) => {
      await requireReadable(services.directory, principal, version === undefined ? name : `${name}@${version}`);
      const document = await catalog.get('toolset', name, version);
      return { document, view: { ...storedBody<z.input<typeof ToolsetView>>(document), name: document.name } };
    },
  ),

  toolset.put(
    {
      description:
        'Checks all names for conflicts and compiles an edition. An unchanged document creates no new version. `from` copies another toolset. A key bound to toolsets can list only tools that they have.  ' +
        'Only unbound keys with scope `admin` can add or change entries with `approval: "never"` or a secret in a preset.',
      body: ToolsetBody,
      written: WrittenToolset,
      dryRun: true,
      problems: ['name_conflict', 'precondition_failed', 'conflict'],
    },
    async ({ services, principal, body, options, place: { catalog, name } }) => {
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      requireSameName(name, body);
      const { toolset, warnings: copied } = await toToolset(services, principal, name, body);
      const how = { ...options, ...(body.revoke === true && { revoke: true as const }) };
      const { document, created, warnings } = await writeToolset(catalog, principal, name, toolset, how);
      return { document, created, view: { toolset: name, version: document.version, warnings: [...copied, ...warnings] } };
    },
  ),

  toolset.patch(
    {
      description: 'The result is checked and stored as with PUT. A list such as `tools` is replaced as a whole.',
      body: Toolset.extend({ revoke }),
      written: WrittenToolset,
      dryRun: true,
      problems: ['name_conflict', 'precondition_failed'],
    },
    ({ principal, place: { catalog, name } }) => {
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      return {
        // Without the member, a PUT keeps what is revoked.
        kept: ['revoked'],
        removable: ['revoked'],
        read: () => catalog.get('toolset', name),
        write: async ({ revoke: isRevoking, ...patched }, { removed = [], ...options }) => {
          requireSameName(name, patched);
          const toolset = removed.includes('revoked') ? { ...patched, revoked: [] } : patched;
          const how = { ...options, ...(isRevoking === true && { revoke: true as const }) };
          const { document, warnings } = await writeToolset(catalog, principal, name, toolset, how);
          return { document, view: { toolset: name, version: document.version, warnings } };
        },
      };
    },
  ),

  toolset.remove({ description: 'Its versions remain, and their numbers are not reused.' }, async ({ principal, options, place }) => {
    requireAllowed(principal, { act: 'write-toolset', toolset: place.name });
    return await place.catalog.remove('toolset', place.name, options);
  }),
];

/**
 * For a copy, reads the toolset with the rights of the key; `writeToolset` checks which of its entries the key may write. `to`: the toolset that is
 * written.
 */
export async function toToolset(
  services: HttpServices,
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

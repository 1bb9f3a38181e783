/** The stored versions of a toolset, the differences between two of them, and rollbacks. */
import { z } from 'zod';
import { requireAllowed } from '../../core/authority.ts';
import { diffToolsets, type ToolsetState } from '../../core/toolset/edition-diff.ts';
import { DefinitionChange } from '../../core/listing/hold.ts';
import { nullIfNotFound, Problem, quoted } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { ToolsetName, type Toolset } from '../../core/toolset/toolset.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { Services } from '../../wiring.ts';
import { writeToolset } from '../../engine/configuration/write-toolset.ts';
import { answerWrite, conditionHeaders, etagHeader, writeConditions } from '../documents.ts';
import { PageQuery, pageOf } from '../paging.ts';
import { defineRoute, type Route } from '../route.ts';
import { VersionView } from '../version-routes.ts';
import { WrittenToolset } from './toolsets.ts';

const VersionNumber = z.coerce.number().int().min(1).optional();

const ToolsetDiff = z
  .object({
    toolset: ToolsetName,
    from: z.int().nullable().meta({ description: 'null: no earlier version exists.' }),
    to: z.int(),
    fields: z.array(DefinitionChange).meta({
      description: 'Changed fields of the toolset itself: `/announce`, `/description`, `/onDemandAbove`, `/instructions/{server}`.',
    }),
    changes: z
      .array(
        z.object({
          change: z.enum(['added', 'removed', 'changed']),
          canonical: z.string(),
          wireName: z.string(),
          fields: z.array(DefinitionChange),
        }),
      )
      .meta({
        description:
          'Changed entries, in the order of the newer version. `fields` are JSON Pointers into the compiled entry: `/wireName`, `/aliases/{name}`, `/description`, ' +
          '`/inputSchema/…`, `/arguments/…`, `/approval`, `/state`, `/refId`, and `/position` for a moved entry.',
      }),
    more: z.int().meta({ description: 'Number of further changed fields that are not listed.' }),
  })
  .meta({
    id: 'ToolsetDiff',
    example: {
      toolset: 'demo',
      from: 1,
      to: 2,
      fields: [{ path: '/announce', from: 'prompt', to: 'none' }],
      changes: [
        { change: 'added', canonical: 'builtin.read_file', wireName: 'read_file', fields: [] },
        {
          change: 'changed',
          canonical: 'builtin.bash',
          wireName: 'shell',
          fields: [{ path: '/wireName', from: 'terminalRun', to: 'shell' }],
        },
      ],
      more: 0,
    },
  });

const Rollback = z
  .strictObject({ version: z.int().min(1).meta({ description: 'The version to restore.' }) })
  .meta({ id: 'Rollback', example: { version: 1 } });

const common = { tag: 'Toolsets', params: z.object({ toolset: ToolsetName.meta({ example: 'demo' }) }) } as const;
const readers = ['tools', 'toolsets'] as const;

export const toolsetVersionRoutes: readonly Route[] = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/toolsets/{toolset}/versions',
      operationId: 'listToolsetVersions',
      scopes: readers,
      summary: 'List the versions of a toolset, newest first',
      query: PageQuery,
      answers: { 200: { description: 'A page of versions; read one with `?version=`.', schema: pageOf(VersionView) } },
    },
    async ({ answer, services, principal, params, query }) => {
      requireAllowed(principal, { act: 'read-toolset-history', toolset: params.toolset });
      return answer(200, await services.catalog(principal).versions('toolset', params.toolset, query));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/toolsets/{toolset}/diff',
      operationId: 'diffToolset',
      scopes: readers,
      summary: 'Compare two versions',
      description:
        'Compares the compiled versions, so changes by a server are included. Entries with the same tool and wire name are the same entry; remaining entries of the same tool count as renamed.',
      query: z.strictObject({
        from: VersionNumber.meta({ description: 'Default: the version before `to`.' }),
        to: VersionNumber.meta({ description: 'Default: the newest version.' }),
      }),
      answers: { 200: { description: 'What changed from `from` to `to`.', schema: ToolsetDiff } },
    },
    async ({ answer, services, principal, params, query }) => {
      const { toolset } = params;
      requireAllowed(principal, { act: 'read-toolset-history', toolset });
      const catalog = services.catalog(principal);
      const to = await catalog.get('toolset', toolset, query.to);
      const from =
        query.from === undefined ? await versionBefore(services, principal, to) : await catalog.get('toolset', toolset, query.from);
      const before = from === null ? null : await stateOf(services, principal, from);
      const { fields, changes, more } = diffToolsets(before, await stateOf(services, principal, to));
      return answer(200, { toolset, from: from?.version ?? null, to: to.version, fields, changes, more });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/toolsets/{toolset}/rollback',
      operationId: 'rollBackToolset',
      scopes: ['toolsets'],
      summary: 'Roll back to a version',
      description:
        'Writes the document of that version as a new version, compiled with the current tools; a removed toolset is restored. An unchanged document creates no new version.',
      query: z.strictObject({
        dryRun: z.enum(['true', 'false']).default('false').meta({ description: '`true`: validate without storing.' }),
      }),
      headers: conditionHeaders,
      body: { schema: Rollback },
      answers: {
        200: { description: 'Written, unchanged, or validated.', schema: WrittenToolset, headers: etagHeader },
        201: {
          description: 'The removed toolset was restored.',
          schema: WrittenToolset,
          headers: { ...etagHeader, location: 'URL of the toolset.' },
        },
      },
      problems: ['name_conflict', 'precondition_failed'],
    },
    async ({ c, services, principal, params, query, body, answer }) => {
      const name = params.toolset;
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      const catalog = services.catalog(principal);
      const old = await catalog.get('toolset', name, body.version);
      const dryRun = query.dryRun === 'true';
      const options = { ...writeConditions(c), ...(dryRun && { dryRun }) };
      const { document, created, warnings } = await writeToolset(catalog, principal, name, documentOf(old), options);
      const view = { toolset: name, version: document.version, warnings };
      return dryRun ? answer(200, view) : answerWrite(answer, { document, created }, `/v1/toolsets/${name}`, view);
    },
  ),
];

/** Returns the previous version; null: `to` is the first. Two removals never follow each other, so at most one number is skipped. */
async function versionBefore(services: Services, principal: Principal, { name, version }: StoredDocument): Promise<StoredDocument | null> {
  const catalog = services.catalog(principal);
  for (const number of [version - 1, version - 2]) {
    const document = number < 1 ? null : await nullIfNotFound(catalog.get('toolset', name, number));
    if (document !== null) return document;
  }
  return null;
}

/** Editions exist only for toolsets that are not removed; of a removed one, documents can be read and restored. */
async function stateOf(services: Services, principal: Principal, document: StoredDocument): Promise<ToolsetState> {
  const { name, version } = document;
  const compiled = await nullIfNotFound(services.directory.toolset(principal.workspace, name, version));
  if (compiled === null)
    throw new Problem(
      'not_found',
      `The toolset ${quoted(name)} has been removed. Its versions can be read; to compare them, restore it first (rollback).`,
    );
  const { description } = documentOf(document);
  return { edition: compiled.names.edition, ...(description !== undefined && { description }) };
}

/** Toolset bodies were parsed by the schema when they were written. */
function documentOf({ body }: StoredDocument): Toolset {
  return body as Toolset;
}

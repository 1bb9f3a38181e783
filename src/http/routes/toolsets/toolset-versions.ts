/** The stored versions of a toolset, the differences between two of them, and rollbacks. */
import * as z from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import { diffToolsets, type ToolsetState } from '../../../core/toolset/edition-diff.ts';
import { DefinitionChange } from '../../../core/tools/hold.ts';
import { nullIfNotFound, Problem, quoted, Warning } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { ToolsetName } from '../../../core/toolset/toolset.ts';
import type { StoredDocument } from '../../../ports/catalog.ts';
import { revokedNow, writeToolset } from '../../../engine/configuration/write-toolset.ts';
import { answerWrite, conditionHeaders, writeConditions } from '../../conditions.ts';
import { PageQuery } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { dryRunFlag, versionPage, writeAnswers } from '../../stored-document.ts';
import { withoutRevoked } from '../../../core/toolset/revocations.ts';
import { requireVersion } from '../../../engine/plan/read-toolset.ts';
import { ofToolset } from './toolset-names.ts';
import { toolsetOf, usableTools, WrittenToolset } from './toolsets.ts';

const VersionNumber = z.coerce.number().int().min(1).optional();

const ToolsetDiff = z
  .object({
    toolset: ToolsetName,
    from: z.int().nullable().meta({ description: 'null: no earlier version exists.' }),
    to: z.int(),
    fields: z.array(DefinitionChange).meta({
      description:
        'Changed fields of the toolset itself: `/announce`, `/description`, `/onDemandAbove`, `/mcpTools`, `/revoked`, `/instructions/{server}`, `/skills/{skill}`.',
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
  .strictObject({
    version: z.int().min(1).meta({ description: 'The version to restore.' }),
    revoke: z.boolean().optional().meta({ description: '`true`: the tools that this removes are revoked.' }),
  })
  .meta({ id: 'Rollback', example: { version: 1 } });
const RetiredVersion = z
  .object({
    toolset: ToolsetName,
    version: z.int(),
    retired: z.boolean(),
    warnings: z.array(Warning).meta({ description: 'Agents and keys that name the version.' }),
  })
  .meta({ id: 'RetiredVersion', example: { toolset: 'demo', version: 1, retired: true, warnings: [] } });

const readers = ['tools', 'toolsets'] as const;
const retiring = {
  ...ofToolset,
  path: '/v1/toolsets/{toolset}/versions/{version}/retire',
  scopes: ['toolsets'],
  params: ofToolset.params.extend({ version: z.coerce.number().int().min(1).meta({ example: '1' }) }),
  answers: { 200: { description: 'The current state of the version.', schema: RetiredVersion } },
  problems: ['conflict'],
} as const;

export const toolsetVersionRoutes = [
  defineRoute(
    {
      ...ofToolset,
      method: 'get',
      path: '/v1/toolsets/{toolset}/versions',
      operationId: 'listToolsetVersions',
      scopes: readers,
      summary: 'List the versions of a toolset, newest first',
      query: PageQuery,
      answers: versionPage,
    },
    async ({ answer, services, principal, params, query }) => {
      requireAllowed(principal, { act: 'read-toolset-history', toolset: params.toolset });
      return answer(200, await services.catalog(principal).versions('toolset', params.toolset, query));
    },
  ),

  defineRoute(
    {
      ...ofToolset,
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
      // Without `from` it is the version before, so the number does not matter.
      for (const version of [query.to, query.from ?? anyEarlier])
        if (version !== undefined) await requireVersion(services.directory, principal, `${toolset}@${version}`, []);
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
      ...ofToolset,
      method: 'post',
      path: '/v1/toolsets/{toolset}/rollback',
      operationId: 'rollBackToolset',
      scopes: ['toolsets'],
      summary: 'Roll back to a version',
      description:
        'Writes the document of that version as a new version, compiled with the current tools; a removed toolset is restored. An unchanged document creates no new version. Tools that were revoked are left out, with a warning. A retired version is refused (409).',
      query: z.strictObject({ dryRun: dryRunFlag }),
      headers: conditionHeaders,
      body: Rollback,
      answers: writeAnswers('toolset', WrittenToolset, {
        replaced: 'Written, unchanged, or validated.',
        created: 'The removed toolset was restored.',
      }),
      problems: ['name_conflict', 'precondition_failed', 'conflict'],
    },
    async ({ c, services, principal, params, query, body, answer }) => {
      const name = params.toolset;
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      await requireVersion(services.directory, principal, `${name}@${body.version}`, []);
      const catalog = services.catalog(principal);
      const old = await catalog.get('toolset', name, body.version);
      const { revoked: _then, ...document } = toolsetOf(old);
      const left = withoutRevoked(usableTools(old, 'version'), await revokedNow(catalog, name), 'version');
      const dryRun = query.dryRun === 'true';
      const options = { ...writeConditions(c), ...(dryRun && { dryRun }), ...(body.revoke === true && { revoke: true as const }) };
      const written = await writeToolset(catalog, principal, name, { ...document, tools: left.tools }, options);
      const view = { toolset: name, version: written.document.version, warnings: [...left.warnings, ...written.warnings] };
      return dryRun ? answer(200, view) : answerWrite(answer, written, `/v1/toolsets/${name}`, view);
    },
  ),

  defineRoute(
    {
      ...retiring,
      method: 'post',
      operationId: 'retireToolsetVersion',
      summary: 'Retire a version',
      description:
        'The version cannot be used any more: not by name, and not in running turns, pinned sessions and MCP connections, from their next call. It can still be read. The current version cannot be retired.',
    },
    async ({ answer, services, principal, params: { toolset, version } }) => {
      requireAllowed(principal, { act: 'write-toolset', toolset });
      const { warnings } = await services.catalog(principal).retireVersion(toolset, version, true);
      return answer(200, { toolset, version, retired: true, warnings });
    },
  ),

  defineRoute(
    {
      ...retiring,
      method: 'delete',
      operationId: 'restoreToolsetVersion',
      summary: 'Undo the retirement of a version',
      workspace: 'Retired versions',
    },
    async ({ answer, services, principal, params: { toolset, version } }) => {
      const { warnings } = await services.catalog(principal).retireVersion(toolset, version, false);
      return answer(200, { toolset, version, retired: false, warnings });
    },
  ),
];

/** For an absent `from`: a number that no version has. */
const anyEarlier = 0;

/** Returns the previous version; null: `to` is the first. Two removals never follow each other, so at most one number is skipped. */
async function versionBefore(
  services: HttpServices,
  principal: Principal,
  { name, version }: StoredDocument,
): Promise<StoredDocument | null> {
  const catalog = services.catalog(principal);
  for (const number of [version - 1, version - 2]) {
    const document = number < 1 ? null : await nullIfNotFound(catalog.get('toolset', name, number));
    if (document !== null) return document;
  }
  return null;
}

/** Editions exist only for toolsets that are not removed; of a removed one, documents can be read and restored. */
async function stateOf(services: HttpServices, principal: Principal, document: StoredDocument): Promise<ToolsetState> {
  const { name, version } = document;
  const compiled = await nullIfNotFound(services.directory.toolset(principal.workspace, name, version));
  if (compiled === null)
    throw new Problem(
      'not_found',
      `The toolset ${quoted(name)} has been removed. Its versions can be read; to compare them, restore it first (rollback).`,
    );
  const { description, revoked } = toolsetOf(document);
  return { edition: compiled.names.edition, ...(description !== undefined && { description }), ...(revoked && { revoked }) };
}

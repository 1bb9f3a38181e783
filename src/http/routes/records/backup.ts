/** `/v1/backup` and `/v1/restore`: the archive of a workspace in pages, and its restore, for the root key. */
import * as z from 'zod';
import { maxLineBytes, nameOfObject } from '../../../core/backup/archive.ts';
import { MB } from '../../../core/limits/units.ts';
import { joinBytes } from '../../../core/text/bytes.ts';
import { RestoreState } from '../../../ports/backup.ts';
import { commandPermission } from '../../launcher-proof.ts';
import { decodeText } from '../../json-body.ts';
import { readRequestBody } from '../../request-body.ts';
import { defineRoute } from '../../route.ts';

const tag = 'Backup';
const scopes = ['admin'] as const;
const rootOnly = true;
/** At least one line of any length. */
const maxRestoreBytes = maxLineBytes + MB;
const archiveType = 'application/jsonl';

export const backupRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/backup',
      operationId: 'readBackup',
      tag,
      scopes,
      rootOnly,
      summary: 'Read a page of the archive of the workspace',
      description:
        'The archive has the documents with their versions, keys (hashed), secrets (encrypted with MONIKER_MASTER_KEY), sessions with files and approvals, deliveries, callbacks, the audit and the usage. Join the pages in their order: the last one has no `x-next-cursor`. A page that failed can be requested again with the same cursor. A session or shard that cannot be read, because its database is damaged or it changes all the time, is left out: the last line names it in `leftOut`. Sessions are not encrypted in it.',
      query: z.strictObject({
        cursor: z.string().max(8_000).optional().meta({ description: '`x-next-cursor` of the page before. Absent: a new archive begins.' }),
      }),
      answers: {
        200: {
          description: 'Lines of the archive, about 8 MB.',
          contentType: archiveType,
          headers: {
            'x-next-cursor': 'The cursor of the next page. Absent: the archive is complete.',
            'x-left-out':
              'The sessions and shards that could not be read so far, separated by commas. The last line of the archive has the reasons.',
          },
        },
      },
      problems: ['unavailable', 'not_configured'],
    },
    async ({ services, principal, query }) => {
      const { lines, next, leftOut } = await services.backups(principal).page(query.cursor);
      return new Response(joinBytes(lines), {
        headers: {
          'content-type': archiveType,
          ...(next !== null && { 'x-next-cursor': next }),
          ...(leftOut.length > 0 && { 'x-left-out': leftOut.map(({ object }) => nameOfObject(object)).join(', ') }),
        },
      });
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/v1/restore',
      operationId: 'getRestore',
      tag,
      scopes,
      rootOnly,
      summary: 'Read the state of a restore',
      answers: { 200: { description: 'The state.', schema: RestoreState } },
    },
    async ({ services, principal, answer }) => answer(200, await services.backups(principal).restoreState()),
  ),

  defineRoute(
    {
      method: 'post',
      path: '/v1/restore',
      operationId: 'restoreWorkspace',
      tag,
      scopes,
      rootOnly,
      summary: 'Restore the next lines of an archive',
      description: `Send the lines of an archive in their order, in requests of at most ${maxRestoreBytes} bytes, each with whole lines. The first line begins the restore, the last one completes it; in between, other requests to the workspace return 503 \`unavailable\`. Every part is checked before it is stored. A request applies some hundred parts: if \`nextPart\` is in these lines, send the rest again. After a failure, continue with \`nextPart\` of the state, begin again with the first line, or give up with DELETE. Repeat a request whose response has the state \`clearing\`.`,
      query: z.strictObject({
        replace: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: '`true`: with the first line, first delete everything in a workspace that is not empty.' }),
        session: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .optional()
          .meta({
            description:
              'Restores only this session, which must not exist, into the workspace as it is. Send its lines, with the line before them; a further request begins with the last line of the one before.',
          }),
      }),
      rawBody: { description: 'Lines of an archive.', type: archiveType },
      answers: { 200: { description: 'The state after these lines.', schema: RestoreState } },
      problems: ['conflict', 'unavailable', 'not_configured'],
    },
    async ({ c, services, principal, query, answer }) => {
      const text = decodeText(await readRequestBody(c, maxRestoreBytes));
      const lines = text.split('\n').filter((line) => line !== '');
      const backups = services.backups(principal);
      if (query.session !== undefined) return answer(200, await backups.restoreSession(query.session, lines));
      const allowCommands = commandPermission(c, services.settings).mayRunCommands === true;
      const options = { replace: query.replace === 'true', allowCommands };
      return answer(200, await backups.restore(lines, options));
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/v1/restore',
      operationId: 'abandonRestore',
      tag,
      scopes,
      rootOnly,
      summary: 'Give up a restore',
      description:
        'Deletes what the restore has stored; the workspace is then empty. Repeat it while the state is `clearing`. Without a restore in progress it has no effect.',
      answers: { 200: { description: 'The state.', schema: RestoreState } },
      problems: ['unavailable'],
    },
    async ({ services, principal, answer }) => answer(200, await services.backups(principal).abandon()),
  ),
];

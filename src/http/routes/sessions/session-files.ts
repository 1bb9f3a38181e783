/**
 * `/v1/sessions/{id}/files/{path}`: the files of a session, under the paths that its tools use: `a.txt` is `/workspace/a.txt`, and so is
 * `workspace/a.txt`; a path that starts with a slash (`files//tmp/a.txt`) is absolute.
 */
import { boundedText } from '../../../core/text/bounded-text.ts';
import * as z from 'zod';
import { sha256HexOfBytes } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { workspace } from '../../../core/text/path.ts';
import { DirectoryListing, type FileConditions } from '../../../ports/session.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { conditionHeaders, ifNoneMatch, matchesEtag } from '../../conditions.ts';
import { hold } from '../../places.ts';
import { enterResponse, readRequestBody, resizePlace } from '../../request-body.ts';
import { largeResponseBytes, bodyHoldingPlace } from '../../sent-body.ts';
import { defineRoute } from '../../route.ts';
import { sessionParams } from './sessions.ts';
import { MB } from '../../../core/limits/units.ts';

export const maxFileBodyBytes = 16 * MB;

const params = sessionParams.extend({
  path: boundedText(limits.maxPathBytes)
    .min(1)
    .meta({ description: 'Relative to `/workspace`, which may be included; absolute if it starts with a slash.', example: 'notes.txt' }),
});

const WrittenFile = z.object({ path: z.string(), size: z.int() }).meta({ id: 'WrittenFile' });

const query = z.strictObject({
  recursive: z.enum(['true', 'false']).default('false').meta({ description: '`true`: include subdirectories. Only for a directory.' }),
});
const tagHeader = { etag: 'Hash of the bytes: equal bytes have an equal tag.' };

const common = { tag: 'Sessions', scopes: ['chat'] } as const;

export const sessionFileRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}/files',
      operationId: 'listFiles',
      summary: 'List the working directory',
      params: sessionParams,
      query,
      answers: { 200: { description: 'The entries.', schema: DirectoryListing } },
    },
    async ({ answer, services, principal, params, query }) =>
      answer(200, await services.sessions.get(params.id).listFiles(principal, workspace, { recursive: query.recursive === 'true' })),
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}/files/{path+}',
      operationId: 'readFile',
      summary: 'Read a file or list a directory',
      description:
        'A file is always `application/octet-stream` and offered for download: a model may have chosen its name and content, and browsers must not show it as a page of this origin.',
      params,
      query,
      headers: { 'if-none-match': 'A known `ETag`: returns 304 if the file still has it.' },
      answers: {
        200: {
          description: 'The bytes of a file (`application/octet-stream`), or the entries of a directory (JSON).',
          schema: DirectoryListing,
          also: 'application/octet-stream',
          headers: { 'last-modified': 'For a file.', etag: 'For a file: equal bytes have an equal tag.' },
        },
        304: { description: 'The file has the `ETag` of `If-None-Match`.', headers: { etag: 'The tag of the file.' } },
      },
    },
    async ({ c, services, principal, params, query, answer }) => {
      const session = services.sessions.get(params.id);
      const path = toolPath(params.path);
      const place = await enterResponse(c);
      const file = await session.readFile(principal, path);
      if ('directory' in file) return answer(200, await session.listFiles(principal, path, { recursive: query.recursive === 'true' }));
      const etag = await tagOf(file.content);
      if (matchesEtag(c, etag)) return answer(304, null, { etag });
      // Content is written by tools: browsers must never show it as a page of this origin (`nosniff` is set on every response).
      resizePlace(place, file.content.byteLength);
      const isLarge = file.content.byteLength >= largeResponseBytes;
      if (isLarge) hold(c, { body: undefined });
      return new Response(isLarge ? bodyHoldingPlace(file.content, place) : file.content, {
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment',
          'content-security-policy': "default-src 'none'; sandbox",
          etag,
          'last-modified': new Date(file.modifiedAt).toUTCString(),
        },
      });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'put',
      path: '/v1/sessions/{id}/files/{path+}',
      operationId: 'writeFile',
      summary: 'Write a file',
      description: `Missing directories are created. A session may have ${limits.maxSessionFiles} files and directories with ${limits.maxSessionFilesBytes} bytes in total; a write above these limits returns 409.`,
      params,
      headers: conditionHeaders,
      rawBody: { description: `The bytes, with any content type, at most ${maxFileBodyBytes}.` },
      answers: {
        200: { description: 'Replaced.', schema: WrittenFile, headers: tagHeader },
        201: { description: 'Created.', schema: WrittenFile, headers: { location: 'URL of the file.', ...tagHeader } },
      },
      problems: ['conflict', 'precondition_failed'],
    },
    async ({ c, services, principal, params, answer }) => {
      const session = services.sessions.get(params.id);
      const content = await readRequestBody(c, maxFileBodyBytes);
      const { path, created } = await session.writeFile(principal, toolPath(params.path), content, conditions(c));
      const headers = { etag: await tagOf(content), ...(created && { location: new URL(c.req.url).pathname }) };
      return answer(created ? 201 : 200, { path, size: content.byteLength }, headers);
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/sessions/{id}/files/{path+}',
      operationId: 'deleteFile',
      summary: 'Delete a file or an empty directory',
      params,
      headers: { 'if-match': conditionHeaders['if-match'] },
      answers: { 204: { description: 'Gone.' } },
      problems: ['conflict', 'precondition_failed'],
    },
    async ({ c, services, principal, params, answer }) => {
      await services.sessions.get(params.id).deleteFile(principal, toolPath(params.path), conditions(c));
      return answer(204, null);
    },
  ),
];

/** The first slash of `/workspace/x` is often omitted, so a path that starts with `workspace/` rarely means a folder of that name. */
function toolPath(path: string): string {
  return path === 'workspace' || path.startsWith('workspace/') ? `/${path}` : path;
}

async function tagOf(content: Uint8Array): Promise<string> {
  return `"${await sha256HexOfBytes(content)}"`;
}

/** Strong comparison: a weak or unknown tag matches no file. */
function conditions(c: AppContext): FileConditions {
  const ifMatch = c.req.header('if-match')?.trim();
  const tags = ifMatch === '*' ? ifMatch : ifMatch?.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  return { ...(tags !== undefined && { ifMatch: tags }), ...ifNoneMatch(c) };
}

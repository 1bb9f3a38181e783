/**
 * `/v1/sessions/{id}/files/{path}`: the files that a session's tools see, under the paths that the tools use: `a.txt` is
 * `/workspace/a.txt`, and so is `workspace/a.txt`; what begins with a slash (`files//tmp/a.txt`) is absolute.
 */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { workspace } from '../../core/path.ts';
import { readBytes } from '../json-body.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';
import { sessionParams } from './sessions.ts';

const params = sessionParams.extend({
  path: z
    .string()
    .min(1)
    .max(limits.maxPathBytes)
    .meta({ description: 'From `/workspace`, which may stand in front; absolute with a slash of its own.', example: 'notes.txt' }),
});

const Listing = z
  .object({
    path: z.string(),
    entries: z.array(z.object({ name: z.string(), kind: z.enum(['file', 'directory']), size: z.int(), modifiedAt: z.iso.datetime() })),
    usage: z
      .object({ files: z.int(), bytes: z.int(), maxFiles: z.int(), maxBytes: z.int() })
      .meta({ description: 'Of all files and directories of the session, and what they may come to.' }),
  })
  .meta({ id: 'DirectoryListing' });
const WrittenFile = z.object({ path: z.string(), size: z.int() }).meta({ id: 'WrittenFile' });

const common = { tag: 'Sessions', scopes: ['chat'] } as const;

export function mountSessionFiles(app: App): void {
  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}/files',
      operationId: 'listFiles',
      summary: 'List the working directory',
      params: sessionParams,
      answers: { 200: { description: 'Its entries.', schema: Listing } },
    },
    async ({ c, services, principal, params }) => c.json(await services.sessions.get(params.id).listFiles(principal, workspace)),
  );

  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}/files/{path+}',
      operationId: 'readFile',
      summary: 'Read a file or list a directory',
      params,
      answers: {
        200: {
          description: 'The bytes of a file (`application/octet-stream`), or the entries of a directory (JSON).',
          schema: Listing,
          also: 'application/octet-stream',
          headers: { 'last-modified': 'Of a file.' },
        },
      },
    },
    async ({ c, services, principal, params }) => {
      const session = services.sessions.get(params.id);
      const path = toolPath(params.path);
      const file = await session.readFile(principal, path);
      if ('directory' in file) return c.json(await session.listFiles(principal, path));
      // Whatever a tool wrote: never shown by a browser as a page of this origin (`nosniff` is on every answer).
      return new Response(file.content, {
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment',
          'content-security-policy': "default-src 'none'; sandbox",
          'cache-control': 'private, no-cache',
          'last-modified': new Date(file.modifiedAt).toUTCString(),
        },
      });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'put',
      path: '/v1/sessions/{id}/files/{path+}',
      operationId: 'writeFile',
      summary: 'Write a file',
      description: 'Missing directories are made.',
      params,
      rawBody: { description: `The bytes, of any content type, at most ${limits.maxFileBodyBytes}.` },
      answers: {
        200: { description: 'Replaced.', schema: WrittenFile },
        201: { description: 'Made.', schema: WrittenFile, headers: { location: 'Of the file.' } },
      },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params }) => {
      const session = services.sessions.get(params.id);
      const content = await readBytes(c.req.raw, limits.maxFileBodyBytes);
      const { path, created } = await session.writeFile(principal, toolPath(params.path), content);
      const answer = { path, size: content.byteLength };
      return c.json(answer, created ? 201 : 200, created ? { location: new URL(c.req.url).pathname } : {});
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'delete',
      path: '/v1/sessions/{id}/files/{path+}',
      operationId: 'deleteFile',
      summary: 'Delete a file or an empty directory',
      params,
      answers: { 204: { description: 'Gone.' } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params }) => {
      await services.sessions.get(params.id).deleteFile(principal, toolPath(params.path));
      return c.body(null, 204);
    },
  );
}

/** `/workspace/x` is so often written without its first slash that a folder of that name inside is the rarer meaning. */
function toolPath(path: string): string {
  return path === 'workspace' || path.startsWith('workspace/') ? `/${path}` : path;
}

/**
 * The pages that `local/build/build-console.ts` builds from `src/console/` and `docs/`, and their files. The names of the files contain a hash of the
 * content, so browsers cache them permanently.
 */
import { Problem, quoted } from '../../core/problem.ts';
import type { AppContext } from '../middleware/request-context.ts';
import { htmlPage, htmlResponse, scriptPageHeaders } from './html.ts';

/** Returns a page of the guide. Throws `not_found` for one that does not exist, or if this deployment has no built pages. */
export async function guidePage(c: AppContext): Promise<Response> {
  const name = c.req.param('page') ?? '';
  const file = !/^[a-z-]+$/.test(name) ? null : await c.get('services').pageFile(`/guide/${name}.html`, c.req.raw.headers);
  if (file === null)
    throw new Problem('not_found', `The guide of this deployment has no page ${quoted(name)}. /docs/readme lists those that it has.`);
  return pageResponse(file);
}

/** Returns a built page; in a deployment without built pages, one that refers to the OpenAPI document. */
export async function builtPage(c: AppContext, name: string): Promise<Response> {
  const file = await c.get('services').pageFile(`/${name}.html`, c.req.raw.headers);
  if (file === null) return htmlResponse(c, pageNotBuilt);
  return pageResponse(file);
}

function pageResponse(file: Response): Response {
  const etag = file.headers.get('etag');
  return new Response(file.body, { status: file.status, headers: { ...scriptPageHeaders, ...(etag !== null && { etag }) } });
}

/** Returns a script or a style. Throws `not_found` for a file of another build. */
export async function builtFile(c: AppContext): Promise<Response> {
  const name = c.req.param('file') ?? '';
  const file = /^[\w.-]+$/.test(name) ? await c.get('services').pageFile(`/assets/${name}`, c.req.raw.headers) : null;
  if (file === null) throw new Problem('not_found', `The file ${quoted(name)} does not exist.`);
  const shown = [...file.headers].filter(([header]) => header === 'content-type' || header === 'etag');
  const headers = { ...Object.fromEntries(shown), 'cache-control': 'public, max-age=31536000, immutable' };
  return new Response(file.body, { status: file.status, headers });
}

const pageNotBuilt = htmlPage(
  'Moniker',
  `<h1>Moniker</h1>
<p>The pages of this deployment (the console and the API reference) were not built. The API is described in the <a href="/openapi.json">OpenAPI document</a>.</p>
<p><code>npm start</code> and <code>npm run deploy</code> build the pages.</p>`,
);

/**
 * `/connect/{server}`: the page where a user connects an account at a server with `oauth.per: "user"`. It connects the user who opens it, so
 * its URL has no secret and may be sent to anyone. `/oauth/callback` ends the sign-in (`server-authorize.ts`).
 */
import { z } from 'zod';
import { KB } from '../../core/limits/units.ts';
import { Problem } from '../../core/problem.ts';
import { ServerName } from '../../core/servers/server.ts';
import { isFromOwnPage, startInBrowser } from '../connect-sign-in.ts';
import { readBytes } from '../json-body.ts';
import type { AppContext } from '../middleware/request-context.ts';
import { connectPage, continuePage } from '../pages/connect-page.ts';
import { privateHtmlResponse } from '../pages/html.ts';
import { toProblem } from '../problems.ts';
import { definePublicRoute, type Route } from '../route.ts';

/** A form with one key. */
const maxFormBytes = 4 * KB;

const common = {
  tag: 'Connections',
  path: '/connect/{server}',
  params: z.object({ server: ServerName }),
  query: z.object({ workspace: z.string().optional().meta({ description: 'The workspace, for users who are members of several.' }) }),
} as const;

export const connectRoutes: readonly Route[] = [
  definePublicRoute(
    {
      ...common,
      operationId: 'showConnect',
      summary: 'The page to connect an account to a server',
      description: 'Asks who the user is and starts nothing.',
      answers: { 200: { description: 'The page.', contentType: 'text/html' } },
    },
    ({ c }) => answerPage(c, async (server) => connectPage(server, null)),
  ),

  definePublicRoute(
    {
      ...common,
      method: 'post',
      operationId: 'startConnect',
      summary: 'Start connecting an account to a server',
      description:
        'The form of the page, with the API key. Requests of other sites are rejected. The browser that sends it must finish the sign-in.',
      rawBody: { description: 'The field `key`.', type: 'application/x-www-form-urlencoded' },
      answers: { 200: { description: 'A page with the link to the authorization server.', contentType: 'text/html' } },
      problems: ['unauthenticated', 'forbidden', 'conflict', 'not_configured', 'upstream_error', 'upstream_timeout'],
    },
    ({ c }) =>
      answerPage(c, async (server, headers) => {
        if (!isFromOwnPage(c)) throw new Problem('forbidden', 'This form was sent by another page. Open the link itself.');
        const { directory } = c.get('services');
        const form = new URLSearchParams(new TextDecoder().decode(await readBytes(c.req.raw, maxFormBytes)));
        const principal = await directory.principal(form.get('key')?.trim() ?? '');
        c.set('keyId', principal.keyId);
        const { authorizationUrl } = await startInBrowser(c, principal, server, headers);
        return continuePage(server, authorizationUrl);
      }),
  ),
];

async function answerPage(c: AppContext, work: (server: string, headers: Headers) => Promise<string>): Promise<Response> {
  const name = ServerName.safeParse(c.req.param('server'));
  const server = name.success ? name.data : '';
  const headers = new Headers();
  const answer = await pageOrProblem(c, server, () => {
    if (server === '') throw new Problem('not_found', 'There is no server of this name. The link may be incomplete.');
    return work(server, headers);
  });
  // With the origin in its requests, a form of this page is told from those of other sites.
  answer.headers.set('referrer-policy', 'same-origin');
  for (const cookie of headers.getSetCookie()) answer.headers.append('set-cookie', cookie);
  return answer;
}

async function pageOrProblem(c: AppContext, server: string, work: () => Promise<string>): Promise<Response> {
  try {
    return privateHtmlResponse(await work(), 200);
  } catch (error) {
    const problem = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, c.get('services').log);
    return privateHtmlResponse(connectPage(server, problem.detail), problem.status);
  }
}

/**
 * `/connect/{server}`: the page where a user connects an account at a server with `oauth.per: "user"`. It connects the user who opens it, so
 * its URL has no secret and may be sent to anyone. `/oauth/callback` ends the sign-in (`server-authorize.ts`).
 */
import * as z from 'zod';
import { KB } from '../../../core/limits/units.ts';
import { Problem } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { ServerName } from '../../../core/servers/server.ts';
import { publicBase } from '../../../core/people/settings.ts';
import { startInBrowser } from './connect-sign-in.ts';
import { principalOfKey } from '../../middleware/authenticate.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { connectPage, continuePage } from '../../pages/connect-page.ts';
import { privateHtmlResponse } from '../../pages/html.ts';
import { isLoopbackHost } from '../../own-origin.ts';
import { toProblem } from '../../problems.ts';
import { limitAttempts } from '../../client-address.ts';
import { readStrangersBody } from '../../request-body.ts';
import { definePublicRoute } from '../../route.ts';
import { personOf, refuseOtherSites, requireSafeTransport } from '../../sign-in/browser-session.ts';

/** A form with one key. */
const maxFormBytes = 4 * KB;

const common = {
  tag: 'Connections',
  path: '/connect/{server}',
  params: z.object({ server: ServerName }),
  query: z.object({ workspace: z.string().optional().meta({ description: 'The workspace, for users who are members of several.' }) }),
} as const;

export const connectRoutes = [
  definePublicRoute(
    {
      ...common,
      operationId: 'showConnect',
      summary: 'The page to connect an account to a server',
      description: 'Asks who the user is and starts nothing.',
      answers: {
        200: { description: 'The page.', contentType: 'text/html' },
        302: { description: 'To the page under the public URL.', contentType: 'text/html', headers: { location: 'Its URL.' } },
      },
    },
    ({ c }) => {
      const home = homeOf(c);
      return home === null
        ? answerPage(c, async (server) => connectPage({ server, person: await personOf(c), problem: null }))
        : c.redirect(home, 302);
    },
  ),

  definePublicRoute(
    {
      ...common,
      method: 'post',
      operationId: 'startConnect',
      summary: 'Start connecting an account to a server',
      description:
        'The form of the page, with the API key. Requests of other sites are rejected. The browser that sends it must finish the sign-in.',
      rawBody: { description: 'The field `key`; empty for a person who is signed in.', type: 'application/x-www-form-urlencoded' },
      answers: { 200: { description: 'A page with the link to the authorization server.', contentType: 'text/html' } },
      problems: ['unauthenticated', 'forbidden', 'conflict', 'rate_limited', 'not_configured', 'upstream_error', 'upstream_timeout'],
    },
    ({ c, services }) =>
      answerPage(c, async (server, headers) => {
        refuseOtherSites(c);
        requireSafeTransport(c);
        const principal = await limitAttempts(c, () => principalOf(c));
        c.set('keyId', principal.keyId);
        const { authorizationUrl } = await startInBrowser({ c, services, principal }, server, headers);
        return continuePage(server, authorizationUrl);
      }),
  ),
];

/** The form has a key, or the browser the cookie of a person. */
async function principalOf(c: AppContext): Promise<Principal> {
  const { people } = c.get('services');
  const form = new URLSearchParams(new TextDecoder().decode(await readStrangersBody(c, maxFormBytes)));
  const key = form.get('key')?.trim() ?? '';
  const person = key === '' ? await personOf(c) : null;
  if (person !== null) return await people.principal(person, c.req.query('workspace') ?? null);
  return await principalOfKey(c, key);
}

/** Returns the same page under MONIKER_PUBLIC_URL, if this is another name of this machine: the browser returns to that name. null: it is there. */
function homeOf(c: AppContext): string | null {
  const here = new URL(c.req.url);
  const base = publicBase(c.get('services').settings.publicUrl);
  if (base === null || !isLoopbackHost(here.hostname)) return null;
  const home = new URL(base);
  return home.host !== here.host && isLoopbackHost(home.hostname) ? `${base}${here.pathname}${here.search}` : null;
}

async function answerPage(c: AppContext, work: (server: string, headers: Headers) => Promise<string>): Promise<Response> {
  const name = ServerName.safeParse(c.req.param('server'));
  const server = name.success ? name.data : '';
  const headers = new Headers();
  const answer = await pageOrProblem(c, server, () => {
    if (server === '') throw new Problem('not_found', 'There is no server of this name. The link may be incomplete.');
    return work(server, headers);
  });
  for (const cookie of headers.getSetCookie()) answer.headers.append('set-cookie', cookie);
  return answer;
}

async function pageOrProblem(c: AppContext, server: string, work: () => Promise<string>): Promise<Response> {
  try {
    return privateHtmlResponse(await work(), 200, sameOrigin);
  } catch (error) {
    const problem = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, c.get('services').log);
    return privateHtmlResponse(connectPage({ server, person: await personOf(c), problem: problem.detail }), problem.status, sameOrigin);
  }
}

/** With the origin in its requests, a form of this page differs from those of other sites. */
const sameOrigin: readonly [string, string][] = [['referrer-policy', 'same-origin']];

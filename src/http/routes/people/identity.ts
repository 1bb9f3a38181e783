/** `/sign-in/{provider}`: sends the browser to an identity provider, and `/sign-in/{provider}/callback`, where it returns. */
import * as z from 'zod';
import { Problem } from '../../../core/problem.ts';
import { signInTimeoutMs } from '../../../sign-in/exchange.ts';
import { publicBase } from '../../../core/people/settings.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { singleParameter } from '../../oauth-metadata.ts';
import { limitAttempts } from '../../client-address.ts';
import { definePublicRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { cookieHeader, readCookie, removedCookieHeader, requireSafeTransport, sessionCookieHeader } from '../../sign-in/browser-session.ts';
import { requireMember } from '../../sign-in/require-member.ts';
import { problemPage, redirect, returnPath } from './sign-in.ts';

const pendingCookie = 'moniker-sign-in';

const tag = 'People';
const params = z.object({ provider: z.string().meta({ example: 'google' }) });

export const identityRoutes = [
  definePublicRoute(
    {
      tag,
      path: '/sign-in/{provider}',
      operationId: 'beginSignIn',
      summary: 'Sign in with an identity provider',
      params,
      query: z.object({ to: z.string().optional().meta({ description: 'Path of this service to return to.' }) }),
      answers: {
        302: {
          description: 'To the identity provider.',
          contentType: 'text/html',
          headers: { location: 'Its URL.', 'set-cookie': 'What the return needs.' },
        },
      },
      problems: ['forbidden', 'upstream_error', 'upstream_timeout', 'not_configured'],
    },
    ({ c, services }) =>
      withProblemPage(c, services, async () => {
        requireSafeTransport(c);
        const provider = c.req.param('provider') ?? '';
        const to = returnPath(c.req.query('to'));
        const { url, cookie } = await services.identity.begin(provider, { to, redirectUri: redirectUri(c, provider) });
        return redirect(url, [['set-cookie', cookieHeader(c, pendingCookie, cookie, signInTimeoutMs)]], 302);
      }),
  ),

  definePublicRoute(
    {
      tag,
      path: '/sign-in/{provider}/callback',
      operationId: 'endSignIn',
      summary: 'Return from an identity provider',
      description: 'For browsers, with the parameters of the identity provider: `code` or `error`, `state`, `iss`.',
      params,
      answers: {
        303: { description: 'Signed in.', contentType: 'text/html', headers: { location: 'The path `to`.', 'set-cookie': 'The cookie.' } },
      },
      problems: ['forbidden', 'upstream_error', 'upstream_timeout', 'not_configured', 'rate_limited'],
    },
    ({ c, services }) =>
      withProblemPage(c, services, () =>
        limitAttempts(c, async () => {
          const provider = c.req.param('provider') ?? '';
          const query = new URL(c.req.url).searchParams;
          const returned = {
            code: singleParameter(query, 'code'),
            state: singleParameter(query, 'state'),
            iss: singleParameter(query, 'iss'),
            error: singleParameter(query, 'error'),
          };
          const cookie = readCookie(c, pendingCookie);
          const { to, ...identity } = await services.identity.finish(provider, { cookie, returned, redirectUri: redirectUri(c, provider) });
          const user = await requireMember(services, identity);
          const session = await services.people.begin({ user, provider, until: identity.until });
          return redirect(to, [
            ['set-cookie', sessionCookieHeader(c, session)],
            ['set-cookie', removedCookieHeader(c, pendingCookie)],
          ]);
        }),
      ),
  ),
];

/** Never the host of the request, which an attacker's page can choose. */
function redirectUri(c: AppContext, provider: string): string {
  const { publicUrl, localUrl } = c.get('services').settings;
  const base = publicBase(publicUrl) ?? publicBase(localUrl);
  if (base !== null) return `${base}/sign-in/${provider}/callback`;
  throw new Problem(
    'not_configured',
    'Signing in with an identity provider requires MONIKER_PUBLIC_URL: the URL under which people open this service.',
  );
}

async function withProblemPage(c: AppContext, services: HttpServices, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    return await problemPage(c, services, error, '/');
  }
}

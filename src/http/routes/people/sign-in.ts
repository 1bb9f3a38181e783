/**
 * `/sign-in` and `/sign-out`: people sign in with a browser, which gets a cookie. The page works without scripts; programs read who is signed
 * in as JSON.
 */
import * as z from 'zod';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { sha256Hex } from '../../../core/hash.ts';
import { KB } from '../../../core/limits/units.ts';
import { missingRootKey } from '../../../core/people/missing-keys.ts';
import type { Person } from '../../../core/people/person.ts';
import { Role, User } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import type { People } from '../../../storage/published/people.ts';
import { requireMember } from '../../sign-in/require-member.ts';
import { wantsJson } from '../../accept.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { privateHtmlResponse } from '../../pages/html.ts';
import { signInPage } from '../../pages/sign-in-page.ts';
import { toProblem } from '../../problems.ts';
import { limitAttempts } from '../../client-address.ts';
import { readStrangersBody } from '../../request-body.ts';
import { definePublicRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import {
  personOf,
  personOfCookie,
  refuseOtherSites,
  removedCookieHeader,
  requireSafeTransport,
  sessionCookie,
  sessionCookieHeader,
} from '../../sign-in/browser-session.ts';

const maxFormBytes = 4 * KB;

const SignInState = z
  .object({
    person: z
      .object({
        user: User,
        isRoot: z.boolean(),
        expiresAt: z.iso.datetime(),
        workspaces: z.array(z.object({ workspace: z.string(), role: Role })).meta({
          description: 'Where the person is a member. Requests choose one with the header `x-moniker-workspace`. Empty for the root key.',
        }),
      })
      .nullable()
      .meta({ description: 'Who is signed in with this browser. null: not signed in.' }),
    providers: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .meta({ description: 'Identity providers: `/sign-in/{id}` signs in with one of them.' }),
  })
  .meta({ id: 'SignInState', example: { person: null, providers: [{ id: 'google', name: 'Google' }] } });

const SignInForm = z.strictObject({ key: z.string(), to: z.string().optional() }).meta({ id: 'SignInForm' });

const tag = 'People';

export const signInRoutes = [
  definePublicRoute(
    {
      tag,
      path: '/sign-in',
      operationId: 'showSignIn',
      summary: 'Sign in with a browser',
      description: 'A page, or with `Accept: application/json` who is signed in, and the identity providers.',
      query: z.object({ to: z.string().optional().meta({ description: 'Path of this service to return to, such as `/console`.' }) }),
      answers: {
        200: {
          description: 'The page, or the state.',
          schema: SignInState,
          also: 'text/html',
          headers: { 'set-cookie': 'The cookie, if Cloudflare Access has signed the person in.' },
        },
        303: {
          description: 'Signed in by Cloudflare Access.',
          contentType: 'text/html',
          headers: { location: 'The path `to`.', 'set-cookie': 'The cookie.' },
        },
      },
    },
    async ({ c, services }) => {
      const to = returnPath(c.req.query('to'));
      const { people, identity } = services;
      try {
        const known = await personOf(c);
        const cookie = known === null ? await signInByAccess(c, services) : null;
        if (cookie !== null && !wantsJson(c)) return redirect(to, [['set-cookie', sessionCookieHeader(c, cookie)]]);
        if (!wantsJson(c)) return pageResponse(c, services, { to, problem: null, status: 200 });
        const person = cookie === null ? known : await people.read(cookie);
        const state = { person: person === null ? null : await toView(people, person), providers: [...identity.providers] };
        return c.json(state, 200, cookie === null ? {} : { 'set-cookie': sessionCookieHeader(c, cookie) });
      } catch (error) {
        if (wantsJson(c)) throw error;
        return await problemPage(c, services, error, to);
      }
    },
  ),

  definePublicRoute(
    {
      tag,
      method: 'post',
      path: '/sign-in',
      storesNothing: true,
      operationId: 'signInWithRootKey',
      summary: 'Sign in with the root key',
      description: 'The form of the page. Sets the cookie and redirects to `to`.',
      body: { schema: SignInForm, also: 'application/x-www-form-urlencoded' },
      answers: {
        303: { description: 'Signed in.', contentType: 'text/html', headers: { location: 'The path `to`.', 'set-cookie': 'The cookie.' } },
      },
      problems: ['unauthenticated', 'forbidden', 'not_configured', 'rate_limited'],
    },
    async ({ c, services }) => {
      let to = returnPath(undefined);
      try {
        requireSafeTransport(c);
        refuseOtherSites(c);
        return await limitAttempts(c, async () => {
          const form = new URLSearchParams(new TextDecoder().decode(await readStrangersBody(c, maxFormBytes)));
          to = returnPath(form.get('to') ?? undefined);
          await requireRootKey(services.settings.rootKey, form.get('key') ?? '');
          return redirect(to, [['set-cookie', sessionCookieHeader(c, await services.people.begin(null))]]);
        });
      } catch (error) {
        return await problemPage(c, services, error, to);
      }
    },
  ),

  definePublicRoute(
    {
      tag,
      method: 'post',
      path: '/sign-out',
      storesNothing: true,
      operationId: 'signOut',
      summary: 'Sign out',
      description: 'Removes the cookie, ends the sign-in for every holder of the cookie within 30 seconds, and redirects to `/sign-in`.',
      answers: { 303: { description: 'Signed out.', headers: { location: '`/sign-in`.', 'set-cookie': 'The removed cookie.' } } },
      problems: ['forbidden'],
    },
    async ({ c, services, answer }) => {
      refuseOtherSites(c);
      const person = await personOfCookie(c);
      if (person !== null) await services.people.end(person);
      // Access would sign the person in again.
      const location = services.identity.usesAccess ? '/cdn-cgi/access/logout' : '/sign-in';
      return answer(303, null, { location, 'set-cookie': removedCookieHeader(c, sessionCookie) });
    },
  ),
];

async function toView(people: People, { user, isRoot, session }: Person) {
  const workspaces = isRoot ? [] : await people.workspaces(user);
  return { user, isRoot, expiresAt: new Date(session.expiresAt).toISOString(), workspaces };
}

/** Returns a cookie for the person whom Cloudflare Access has signed in; null: it has not. */
async function signInByAccess(c: AppContext, services: HttpServices): Promise<string | null> {
  const found = await services.identity.access(c.req.header('cf-access-jwt-assertion'));
  if (found === null) return null;
  const { provider, until } = found;
  return await services.people.begin({ user: await requireMember(services, found), provider, until });
}

/** The page with the reason why signing in failed. */
export async function problemPage(c: AppContext, services: HttpServices, error: unknown, to: string): Promise<Response> {
  const { detail, status } = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, services.log);
  return await pageResponse(c, services, { to, problem: detail, status });
}

/** The page in its current state: the person of the request, unless signing in has just failed. */
async function pageResponse(
  c: AppContext,
  { identity }: HttpServices,
  { to, problem, status }: { to: string; problem: string | null; status: number },
): Promise<Response> {
  const person = await personOf(c);
  // The origin of the form must arrive here, which the policy of other pages prevents.
  return privateHtmlResponse(signInPage({ to, problem, person, providers: identity.providers }), status, [
    ['referrer-policy', 'same-origin'],
  ]);
}

export function redirect(to: string, headers: readonly (readonly [string, string])[], status = 303): Response {
  return new Response(null, { status, headers: [['location', to], ['cache-control', 'no-store'], ...headers] as [string, string][] });
}

/** Hashes are compared, so that the time reveals neither the key nor its length. */
async function requireRootKey(rootKey: string | null, given: string): Promise<void> {
  if (rootKey === null) throw missingRootKey();
  if (!equalInConstantTime(await sha256Hex(given.trim()), await sha256Hex(rootKey)))
    throw new Problem('unauthenticated', 'This is not the root key of this service.', { reason: 'malformed' });
}

const ownUrl = 'https://own.invalid';

/** Returns `to` if it is a path of this service, otherwise `/`: the page must not send people to other sites. */
export function returnPath(to: string | undefined): string {
  const url = to?.startsWith('/') === true ? URL.parse(to, ownUrl) : null;
  if (url === null || url.origin !== ownUrl) return '/';
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Dot segments can leave an empty first segment: `/.//evil.example`.
  return path.startsWith('//') ? '/' : path;
}

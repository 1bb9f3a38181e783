/**
 * `/oauth/authorize`: an MCP client sends the user's browser here. The user signs in and sees what the client asks for; GET changes nothing.
 * POST accepts or declines exactly the request that was shown: it carries a signed value with the user, their sign-in and the request.
 */
import * as z from 'zod';
import { isAllowed, requireAllowed } from '../../../core/people/authority.ts';
import { sha256Hex } from '../../../core/hash.ts';
import { KB } from '../../../core/limits/units.ts';
import type { Person } from '../../../core/people/person.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { isValidUntil } from '../../../core/people/token-times.ts';
import { AuthorizationRefused, type AuthorizationRequest } from '../../../mcp/authorization/checked-request.ts';
import { inWorkspace } from '../../middleware/authenticate.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { consentPage, refusedRequestPage } from '../../pages/consent-page.ts';
import { privateHtmlResponse } from '../../pages/html.ts';
import { toProblem } from '../../problems.ts';
import { readStrangersBody } from '../../request-body.ts';
import { definePublicRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { personOf, refuseOtherSites } from '../../sign-in/browser-session.ts';
import { requireIssuer } from './oauth.ts';

const maxFormBytes = 16 * KB;
/** How long a page may be open before the user decides. */
const consentMs = 10 * 60_000;

const Decision = z.strictObject({ decision: z.enum(['allow', 'deny']), consent: z.string() }).meta({ id: 'ConsentDecision' });
const common = {
  tag: 'OAuth',
  path: '/oauth/authorize',
  query: 'ignored',
  problems: ['not_configured', 'invalid_request', 'forbidden', 'not_found'],
} as const;
const page = { description: 'The page.', contentType: 'text/html' } as const;

export const oauthAuthorizeRoutes = [
  definePublicRoute(
    {
      ...common,
      operationId: 'showConsent',
      summary: 'Ask the user whether an MCP client may connect',
      description: 'For browsers, with the parameters of OAuth 2.1. Without a sign-in it redirects to `/sign-in`.',
      answers: { 200: page, 303: { description: 'To the sign-in.', contentType: 'text/html', headers: { location: 'Its path.' } } },
    },
    ({ c, services }) =>
      answerPage(c, async () => {
        const issuer = requireIssuer(c);
        const person = await personOf(c);
        if (person === null) return redirect(signInPath(c));
        const request = await readRequest(c, services, issuer);
        const principal = await principalFor(c, person, request);
        return await showConsent(c, services, person, principal, withinRights(principal, request));
      }),
  ),

  definePublicRoute(
    {
      ...common,
      method: 'post',
      operationId: 'decideConsent',
      summary: 'Allow or deny an MCP client',
      description: 'The form of the page, with the same query. Redirects to the client.',
      body: { schema: Decision, also: 'application/x-www-form-urlencoded' },
      answers: { 303: { description: 'To the client.', contentType: 'text/html', headers: { location: 'With `code` or `error`.' } } },
    },
    ({ c, services }) =>
      answerPage(c, async () => {
        refuseOtherSites(c);
        const issuer = requireIssuer(c);
        const person = await personOf(c);
        if (person === null) return redirect(signInPath(c));
        const form = new URLSearchParams(new TextDecoder().decode(await readStrangersBody(c, maxFormBytes)));
        await requireConsent(c, services, person, form.get('consent') ?? '');
        const request = await readRequest(c, services, issuer);
        const { oauth, grants } = services;
        if (form.get('decision') !== 'allow') return redirect(await oauth.declined(request));
        const principal = await principalFor(c, person, request);
        const { endpoint: _endpoint, domain: _domain, ...accepted } = withinRights(principal, request);
        return redirect((await grants(principal.workspace).grantAccess(person.user, accepted, person.rootProof)).redirectTo);
      }),
  ),
];

/** The sign-in returns to this request. */
function signInPath(c: AppContext): string {
  return `/sign-in?to=${encodeURIComponent(`/oauth/authorize${new URL(c.req.url).search}`)}`;
}

async function readRequest(c: AppContext, { oauth }: HttpServices, issuer: string): Promise<AuthorizationRequest> {
  return await oauth.request(issuer, new URL(c.req.url).searchParams);
}

/** Throws `forbidden` if the user is not a member of the workspace. Without one in the path, it is the first of the user. */
async function principalFor(c: AppContext, person: Person, { endpoint: { workspace } }: AuthorizationRequest): Promise<Principal> {
  const { people, directory } = c.get('services');
  return await inWorkspace(await people.principal(person, workspace), workspace ?? undefined, directory);
}

/** Returns the request with the scopes that the user has, of which `tools` is the least. */
function withinRights(principal: Principal, request: AuthorizationRequest): AuthorizationRequest {
  requireAllowed(principal, { act: 'use-scope', scopes: ['tools'] });
  return { ...request, scopes: request.scopes.filter((scope) => isAllowed(principal, { act: 'use-scope', scopes: [scope] })) };
}

async function showConsent(
  c: AppContext,
  { consents, servedNames, clock }: HttpServices,
  person: Person,
  principal: Principal,
  request: AuthorizationRequest,
): Promise<Response> {
  const { toolset } = request.endpoint;
  const offered = toolset === null ? null : await servedNames(principal, toolset);
  const until = clock.now() + consentMs;
  const consent = await consents.seal('', { until, session: person.session.id, query: await queryHash(c) });
  const user = person.email ?? person.user.name;
  const html = consentPage({ request, offered, workspace: principal.workspace, user, consent });
  // Browsers check each redirect that follows the form, also those of the client, which may lead to another origin.
  const { protocol } = new URL(request.redirectUri);
  const schemes = protocol === 'http:' ? 'http: https:' : protocol;
  return privateHtmlResponse(html, 200, [['referrer-policy', 'same-origin']], schemes);
}

/** Throws `forbidden` unless this page was shown to this person, in this sign-in, for this request. */
async function requireConsent(c: AppContext, { consents, clock }: HttpServices, person: Person, text: string): Promise<void> {
  const consent = await consents.open('', text);
  const isFor = consent !== null && consent.session === person.session.id && consent.query === (await queryHash(c));
  if (!isFor || !isValidUntil(consent.until, clock.now(), consentMs))
    throw new Problem('forbidden', 'This page has expired, or it was opened by someone else. Connect the client again.');
}

async function queryHash(c: AppContext): Promise<string> {
  return await sha256Hex(new URL(c.req.url).search);
}

function redirect(to: string): Response {
  return new Response(null, { status: 303, headers: { location: to, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } });
}

async function answerPage(c: AppContext, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const problem = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, c.get('services').log);
    const continueTo = error instanceof AuthorizationRefused ? error.redirectTo : null;
    return privateHtmlResponse(refusedRequestPage(problem.detail, continueTo), problem.status);
  }
}

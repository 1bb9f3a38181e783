/**
 * `/v1/servers/{server}/authorize`: signs a user in to a server with `oauth`, and `/oauth/callback`, where the browser returns. The browser
 * brings a `state` that was signed here and works once, so no key is needed. The sign-in applies to the workspace, not to the user; any key
 * that may write servers may start it. Users connect accounts of their own by `connections.ts` and `connect.ts`.
 */
import * as z from 'zod';
import { originOf } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { publicBase } from '../../../core/people/settings.ts';
import { clientMetadata } from '../../../mcp/oauth/client-metadata.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { privateHtmlResponse, htmlPage, escapeInvisible } from '../../pages/html.ts';
import { singleParameter } from '../../oauth-metadata.ts';
import { toProblem } from '../../problems.ts';
import { browserOf, ownAddresses } from './connect-sign-in.ts';
import { requirePublicBase } from '../../own-origin.ts';
import { definePublicRoute, defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { serverParams } from './servers.ts';

const SignIn = z
  .object({
    authorizationUrl: z.url().meta({ description: 'URL that the user opens in a browser. It comes from the authorization server.' }),
    expiresAt: z.iso.datetime().meta({ description: 'The user must complete the sign-in by then.' }),
  })
  .meta({
    id: 'SignIn',
    example: { authorizationUrl: 'https://login.example.com/authorize?…', expiresAt: '2026-01-01T08:10:00.000Z' },
  });

const ClientMetadata = z.record(z.string(), z.unknown()).meta({ id: 'ClientMetadata' });

const common = {
  tag: 'Servers',
  path: '/v1/servers/{server}/authorize',
  params: serverParams,
  scopes: ['admin'],
  workspace: 'Servers',
} as const;

export const serverAuthorizeRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      operationId: 'authorizeServer',
      summary: 'Start signing in to a server',
      description:
        'For a server with `oauth.grant: "authorization_code"`, or without `oauth` if it publishes the metadata of a sign-in. Returns the URL that the user opens; the browser returns to /oauth/callback. An earlier pending sign-in becomes invalid; existing tokens remain until new ones arrive.',
      answers: { 200: { description: 'Begun.', schema: SignIn } },
      problems: ['conflict', 'upstream_error', 'upstream_timeout'],
    },
    async ({ answer, services, principal, params }) => {
      const own = ownAddresses(requirePublicBase(services.settings.publicUrl, 'Sign-ins'));
      const origin = originOf(principal, services.clock.now());
      const { authorizationUrl, expiresAt } = await services.signIns.begin(principal.workspace, params.server, { ...own, origin });
      return answer(200, { authorizationUrl, expiresAt: new Date(expiresAt).toISOString() });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      operationId: 'forgetServerAuthorization',
      summary: 'Delete the sign-in to a server',
      description:
        'Its tokens are deleted here, and revoked at their issuer if possible (RFC 7009). Other isolates stop sending them within a minute.',
      answers: { 204: { description: 'Gone.' } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params }) => {
      await services.signIns.forget(principal.workspace, params.server, { keyId: principal.keyId });
      return answer(204, null);
    },
  ),

  definePublicRoute(
    {
      tag: 'Servers',
      path: '/oauth/callback',
      operationId: 'finishSignIn',
      summary: 'Complete a sign-in',
      description: 'For browsers, with the parameters of the authorization server: `code` or `error`, `state`, `iss`.',
      answers: { 200: { description: 'Signed in.', contentType: 'text/html' } },
      problems: ['not_found', 'upstream_error'],
    },
    ({ c, services }) => finish(c, services),
  ),

  definePublicRoute(
    {
      tag: 'Servers',
      path: '/oauth/client.json',
      operationId: 'getClientMetadata',
      summary: 'Client metadata for authorization servers',
      description: 'Its URL is the client id for servers that support it (Client ID Metadata Documents).',
      answers: { 200: { description: 'The document.', schema: ClientMetadata, headers: { 'cache-control': '`no-cache`.' } } },
      problems: ['not_found'],
    },
    ({ services, answer }) => {
      const base = publicBase(services.settings.publicUrl);
      const own = base === null ? null : ownAddresses(base);
      if (own?.metadataUrl == null) throw new Problem('not_found', 'This document requires MONIKER_PUBLIC_URL with https.');
      return answer(200, { client_id: own.metadataUrl, ...clientMetadata(own.redirectUri, 'none') }, { 'cache-control': 'no-cache' });
    },
  ),
];

async function finish(c: AppContext, services: HttpServices): Promise<Response> {
  try {
    const query = new URL(c.req.url).searchParams;
    const state = singleParameter(query, 'state');
    if (state === null) throw new Problem('not_found', 'This URL only completes sign-ins that were started here.');
    const returned = {
      code: singleParameter(query, 'code'),
      iss: singleParameter(query, 'iss'),
      error: singleParameter(query, 'error'),
      errorDescription: singleParameter(query, 'error_description'),
    };
    const { workspace, server, owner } = await services.signIns.finish(state, returned, await browserOf(c));
    if (owner === null) await refresh(services, workspace, server);
    return privateHtmlResponse(owner === null ? signedInPage(server) : connectedPage(server), 200);
  } catch (error) {
    const problem = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, services.log);
    return privateHtmlResponse(notSignedInPage(problem.detail), problem.status);
  }
}

/** The server could not be listed before. Failures are reported by its health, not here. */
async function refresh({ servers, log }: HttpServices, workspace: string, server: string): Promise<void> {
  try {
    await servers(workspace).refresh(server, 'asked');
  } catch (error) {
    log.info('could not refresh a server after signing in', { server, reason: error instanceof Problem ? error.detail : String(error) });
  }
}

/** The result page after a user has signed in to a server, or failed to. */
function signedInPage(server: string): string {
  return page('Signed in', `The server ${server} can be used now. You may close this page.`);
}

/** The same for a user's own account. */
function connectedPage(server: string): string {
  return page('Connected', `Your tool calls use your account at ${server} from now on. You may close this page and make the call again.`);
}

/** `why`: may contain text of another service. */
function notSignedInPage(why: string): string {
  return page('Not signed in', why);
}

function page(title: string, text: string): string {
  return htmlPage(title, `<main class="approval">\n<h1>${title}</h1>\n<p>${escapeInvisible(text)}</p>\n</main>`);
}

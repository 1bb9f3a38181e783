/**
 * The authorization server for MCP clients: metadata, registration, tokens and revocation. Clients call these without a key; browsers may call
 * them from any page, since they read no cookie. `oauth-authorize.ts` has the page that the user accepts.
 */
import * as z from 'zod';
import { KB } from '../../../core/limits/units.ts';
import { readMcpPath } from '../../../core/servers/mcp-resource.ts';
import { nullIfNotFound, Problem } from '../../../core/problem.ts';
import { ToolsetReference } from '../../../core/toolset/toolset.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { isSuccess, limitAttempts } from '../../client-address.ts';
import { oauthIssuer, resourceMetadata, serverMetadata } from '../../oauth-metadata.ts';
import { toProblem } from '../../problems.ts';
import { readStrangersBody } from '../../request-body.ts';
import { OAuthErrorSchema } from '../../problem-schema.ts';
import { type PublicRequest, definePublicRoute } from '../../route.ts';

const maxRegistrationBytes = 16 * KB;
const maxTokenRequestBytes = 32 * KB;

const tag = 'OAuth';
const json = 'application/json';
const Metadata = z.record(z.string(), z.unknown()).meta({ id: 'OAuthMetadata' });
const Tokens = z
  .object({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    expires_in: z.int(),
    refresh_token: z.string(),
    scope: z.string(),
    resource: z.string(),
  })
  .meta({ id: 'OAuthTokens' });
const form = { type: 'application/x-www-form-urlencoded' } as const;
const refused = { description: 'Refused, in the format of OAuth.', schema: OAuthErrorSchema, contentType: json } as const;
const metadataAnswer = { 200: { description: 'The document.', schema: Metadata, contentType: json } } as const;
const problems = ['not_configured', 'rate_limited'] as const;
/** Of the workspace's Catalog. */
const tokenProblems = [...problems, 'unavailable'] as const;

const serverMetadataRoutes = (['oauth-authorization-server', 'openid-configuration'] as const).map((name) =>
  definePublicRoute(
    {
      ...{ tag, problems, answers: metadataAnswer },
      path: `/.well-known/${name}`,
      operationId: name === 'openid-configuration' ? 'getOpenIdConfiguration' : 'getAuthorizationServer',
      summary: 'Metadata of the authorization server',
      description:
        name === 'openid-configuration'
          ? 'The same document with the members that OpenID Connect requires, for clients that look here. No ID tokens are issued.'
          : 'RFC 8414.',
    },
    ({ c }) => {
      const issuer = requireIssuer(c);
      const also = { jwks_uri: `${issuer}/oauth/jwks.json`, subject_types_supported: ['public'] };
      const openId = { ...also, id_token_signing_alg_values_supported: ['RS256'] };
      return c.json({ ...serverMetadata(issuer), ...(name === 'openid-configuration' && openId) });
    },
  ),
);

const toolsetParams = z.object({ toolset: ToolsetReference });
const workspaceParams = z.object({ workspace: z.string(), toolset: ToolsetReference });

const resourceRoutes = [
  { path: '/mcp', operationId: 'getMcpResource', params: z.object({}) },
  { path: '/mcp/{toolset}', operationId: 'getToolsetResource', params: toolsetParams },
  { path: '/mcp/{workspace}/{toolset}', operationId: 'getWorkspaceToolsetResource', params: workspaceParams },
  { path: '/sse', operationId: 'getSseResource', params: z.object({}) },
  { path: '/sse/{toolset}', operationId: 'getToolsetSseResource', params: toolsetParams },
  { path: '/sse/{workspace}/{toolset}', operationId: 'getWorkspaceSseResource', params: workspaceParams },
].map(({ path, operationId, params }) =>
  definePublicRoute(
    {
      ...{ tag, problems, answers: metadataAnswer, operationId, params },
      path: `/.well-known/oauth-protected-resource${path}`,
      summary: 'Metadata of an MCP endpoint as a protected resource',
      description: 'RFC 9728. It does not tell whether the toolset exists.',
    },
    ({ c }) => {
      const endpoint = c.req.path.slice('/.well-known/oauth-protected-resource'.length);
      if (readMcpPath(endpoint) === null) throw new Problem('not_found', 'This is not the path of an MCP endpoint.');
      return c.json(resourceMetadata(requireIssuer(c), endpoint));
    },
  ),
);

export const oauthRoutes = [
  ...serverMetadataRoutes,
  ...resourceRoutes,

  definePublicRoute(
    {
      tag,
      path: '/oauth/jwks.json',
      operationId: 'getSigningKeys',
      summary: 'Signing keys of ID tokens',
      description: 'Empty: no ID tokens are issued. OpenID Connect requires the document.',
      answers: metadataAnswer,
    },
    ({ c }) => c.json({ keys: [] }),
  ),

  definePublicRoute(
    {
      ...{ tag, problems },
      method: 'post',
      path: '/oauth/register',
      operationId: 'registerClient',
      summary: 'Register an MCP client',
      description:
        'RFC 7591. Nothing is stored: the `client_id` contains the metadata and is signed. Redirect URIs are https, http on a loopback address, or of a private-use scheme that the operator allows. Others are left out of the registration and of the response; if none remains: `invalid_redirect_uri` with the reason.',
      rawBody: {
        description: 'The metadata of the client, at most 16 kB.',
        json: z.record(z.string(), z.unknown()).meta({ id: 'OAuthClientMetadata' }),
      },
      answers: { 201: { description: 'Registered.', schema: Metadata, contentType: json }, 400: refused },
    },
    ({ c, services }) =>
      answerOAuth(c, async () => {
        requireIssuer(c);
        const register = async () =>
          await services.oauth.register(new TextDecoder().decode(await readStrangersBody(c, maxRegistrationBytes)));
        // A client registers once.
        return await limitAttempts(c, register, () => false);
      }),
  ),

  definePublicRoute(
    {
      ...{ tag, problems: tokenProblems },
      method: 'post',
      path: '/oauth/token',
      operationId: 'redeemToken',
      summary: 'Exchange a code or a refresh token for tokens',
      description:
        'RFC 6749 with PKCE (S256) and `resource` (RFC 8707). A code works once, and a refresh token until its replacement is used; using one again ends the grant. An access token is valid for an hour, a refresh token for 30 days.',
      rawBody: { description: 'A form.', ...form },
      answers: { 200: { description: 'Tokens.', schema: Tokens, contentType: json }, 400: refused, 401: refused },
    },
    (request) => answerOAuth(request.c, () => limitAttempts(request.c, () => redeem(request, 'token'), isSuccess)),
  ),

  definePublicRoute(
    {
      ...{ tag, problems: tokenProblems },
      method: 'post',
      path: '/oauth/revoke',
      operationId: 'revokeToken',
      summary: 'Revoke a token',
      description: 'RFC 7009. A refresh token ends its grant with all tokens; an access token ends alone, within 30 seconds.',
      rawBody: { description: 'A form.', ...form },
      answers: { 200: { description: 'Revoked, or it was not valid.', contentType: json }, 400: refused, 401: refused },
    },
    (request) => answerOAuth(request.c, () => limitAttempts(request.c, () => redeem(request, 'revoke'), isSuccess)),
  ),
];

/** The field of a form that holds the token, and its kind, for each use. */
const uses = {
  authorization_code: { field: 'code', kinds: ['code'] },
  refresh_token: { field: 'refresh_token', kinds: ['refresh'] },
  revoke: { field: 'token', kinds: ['access', 'refresh'] },
} as const;
const grantTypes = ['authorization_code', 'refresh_token'] as const;

async function redeem({ c, services }: Pick<PublicRequest, 'c' | 'services'>, use: 'token' | 'revoke'): Promise<Response> {
  const issuer = requireIssuer(c);
  const [type = ''] = (c.req.header('content-type') ?? '').toLowerCase().split(';');
  if (type.trim() !== form.type) return oauthError(400, 'invalid_request', `Send the form as ${form.type}.`);
  const sent = new URLSearchParams(new TextDecoder().decode(await readStrangersBody(c, maxTokenRequestBytes)));
  const grantType = sent.get('grant_type') ?? '';
  const known = use === 'revoke' ? use : grantTypes.find((name) => name === grantType);
  if (known === undefined)
    return oauthError(
      400,
      grantType === '' ? 'invalid_request' : 'unsupported_grant_type',
      'grant_type must be authorization_code or refresh_token.',
    );
  const { field, kinds } = uses[known];
  const workspace = await services.workspaceOfToken(sent.get(field) ?? '', kinds);
  const invalid = (): Response =>
    use === 'revoke' ? c.body('', 200, noStore) : oauthError(400, 'invalid_grant', `The ${field} is invalid.`);
  // A forged token costs no request to storage, and no request to the URL of a client.
  if (workspace === null) return invalid();
  const unused = use === 'revoke' ? ['grant_type', 'code', 'refresh_token'] : ['token'];
  const authorization = c.req.header('authorization') ?? null;
  const id = clientIdOf(authorization, sent);
  let client: Awaited<ReturnType<typeof services.oauth.client>>;
  try {
    client = await services.oauth.client(id);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return oauthError(401, 'invalid_client', error.detail);
  }
  const fields = [...sent].filter(([name]) => !unused.includes(name));
  const reply = await nullIfNotFound(services.grants(workspace).redeemToken({ issuer, client, authorization, form: fields }));
  // The workspace was deleted.
  if (reply === null) return invalid();
  return new Response(reply.body, { status: reply.status, headers: [...reply.headers, ...Object.entries(noStore)] });
}

/** `client_secret_basic` (RFC 6749 §2.3.1) has precedence; the library checks the secret. */
function clientIdOf(authorization: string | null, sent: URLSearchParams): string {
  const basic = /^basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1];
  if (basic === undefined) return sent.get('client_id') ?? '';
  try {
    return decodeURIComponent((atob(basic).split(':')[0] ?? '').replaceAll('+', ' '));
  } catch {
    return '';
  }
}

const noStore = { 'cache-control': 'no-store' } as const;

function oauthError(status: number, error: string, description: string): Response {
  return Response.json({ error, error_description: description }, { status, headers: noStore });
}

const errorCodes: Record<number, string> = { 413: 'invalid_request', 429: 'temporarily_unavailable', 503: 'temporarily_unavailable' };

/** Errors of Moniker in the format that OAuth clients read. */
async function answerOAuth(c: AppContext, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const problem = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, c.get('services').log);
    const code = errorCodes[problem.status] ?? (problem.status < 500 ? 'invalid_request' : 'server_error');
    return oauthError(problem.status, code, problem.detail);
  }
}

/** Throws `not_configured`: the issuer of tokens is the URL of the service. */
export function requireIssuer(c: AppContext): string {
  const issuer = oauthIssuer(c.get('services').settings, c.req.url);
  if (issuer !== null) return issuer;
  throw new Problem(
    'not_configured',
    'MCP clients can sign in only if MONIKER_MASTER_KEY is set, and MONIKER_PUBLIC_URL is the https URL of this service.',
  );
}

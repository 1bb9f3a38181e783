/**
 * The clients of the authorization server. A registered client (RFC 7591) is not stored: its id contains its metadata and is signed, so that
 * registrations need no storage and cannot fill it. A client whose id is a URL is read from there (Client ID Metadata Documents).
 */
import { isRecord, tryParse } from '../../core/json/wire-value.ts';
import { Problem, quoted } from '../../core/problem.ts';
import { redirectFault, redirectKind } from '../../core/people/redirect-uri.ts';
import { KB } from '../../core/limits/units.ts';
import type { OAuthClient } from '../../core/people/grant.ts';
import type { JsonSeal } from './checked-request.ts';
import { createClientStore } from './client-store.ts';
import { createAuthorizationServer, noContext } from './library.ts';

/** Clients put the id into URLs. An id with seven redirect URIs has about 500 characters. */
const maxClientIdLength = 2 * KB;
const maxRedirectUris = 20;
const maxNameLength = 200;

/**
 * Registers a client. `body`: its metadata as JSON. Returns the response of RFC 7591, also for invalid metadata. Redirect URIs that no code
 * could be sent to are left out of the registration, and of the response, if others remain. `schemes`: as in `redirectFault`.
 */
export async function registerClient({ ids, schemes }: { ids: JsonSeal; schemes: readonly string[] }, body: string): Promise<Response> {
  const usable = withUsableRedirects(schemes, tryParse(body));
  if ('fault' in usable)
    return Response.json({ error: 'invalid_redirect_uri', error_description: usable.fault }, { status: 400, headers: answerHeaders });
  const { response, saved } = await register(usable.metadata === undefined ? body : JSON.stringify(usable.metadata));
  if (saved === null) return new Response(await response.text(), { status: response.status, headers: answerHeaders });
  const { clientId: _random, ...record } = saved;
  const id = await clientId(ids, record);
  if (id === null || tooLarge(record))
    return Response.json(
      {
        error: 'invalid_client_metadata',
        error_description: `Register at most ${maxRedirectUris} redirect URIs, with a name of at most ${maxNameLength} characters and ${KB} bytes in total.`,
      },
      { status: 400, headers: answerHeaders },
    );
  const answer = (await response.json()) as Record<string, unknown>;
  return Response.json({ ...answer, client_id: id }, { status: 201, headers: answerHeaders });
}

/** Returns the metadata as it can be registered, or why it cannot. The library checks what is not a list of texts. */
function withUsableRedirects(schemes: readonly string[], metadata: unknown): { metadata: unknown } | { fault: string } {
  const uris: unknown = isRecord(metadata) ? metadata.redirect_uris : null;
  if (!isRecord(metadata) || !Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string') || uris.length === 0)
    return { metadata };
  const isPublic = supportsNone(metadata);
  const judged = uris.map((uri) => ({ uri, fault: redirectFault(uri, { schemes, isPublic }) }));
  const usable = judged.filter(({ fault }) => fault === null).map(({ uri }) => uri);
  const refused = judged.find(({ fault }) => fault?.isInvalid === true) ?? (usable.length === 0 ? judged[0] : undefined);
  if (refused !== undefined) return { fault: `The redirect URI ${quoted(refused.uri)} ${refused.fault?.why}.` };
  // The default of RFC 7591 is a secret, which such a client cannot keep.
  const isNative = usable.some((uri) => redirectKind(new URL(uri)) === 'private-use');
  return { metadata: { ...metadata, redirect_uris: usable, ...(isNative && { token_endpoint_auth_method: 'none' }) } };
}

const answerHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };
const idPrefix = 'mcp-';

/** What of a client is needed after its registration, under short names. */
const shortNames = [
  ['r', 'redirectUris'],
  ['n', 'clientName'],
  ['u', 'clientUri'],
  ['m', 'tokenEndpointAuthMethod'],
  ['x', 'authMethodExplicit'],
  ['s', 'clientSecret'],
  ['g', 'grantTypes'],
  ['t', 'responseTypes'],
  ['d', 'registrationDate'],
] as const;

async function clientId(ids: JsonSeal, record: Record<string, unknown>): Promise<string | null> {
  const id = idPrefix + (await ids.seal('', Object.fromEntries(shortNames.map(([short, long]) => [short, record[long]]))));
  return id.length > maxClientIdLength ? null : id;
}

function tooLarge({ redirectUris, clientName }: Record<string, unknown>): boolean {
  return (
    (Array.isArray(redirectUris) && redirectUris.length > maxRedirectUris) ||
    (typeof clientName === 'string' && clientName.length > maxNameLength)
  );
}

/** Returns the client of an id that `registerClient` made; null for any other. */
export async function readRegisteredClient(ids: JsonSeal, id: string): Promise<OAuthClient | null> {
  if (!id.startsWith(idPrefix) || id.length > maxClientIdLength) return null;
  const short = await ids.open('', id.slice(idPrefix.length));
  if (short === null) return null;
  const record = Object.fromEntries(shortNames.flatMap(([name, long]) => (short[name] === undefined ? [] : [[long, short[name]]])));
  // Signed, so the library made it.
  return { ...(record as Omit<OAuthClient, 'clientId'>), clientId: id };
}

/**
 * Checks a Client ID Metadata Document by the rules of a registration. The client has to be public: `private_key_jwt` is not supported.
 * Throws `invalid_request` with the reason.
 */
export async function readMetadataDocument(schemes: readonly string[], url: string, document: unknown): Promise<OAuthClient> {
  const invalid = (why: string): Problem => new Problem('invalid_request', `The metadata document of the client is invalid: ${why}.`);
  if (!isRecord(document)) throw invalid('it is not a JSON object');
  if (document.client_id !== url) throw invalid('its client_id is not its URL');
  if (typeof document.client_name !== 'string' || document.client_name === '') throw invalid('it has no client_name');
  if ('client_secret' in document) throw invalid('it contains a client_secret');
  if (!supportsNone(document))
    throw invalid('the client requires another token_endpoint_auth_method than none, and no other is supported for clients with a URL');
  const { token_endpoint_auth_methods_supported: _methods, ...metadata } = document;
  const usable = withUsableRedirects(schemes, { ...metadata, token_endpoint_auth_method: 'none' });
  if ('fault' in usable) throw invalid(usable.fault);
  const { response, saved } = await register(JSON.stringify(usable.metadata));
  if (saved === null) {
    const { error_description: why } = (await response.json()) as { error_description?: string };
    throw invalid(why ?? 'it was refused');
  }
  if (tooLarge(saved)) throw invalid(`it has more than ${maxRedirectUris} redirect URIs or a longer name than ${maxNameLength} characters`);
  // The record of a registration, as the library made it.
  return { ...(saved as unknown as OAuthClient), clientId: url };
}

/** Lets the library check the metadata. The issuer does not matter for that. */
async function register(body: string): Promise<{ response: Response; saved: Record<string, unknown> | null }> {
  const issuer = 'https://issuer.invalid';
  const store = createClientStore(null);
  const headers = { 'content-type': 'application/json' };
  const request = new Request(`${issuer}/oauth/register`, { method: 'POST', headers, body });
  const response = await createAuthorizationServer(issuer, issuer).fetch(request, { OAUTH_KV: store }, noContext);
  return { response, saved: store.saved };
}

function supportsNone(document: Record<string, unknown>): boolean {
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: methods } = document;
  return method === 'none' || (Array.isArray(methods) && methods.includes('none')) || (method === undefined && methods === undefined);
}

/** An MCP client and a browser for tests of the authorization server, over the HTTP surface with the real Catalog. */
import { createApp } from '../../src/http/app.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { createWiring } from '../../src/wiring/create-wiring.ts';
import { testEnv } from '../storage/workspace.ts';

export const publicUrl = 'https://moniker.example.com';
export const callback = 'https://client.example.com/callback';
export const rootKey = String(testEnv.MONIKER_ROOT_KEY);

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** A service with separate caches, like another isolate. `path`: or a URL of the service. */
export function createService(env: Partial<Bindings> = {}): Fetch {
  return createServiceOf(env).service;
}

export function createServiceOf(env: Partial<Bindings> = {}) {
  const wiring = createWiring({ ...testEnv, MONIKER_PUBLIC_URL: publicUrl, ...env }, { background: () => undefined });
  const app = createApp(() => wiring);
  const service: Fetch = async (path, init = {}) => await app.request(new URL(path, publicUrl).href, { redirect: 'manual', ...init });
  return { service, people: wiring.people };
}

const sameOrigin = { 'sec-fetch-site': 'same-origin' };
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

export async function signIn(service: Fetch): Promise<string> {
  const body = new URLSearchParams({ key: rootKey, to: '/' }).toString();
  const response = await service('/sign-in', { method: 'POST', headers: { ...formType, ...sameOrigin }, body });
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

export async function register(service: Fetch, metadata: object = {}): Promise<Record<string, unknown> & { client_id: string }> {
  const body = JSON.stringify({ client_name: 'Test client', redirect_uris: [callback], token_endpoint_auth_method: 'none', ...metadata });
  const response = await service('/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return (await response.json()) as Record<string, unknown> & { client_id: string };
}

export const verifier = 'a-code-verifier-of-the-tests-with-more-than-43-characters';

export async function challengeOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...digest))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

export async function authorizeQuery(clientId: string, changes: Record<string, string | null> = {}): Promise<string> {
  const fields = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: callback, state: 'state-1', scope: 'tools' },
    ...{ resource: `${publicUrl}/mcp/demo`, code_challenge: await challengeOf(verifier), code_challenge_method: 'S256', ...changes },
  };
  return new URLSearchParams(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null)).toString();
}

/** What the page's form returns. */
export function consentIn(page: string): string {
  return /name="consent" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

/** Opens the consent page and presses a button. Returns the page, and the response to the form. */
export async function consent(service: Fetch, cookie: string, query: string, decision = 'allow') {
  const path = `/oauth/authorize?${query}`;
  const page = await (await service(path, { headers: { cookie } })).text();
  const body = new URLSearchParams({ decision, consent: consentIn(page) }).toString();
  const response = await service(path, { method: 'POST', headers: { ...formType, ...sameOrigin, cookie }, body });
  const location = response.headers.get('location');
  return { page, response, returned: location === null ? new URLSearchParams() : new URL(location).searchParams };
}

export async function post(service: Fetch, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields).toString();
  const response = await service(path, { method: 'POST', headers: { ...formType, ...headers }, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Record<string, string> };
}

/** Registers a client, signs in and connects it. */
export async function connect(service: Fetch, changes: Record<string, string | null> = {}) {
  const client = (await register(service)).client_id;
  const cookie = await signIn(service);
  const { returned } = await consent(service, cookie, await authorizeQuery(client, changes));
  const code = returned.get('code') ?? '';
  const tokens = await redeemCode(service, client, code, typeof changes.resource === 'string' ? { resource: changes.resource } : {});
  return { client, cookie, code, tokens: tokens.body };
}

export async function redeemCode(service: Fetch, client: string, code: string, changes: Record<string, string> = {}) {
  const fields = { grant_type: 'authorization_code', client_id: client, code, redirect_uri: callback, code_verifier: verifier };
  return await post(service, '/oauth/token', { ...fields, resource: `${publicUrl}/mcp/demo`, ...changes });
}

export async function refresh(service: Fetch, client: string, token: string, changes: Record<string, string> = {}) {
  return await post(service, '/oauth/token', { grant_type: 'refresh_token', client_id: client, refresh_token: token, ...changes });
}

/** Lists tools over MCP. */
export async function listTools(service: Fetch, token: string, path = '/mcp/demo'): Promise<Response> {
  return await sendMcp(service, token, path, 'tools/list');
}

export async function sendMcp(service: Fetch, token: string, path: string, method: string, params: object = {}): Promise<Response> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return await service(path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...('name' in params && { 'mcp-name': String(params.name) }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
}

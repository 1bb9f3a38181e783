import { beforeAll, describe, expect, it } from 'vitest';
import {
  authorizeQuery,
  connect,
  consent,
  createService,
  listTools,
  publicUrl,
  redeemCode,
  refresh,
  register,
  rootKey,
  signIn,
} from './oauth-client.ts';

const service = createService();
const admin = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };

beforeAll(async () => {
  for (const name of ['demo', 'other'])
    await service(`/v1/toolsets/${name}`, {
      method: 'PUT',
      headers: admin,
      body: JSON.stringify({ tools: [{ tool: 'local.calculate' }] }),
    });
});

describe('an MCP client that knows only the address', () => {
  it('finds the authorization server from the 401 of the endpoint', async () => {
    const refused = await listTools(service, 'wrong');
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const url = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    expect(url).toBe(`${publicUrl}/.well-known/oauth-protected-resource/mcp/demo`);
    const resource = await (await service(url)).json();
    expect(resource).toMatchObject({ resource: `${publicUrl}/mcp/demo`, authorization_servers: [publicUrl], scopes_supported: ['tools'] });
    const metadata = await (await service('/.well-known/oauth-authorization-server')).json();
    expect(metadata).toMatchObject({
      issuer: publicUrl,
      code_challenge_methods_supported: ['S256'],
      token_endpoint: `${publicUrl}/oauth/token`,
    });
  });

  it('connects: registration, sign-in, consent, tokens, a call', async () => {
    const { client_id: client } = await register(service);
    const query = await authorizeQuery(client);
    const toSignIn = await service(`/oauth/authorize?${query}`);
    expect(toSignIn.status).toBe(303);
    expect(toSignIn.headers.get('location')).toBe(`/sign-in?to=${encodeURIComponent(`/oauth/authorize?${query}`)}`);
    const { page, response, returned } = await consent(service, await signIn(service), query);
    expect(page).toContain('Test client');
    expect(page).toContain('client.example.com');
    expect(page).toContain('calculate');
    expect(response.status).toBe(303);
    expect(returned.get('state')).toBe('state-1');
    expect(returned.get('iss')).toBe(publicUrl);
    const { status, body } = await redeemCode(service, client, returned.get('code') ?? '');
    expect(body).toMatchObject({ token_type: 'bearer', scope: 'tools', resource: `${publicUrl}/mcp/demo`, expires_in: 3600 });
    expect(status).toBe(200);
    const listed = await listTools(service, body.access_token ?? '');
    expect(listed.status).toBe(200);
    expect(await listed.text()).toContain('calculate');
  });

  it('gets new tokens with its refresh token', async () => {
    const { client, tokens } = await connect(service);
    const next = await refresh(service, client, tokens.refresh_token ?? '');
    expect(next.status).toBe(200);
    expect((await listTools(service, next.body.access_token ?? '')).status).toBe(200);
    expect(next.body.refresh_token).not.toBe(tokens.refresh_token);
  });

  it('returns to the client when the user declines', async () => {
    const { client_id: client } = await register(service);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client), 'deny');
    expect(Object.fromEntries(returned)).toMatchObject({ error: 'access_denied', state: 'state-1', iss: publicUrl });
    expect(returned.get('code')).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import type { ServerOAuth } from '../../../src/core/servers/server-oauth.ts';
import { createAuthorizationServer, type AuthorizationServerOptions } from '../../fakes/authorization-server.ts';
import { comeBack, connect, createInstallation, own, problemOf, serverOf, signIn } from './installation.ts';

const url = 'https://mcp.example.com/mcp';
const perUser: ServerOAuth = { grant: 'authorization_code', per: 'user' };

function installed(options: Partial<AuthorizationServerOptions> = {}) {
  const fake = createAuthorizationServer({ issuer: 'https://login.example.com', resource: url, ...options });
  const servers = [serverOf('docs', url, perUser), serverOf('shared', url, { grant: 'authorization_code' })];
  const installation = createInstallation([fake], servers);
  const signIns = installation.isolate();
  const tokens = (owner: string | null, from = signIns, server = servers[0] as ServerAccess) => {
    const made = from.tokens('main', server, owner);
    if (made === null) throw new Error('the server has no oauth');
    return made;
  };
  return { ...installation, fake, signIns, tokens };
}

describe('connections of users', () => {
  it('have a token each, which no other caller and no tool list gets', async () => {
    const { fake, signIns, tokens, isolate } = installed();
    await connect(signIns, fake, 'docs', 'user-ada');
    await connect(signIns, fake, 'docs', 'k2');
    const [ada, key] = [await tokens('user-ada').token(), await tokens('k2').token()];
    expect([fake.takes(ada), fake.takes(key), ada === key]).toEqual([true, true, false]);
    expect(await tokens('user-ada', isolate()).token()).toBe(ada);
    for (const stranger of ['user-ad', 'user-ada2', 'K2', 'root', '', 'webhook:k2', null]) {
      expect(await tokens(stranger).token()).toBeNull();
    }
    // Our client is registered once for all of them.
    expect(fake.registered).toHaveLength(1);
  });

  it('use the sign-in of the workspace for the tool list only', async () => {
    const { fake, signIns, tokens } = installed();
    await signIn(signIns, fake, 'docs');
    expect(fake.takes(await tokens(null).token())).toBe(true);
    expect(await tokens('user-ada').token()).toBeNull();
  });

  it('say where to connect, and that triggers cannot', () => {
    const { tokens, servers } = installed();
    expect(tokens('user-ada').connection).toEqual({ url: 'https://moniker.example.com/connect/docs?workspace=main', isTrigger: false });
    expect(tokens('schedule:nightly').connection).toEqual({ url: null, isTrigger: true });
    expect(tokens(null).connection).toBeUndefined();
    expect(tokens('user-ada', undefined, servers[1]).connection).toBeUndefined();
  });

  it('are completed only by the browser that started them', async () => {
    const { fake, signIns, tokens } = installed();
    const { authorizationUrl } = await signIns.begin('main', 'docs', { ...own, owner: 'k1', browser: 'mine' });
    const back = fake.approve(authorizationUrl);
    for (const browser of [null, 'other', '']) {
      expect(await problemOf(comeBack(signIns, back, browser))).toMatchObject({ code: 'forbidden' });
    }
    expect(fake.grants()).toEqual([]);
    // The attempts of others do not use the sign-in up.
    expect(await comeBack(signIns, back, 'mine')).toEqual({ workspace: 'main', server: 'docs', owner: 'k1' });
    expect(fake.takes(await tokens('k1').token())).toBe(true);
    expect(await problemOf(comeBack(signIns, back, 'mine'))).toMatchObject({ code: 'not_found' });
  });

  it('are renewed once by twenty calls of several isolates, each by its own refresh token', async () => {
    const { fake, signIns, tokens, isolate, pass } = installed({ expiresIn: 100 });
    await connect(signIns, fake, 'docs', 'a');
    await connect(signIns, fake, 'docs', 'b');
    pass(95_000);
    const isolates = [isolate(), isolate(), isolate()];
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) => tokens(index % 2 === 0 ? 'a' : 'b', isolates[index % 3] ?? signIns).token()),
    );
    expect(new Set(all).size).toBe(2);
    expect(all.every((token) => fake.takes(token))).toBe(true);
    expect(fake.grants().filter((grant) => grant === 'refresh_token')).toHaveLength(2);
  });

  it('end for one user only, with its tokens revoked at the issuer', async () => {
    const { fake, signIns, tokens } = installed();
    await connect(signIns, fake, 'docs', 'a');
    await connect(signIns, fake, 'docs', 'b');
    await signIns.forget('main', 'docs', { owner: 'a' });
    expect(await tokens('a').token()).toBeNull();
    expect(fake.takes(await tokens('b').token())).toBe(true);
    expect(fake.revoked).toHaveLength(1);
    expect(await signIns.status('main', 'docs', 'a')).toEqual({ status: 'signed-out' });
    expect(await signIns.status('main', 'docs', 'b')).toMatchObject({ status: 'signed-in' });
  });

  it('stay deleted if they are removed while they are being renewed', async () => {
    const { fake, signIns, tokens, isolate, pass, stored } = installed({ expiresIn: 100 });
    await connect(signIns, fake, 'docs', 'a');
    pass(95_000);
    const options: Partial<AuthorizationServerOptions> = fake.options;
    options.instead = {
      '/token': async () => {
        stored.delete('main/docs of a');
        delete options.instead;
        return Response.json({ access_token: 'late', token_type: 'Bearer', refresh_token: 'later', expires_in: 100 });
      },
    };
    expect(await tokens('a', isolate()).token()).toBeNull();
    expect(stored.has('main/docs of a')).toBe(false);
  });

  it('exist only at servers that users connect to', async () => {
    const { signIns } = installed();
    const begun = signIns.begin('main', 'shared', { ...own, owner: 'a', browser: 'mine' });
    expect(await problemOf(begun)).toMatchObject({ code: 'conflict', detail: expect.stringContaining('one sign-in for the workspace') });
    expect(await problemOf(signIns.forget('main', 'shared', { owner: 'a' }))).toMatchObject({ code: 'conflict' });
  });

  it('are never sent to another URL than the one that they were made for', async () => {
    const { fake, signIns, isolate, servers } = installed();
    await connect(signIns, fake, 'docs', 'a');
    const moved = { ...(servers[0] as ServerAccess), url: 'https://other.example.com/mcp' };
    expect(await isolate().tokens('main', moved, 'a')?.token()).toBeNull();
  });
});

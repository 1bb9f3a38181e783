/** Sign-ins over an in-memory store and the real outbound client, which connects to fake hosts. Several isolates may share the store. */
import { Problem } from '../../../src/core/problem.ts';
import type { Origin } from '../../../src/core/people/principal.ts';
import { secretUseRefusal } from '../../../src/core/secrets/secret.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { connectPageUrl } from '../../../src/core/servers/user-connection.ts';
import type { ServerOAuth } from '../../../src/core/servers/server-oauth.ts';
import { createSignIns, type SignIns } from '../../../src/mcp/oauth/sign-in-service.ts';
import { refuseOtherOrigins } from '../../../src/engine/servers/server-fetch.ts';
import { createOutbound } from '../../../src/net/outbound.ts';
import type { ServerGrant } from '../../../src/ports/catalog.ts';
import type { Clock } from '../../../src/ports/runtime.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createSignInNonce, mintSignInState, readSignInState } from '../../../src/storage/keys/signed-token.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { FakeAuthorizationServer } from '../../fakes/authorization-server.ts';
import { keptLog } from '../../fakes/runtime.ts';

export const redirectUri = 'https://moniker.example.com/oauth/callback';
export const origin: Origin = { keyId: 'k1', at: 0 };
export const own = { redirectUri, metadataUrl: null, origin };

export function serverOf(name: string, url: string, oauth: ServerOAuth | null): ServerAccess {
  return {
    name,
    kind: 'mcp',
    url,
    trusted: false,
    ready: [],
    held: [],
    version: 1,
    connection: null,
    staleAt: null,
    ...(oauth !== null && { mcp: { oauth } }),
  };
}

function placeOf(workspace: string, server: string, keyId: string): string {
  return keyId === '' ? `${workspace}/${server}` : `${workspace}/${server} of ${keyId}`;
}

export function createInstallation(
  fakes: Pick<FakeAuthorizationServer, 'answer'>[],
  servers: ServerAccess[],
  allowPrivateHosts: string[] = [],
  after: Clock['after'] = systemClock.after,
) {
  const stored = new Map<string, ServerGrant>();
  const secrets = new Map<string, { value: string; hosts: string[] }>();
  /** Every URL to which a request was really sent. */
  const sent: string[] = [];
  const log = keptLog();
  let ahead = 0;
  // Time advances by itself, since waiting is part of the flow; a test may also advance it.
  const clock: Clock = { ...systemClock, after, now: () => Date.now() + ahead };
  const outbound = createOutbound({ allowPrivateHosts, publicUrl: null }, async (request) => {
    sent.push(request.url);
    for (const fake of fakes) {
      const answer = await fake.answer(request);
      if (answer !== null) return answer;
    }
    throw new TypeError('no such host');
  });
  const grants = (workspace: string) => ({
    async serverGrant(server: string, keyId = ''): Promise<ServerGrant> {
      await Promise.resolve();
      return stored.get(placeOf(workspace, server, keyId)) ?? { value: null, revision: 0 };
    },
    async saveServerGrant(server: string, { value, revision }: ServerGrant, keyId = ''): Promise<boolean> {
      await Promise.resolve();
      const at = placeOf(workspace, server, keyId);
      if ((stored.get(at)?.revision ?? 0) !== revision) return false;
      stored.set(at, { value, revision: revision + 1 });
      return true;
    },
  });
  const master = createMasterKey('a master key of at least 32 characters');
  const isolate = (): SignIns =>
    createSignIns({
      clock,
      async server(_workspace, name) {
        const server = servers.find((one) => one.name === name);
        if (server === undefined) throw new Problem('not_found', `There is no server "${name}".`);
        return server;
      },
      contextOf: (workspace) => ({
        grants: grants(workspace),
        send: (request, signal) => outbound(request, { purpose: 'server', signal, onHop: refuseOtherOrigins(request.url) }),
        async secret(name, host) {
          const secret = secrets.get(name);
          const refusal = secret === undefined ? 'there is none' : secretUseRefusal(secret, { host });
          if (refusal !== null) throw new Problem('forbidden', `The secret "${name}" cannot be used: ${refusal}.`);
          return secret?.value ?? '';
        },
        clock,
        log,
      }),
      mintState: (state) => mintSignInState(master, state),
      readState: (text) => readSignInState(master, text),
      originRights: async () => ({ scopes: ['admin'] }),
      nonce: createSignInNonce,
      connectUrl: (workspace, server) => connectPageUrl('https://moniker.example.com', workspace, server),
    });
  return {
    isolate,
    servers,
    secrets,
    stored,
    sent,
    log,
    master,
    now: () => clock.now(),
    pass(ms: number): void {
      ahead += ms;
    },
    /** Everything that the log and the readers of grants could have shown. */
    logged: () => JSON.stringify(log.lines),
  };
}

/** The complete flow of a user who consents. */
export async function signIn(signIns: SignIns, issuer: FakeAuthorizationServer, server: string, workspace = 'main'): Promise<void> {
  const { authorizationUrl } = await signIns.begin(workspace, server, own);
  await comeBack(signIns, issuer.approve(authorizationUrl));
}

/** The same for an account of a user or key. */
export async function connect(signIns: SignIns, issuer: FakeAuthorizationServer, server: string, owner: string): Promise<void> {
  const browser = `browser-of-${owner}`;
  const { authorizationUrl } = await signIns.begin('main', server, { ...own, owner, browser });
  await comeBack(signIns, issuer.approve(authorizationUrl), browser);
}

export async function comeBack(
  signIns: SignIns,
  url: URL,
  browser: string | null = null,
): Promise<{ workspace: string; server: string; owner: string | null }> {
  const get = (name: string) => url.searchParams.get(name);
  const returned = { code: get('code'), iss: get('iss'), error: get('error'), errorDescription: get('error_description') };
  return await signIns.finish(get('state') ?? '', returned, browser);
}

/** Returns the problem that the work fails with. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

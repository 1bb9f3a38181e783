/**
 * Signing in with an identity provider. What a sign-in needs between its two requests is in a signed cookie of the browser that began it, so
 * that requests that begin one store nothing, and another browser cannot finish it.
 */
import { equalInConstantTime } from '../core/constant-time.ts';
import { once } from '../core/memoize.ts';
import type { IdentityProvider } from '../core/people/identity-provider.ts';
import { Problem, quoted } from '../core/problem.ts';
import { isValidUntil } from '../core/people/token-times.ts';
import { toBase64Url } from '../core/text/bytes.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock } from '../ports/runtime.ts';
import type { GroupMap } from '../core/people/group-map.ts';
import { type CodeFlow, type GroupedIdentity, type Identity, type PendingSignIn, refused, signInTimeoutMs } from './exchange.ts';

type Seal = { seal(workspace: string, value: object): Promise<string>; open(workspace: string, text: string): Promise<object | null> };

export type IdentityParts = {
  providers: readonly IdentityProvider[];
  outbound: OutboundHttp;
  clock: Clock;
  seal: Seal;
  /** Returns random bits that cannot be guessed. */
  nonce(): string;
  /** Uses up a nonce; true the first time. */
  consumeNonce(nonce: string, expiresAt: number): Promise<boolean>;
};

export type Returned = Record<'code' | 'state' | 'iss' | 'error', string | null>;

export function createIdentity(parts: IdentityParts) {
  const { providers, outbound, clock, seal } = parts;
  /** Imported when the first person signs in. */
  const openId = once(async () => (await import('./oidc.ts')).createOidc({ outbound, now: clock.now }));
  const mapOf = async (provider: IdentityProvider): Promise<GroupMap | null> =>
    provider.groups === null ? null : (await import('../core/people/group-map.ts')).readGroupMap(provider);
  const flowOf = async (id: string): Promise<{ flow: CodeFlow; map: GroupMap | null }> => {
    const provider = providers.find((one) => one.id === id);
    const map = provider === undefined ? null : await mapOf(provider);
    if (provider?.kind === 'oidc') return { flow: (await openId()).flow(provider, map), map };
    if (provider?.kind === 'github')
      return { flow: (await import('./github.ts')).createGitHubFlow(outbound, provider, { readsTeams: map !== null }), map };
    throw new Problem('not_found', `There is no identity provider ${quoted(id)}.`);
  };
  const access = providers.find((one) => one.kind === 'access');

  return {
    /** Those that a person can choose. Cloudflare Access signs people in before they get here. */
    providers: providers.filter(({ kind }) => kind !== 'access').map(({ id, name }) => ({ id, name })),

    usesAccess: access !== undefined,

    /** Returns where to send the browser, and the cookie that it needs to finish. */
    async begin(provider: string, { to, redirectUri }: { to: string; redirectUri: string }): Promise<{ url: string; cookie: string }> {
      const { flow } = await flowOf(provider);
      const until = clock.now() + signInTimeoutMs;
      const verifier = `${parts.nonce()}${parts.nonce()}`;
      const pending: PendingSignIn = { provider, state: parts.nonce(), nonce: parts.nonce(), verifier, to, until };
      const challenge = toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
      return { url: await flow.authorizationUrl(pending, challenge, redirectUri), cookie: await seal.seal('', pending) };
    },

    /** Returns who the person is. Throws `forbidden` with the reason if the provider does not prove it; `to` is then lost. */
    async finish(
      provider: string,
      { cookie, returned, redirectUri }: { cookie: string | null; returned: Returned; redirectUri: string },
    ): Promise<GroupedIdentity & { to: string }> {
      const { flow, map } = await flowOf(provider);
      // Signed here, so it was written by `begin`.
      const pending = cookie === null || cookie.length > maxCookieLength ? null : ((await seal.open('', cookie)) as PendingSignIn | null);
      const isOwn =
        pending?.provider === provider &&
        isValidUntil(pending.until, clock.now(), signInTimeoutMs) &&
        equalInConstantTime(returned.state ?? '', pending.state);
      if (pending === null || !isOwn) throw refused('this sign-in was not begun in this browser, or more than 10 minutes ago. Begin again');
      if (!(await parts.consumeNonce(`signed-in ${pending.state}`, pending.until)))
        throw refused('this sign-in was already completed. Begin again');
      if (returned.error !== null) throw refused(`the identity provider returned ${quoted(returned.error)}`);
      if (returned.code === null) throw refused('the identity provider returned no code');
      const found = await flow.identity(pending, { code: returned.code, iss: returned.iss }, redirectUri);
      return { ...(await withRights(found, provider, map)), to: pending.to };
    },

    /** Returns who the header of Cloudflare Access names; null: Access is not configured, or the header is absent. */
    async access(assertion: string | undefined): Promise<GroupedIdentity | null> {
      if (access === undefined || assertion === undefined) return null;
      const map = await mapOf(access);
      return await withRights(await (await openId()).access(assertion, access, map?.claim), access.id, map);
    },
  };
}

async function withRights({ groups = [], ...identity }: Identity, provider: string, map: GroupMap | null): Promise<GroupedIdentity> {
  if (map === null) return { ...identity, provider };
  const { rightsOfGroups } = await import('../core/people/group-map.ts');
  return { ...identity, provider, byGroups: rightsOfGroups(map, groups) };
}

const maxCookieLength = 8_192;

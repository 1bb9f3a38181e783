/**
 * People who signed in with a browser: the signed value of their cookie, and their principal in a workspace. The signature is verified without
 * I/O. The Catalogs are asked whether the person has signed out and what the person may do, and their responses are cached for
 * `limits.principalTtlMs`, so that both take effect within that time.
 */
import { identityOfProvider } from '../../core/people/identity-provider.ts';
import { limits } from '../../core/limits/limits.ts';
import type { MemberRights } from '../../core/people/member.ts';
import { browserSessionMs, type Person, rootUser } from '../../core/people/person.ts';
import { keyIdOfUser, type Principal, type Role, type User } from '../../core/people/principal.ts';
import { nullIfNotFound, Problem, quoted } from '../../core/problem.ts';
import type { Settings } from '../../core/people/settings.ts';
import { isValidUntil } from '../../core/people/token-times.ts';
import type { CatalogPort, SignedInState } from '../../ports/catalog.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { MasterKey } from '../keys/master-key.ts';
import { rootPrincipal } from './principals.ts';
import { createRootProof } from '../keys/root-proof.ts';
import { createJsonSeal, createSignInNonce } from '../keys/signed-token.ts';
import { createTimedCache } from '../../platform/timed-cache.ts';

/** Longer than any cookie value that `begin` creates. */
const maxCookieLength = 2_048;
const maxCachedPeople = 10_000;

/**
 * What the cookie contains. `root`: proof of the root key, of a person who signed in with it; `provider`: the identity provider that said who
 * the person is, as `identityOfProvider` names it.
 */
type CookieContent = { id: string; until: number; user: User; root?: string; provider?: string };

/** Whom an identity provider has identified. `provider`: its id. `until`: when the sign-in ends at the latest. */
export type IdentifiedUser = { user: User & { email: string }; provider: string; until?: number | undefined };

type PeopleParts = {
  settings: Settings;
  clock: Clock;
  /** The master key, or a key derived from the root key. */
  sealing: MasterKey;
  catalog(workspace: string): Pick<CatalogPort, 'memberRights' | 'signedInState' | 'consumeNonce'>;
};

export function createPeople({ settings, clock, sealing, catalog }: PeopleParts) {
  const seal = createJsonSeal(sealing, 'browser-session');
  const bounds = { maxEntries: maxCachedPeople, now: () => clock.now() };
  const states = createTimedCache<SignedInState>(bounds);
  const rights = createTimedCache<MemberRights | null>(bounds);
  const rootProof = createRootProof(sealing, settings);
  const providers = new Map(settings.identityProviders.map((provider) => [provider.id, identityOfProvider(provider)]));

  /** Members that were just added must not wait, so a state without workspaces is cached for a shorter time. */
  const stateOf = (user: string, session: string | null, maxAgeMs?: number): Promise<SignedInState> =>
    states.load(
      `${user} ${session ?? ''}`,
      async () => {
        const value = await catalog(rootPrincipal.workspace).signedInState(user, session === null ? null : signOutNonce(session));
        return { value, ttlMs: value.workspaces.length === 0 && user !== rootUser.id ? limits.missTtlMs : limits.principalTtlMs };
      },
      maxAgeMs,
    );

  const rightsIn = (workspace: string, user: string, maxAgeMs?: number): Promise<MemberRights | null> =>
    rights.load(
      `${workspace} ${user}`,
      async () => {
        // The workspace may have been deleted.
        const value = await nullIfNotFound(catalog(workspace).memberRights(user));
        return { value, ttlMs: value === null ? limits.missTtlMs : limits.principalTtlMs };
      },
      maxAgeMs,
    );

  const people = {
    /** Signs a person in. Returns the value of the cookie. `null`: with the root key. */
    async begin(identified: IdentifiedUser | null): Promise<string> {
      const own: Pick<CookieContent, 'user' | 'root' | 'provider'> =
        identified === null
          ? { user: rootUser, root: await rootProof.current() }
          : { user: identified.user, provider: providers.get(identified.provider) ?? '' };
      const until = Math.min(identified?.until ?? Number.POSITIVE_INFINITY, clock.now() + browserSessionMs);
      return await seal.seal('', { id: createSignInNonce(), until, ...own } satisfies CookieContent);
    },

    /**
     * Returns the person of a cookie; null if this installation did not sign it, it has expired, or it is of a previous root key or of an identity
     * provider that is not configured any more.
     */
    async read(cookie: string): Promise<Person | null> {
      if (cookie.length > maxCookieLength) return null;
      // Signed here, so it was written by `begin`.
      const content = (await seal.open('', cookie)) as CookieContent | null;
      if (content === null || !isValidUntil(content.until, clock.now(), browserSessionMs)) return null;
      const { id, until, user, root, provider = '' } = content;
      const session = { id, expiresAt: until };
      if (root === undefined)
        return [...providers.values()].includes(provider) ? { user, email: user.email ?? null, isRoot: false, session } : null;
      return (await rootProof.isCurrent(root)) ? { user, email: null, isRoot: true, rootProof: root, session } : null;
    },

    /** Signs out, also other holders of the same cookie. */
    async end({ user, session }: Person): Promise<void> {
      await catalog(rootPrincipal.workspace).consumeNonce(signOutNonce(session.id), session.expiresAt);
      states.invalidate(`${user.id} ${session.id}`);
    },

    /** Whether the person has signed out. `maxAgeMs`: as in `Directory`. */
    isEnded: async ({ user, session }: Person, maxAgeMs?: number): Promise<boolean> =>
      (await stateOf(user.id, session.id, maxAgeMs)).isEnded,

    /** Returns the workspaces in which the person is a member, with the role there. Not for people who signed in with the root key. */
    async workspaces({ id }: Pick<User, 'id'>, maxAgeMs: number = limits.missTtlMs): Promise<{ workspace: string; role: Role }[]> {
      const { workspaces } = await stateOf(id, null, maxAgeMs);
      const found = await Promise.all(
        workspaces.map(async (workspace) => ({ workspace, rights: await rightsIn(workspace, id, maxAgeMs) })),
      );
      return found.flatMap(({ workspace, rights }) => (rights === null ? [] : [{ workspace, role: rights.role }]));
    },

    /**
     * Returns the principal of a person in a workspace; null: `default`, or the first one that the person joined. Throws `forbidden` if the person is not
     * a member, and `unauthenticated` if the person has signed out.
     */
    async principal(person: Person, named: string | null, maxAgeMs?: number): Promise<Principal> {
      const { user, session, isRoot, rootProof: proof } = person;
      const state = await stateOf(user.id, session.id, maxAgeMs);
      if (state.isEnded) throw signedOut();
      if (isRoot) return { ...rootPrincipal, user, ...(proof !== undefined && { rootProof: proof }) };
      const own = (known: readonly string[]): string | undefined =>
        named === null ? (known.find((name) => name === rootPrincipal.workspace) ?? known[0]) : known.find((name) => name === named);
      // Only listed workspaces are asked: names from outside must not create objects.
      const workspace = own(state.workspaces) ?? own((await stateOf(user.id, session.id, limits.missTtlMs)).workspaces);
      const principal = workspace === undefined ? null : await people.member(user, workspace, maxAgeMs);
      if (principal === null) throw notMember(person, named);
      return principal;
    },

    /** Returns the principal of a member, also without a browser; null if the person is not a member. */
    async member(user: User, workspace: string, maxAgeMs?: number): Promise<Principal | null> {
      const found = await rightsIn(workspace, user.id, maxAgeMs);
      return found === null ? null : { workspace, keyId: keyIdOfUser(user.id), ...found, user };
    },
  };
  return people;
}

export type People = ReturnType<typeof createPeople>;

/** Nonces of other purposes have no space. */
function signOutNonce(session: string): string {
  return `signed-out ${session}`;
}

export function signedOut(): Problem {
  return new Problem('unauthenticated', 'You are no longer signed in. Sign in again at /sign-in.', { reason: 'expired' });
}

function notMember({ email }: Person, workspace: string | null): Problem {
  const where = workspace === null ? 'any workspace' : `the workspace ${quoted(workspace)}`;
  return new Problem('forbidden', `${email} is not a member of ${where}. An owner adds members with PUT /v1/members/{member}.`);
}

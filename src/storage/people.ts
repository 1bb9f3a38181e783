/**
 * People who signed in with a browser: the signed value of their cookie, and their principal in a workspace. The cookie is verified without
 * I/O.
 */
import { equalInConstantTime } from '../core/constant-time.ts';
import { browserSessionMs, type Person, rootUser } from '../core/person.ts';
import type { Principal, User } from '../core/principal.ts';
import { Problem } from '../core/problem.ts';
import type { Settings } from '../core/settings.ts';
import { toBase64Url } from '../core/text/bytes.ts';
import type { Clock } from '../ports/runtime.ts';
import { macOf, type MasterKey } from './master-key.ts';
import { rootPrincipal } from './principals.ts';
import { createJsonSeal, createSignInNonce } from './signed-token.ts';

/** Longer than any cookie value that `begin` creates. */
const maxCookieLength = 2_048;

/** What the cookie contains. `root`: proof of the current root key, of a person who signed in with it. */
type CookieContent = { id: string; until: number; user: User; root?: string };

export interface People {
  /** Signs a person in. Returns the value of the cookie. `user: null`: with the root key. */
  begin(user: (User & { email: string }) | null): Promise<string>;
  /** Returns the person of a cookie; null if this installation did not sign it, or it has expired, or is of a previous root key. */
  read(cookie: string): Promise<Person | null>;
  /**
   * Returns the person's principal in a workspace; null: the only one, or `default`. Throws `forbidden` if the person is not a member.
   * `maxAgeMs`: as in `Directory`.
   */
  principal(person: Person, workspace: string | null, maxAgeMs?: number): Promise<Principal>;
}

/** `sealing`: the master key, or a key derived from the root key. */
export function createPeople({ settings, clock, sealing }: { settings: Settings; clock: Clock; sealing: MasterKey }): People {
  const seal = createJsonSeal(sealing, 'browser-session');
  const rootProof = async (): Promise<string> => toBase64Url(await macOf(sealing, '', 'browser-session', `root ${settings.rootKey}`));

  return {
    async begin(user) {
      const until = clock.now() + browserSessionMs;
      const content: CookieContent = {
        id: createSignInNonce(),
        until,
        user: user ?? rootUser,
        ...(user === null && { root: await rootProof() }),
      };
      return await seal.seal('', content);
    },

    async read(cookie) {
      if (cookie.length > maxCookieLength) return null;
      // Signed here, so it was written by `begin`.
      const content = (await seal.open('', cookie)) as CookieContent | null;
      if (content === null || content.until <= clock.now()) return null;
      const { id, until, user, root } = content;
      if (root !== undefined && !equalInConstantTime(root, await rootProof())) return null;
      return { user, email: user.email ?? null, isRoot: root !== undefined, session: { id, expiresAt: until } };
    },

    async principal({ isRoot, email }) {
      if (isRoot) return rootPrincipal;
      throw new Problem('forbidden', `${email} is not a member of a workspace. An owner adds members with PUT /v1/members/{member}.`);
    },
  };
}

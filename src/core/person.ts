/**
 * A person who signed in with a browser, as the browser's cookie says. What the person may do is decided for each workspace
 * (`storage/people.ts`).
 */
import { rootKeyId, type User } from './principal.ts';

export type Person = {
  user: User;
  /** In lower case; null: signed in with the root key. */
  email: string | null;
  /** Signed in with the root key. */
  isRoot: boolean;
  /** Identifies this sign-in, which ends at `expiresAt`. */
  session: { id: string; expiresAt: number };
};

/** How long a person stays signed in. */
export const browserSessionMs = 24 * 60 * 60_000;

export const rootUser: User = { id: rootKeyId, name: 'root' };

/**
 * A person who signed in with a browser, as the browser's cookie says. What the person may do is decided for each workspace
 * (`storage/published/people.ts`).
 */
import { sha256Hex } from '../hash.ts';
import { rootKeyId, type User } from './principal.ts';

export type Person = {
  user: User;
  /** In lower case; null: signed in with the root key. */
  email: string | null;
  /** Signed in with the root key, of which `rootProof` is the proof. */
  isRoot: boolean;
  rootProof?: string;
  /** Identifies this sign-in, which ends at `expiresAt`. */
  session: { id: string; expiresAt: number };
};

/** How long a person stays signed in. */
export const browserSessionMs = 24 * 60 * 60_000;

export const rootUser: User = { id: rootKeyId, name: 'root' };

/**
 * Returns the stable id of a person: of the email, so that a person is the same with every identity provider. Half a digest is opaque and
 * does not collide.
 */
export async function userIdOf(email: string): Promise<string> {
  return (await sha256Hex(`moniker user ${email}`)).slice(0, 32);
}

const maxEmailLength = 254;

/**
 * Returns the email in lower case; null if it is not an address in ASCII. Other letters are refused, because some look like ASCII letters or
 * become one in lower case (U+212A, the Kelvin sign).
 */
export function readEmail(text: string): string | null {
  const isEmail = text.length <= maxEmailLength && /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text);
  return isEmail && !text.includes('..') ? text.toLowerCase() : null;
}

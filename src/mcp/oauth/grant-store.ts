/** Reads and changes the stored grant of a server. Of two concurrent writers, the second reads again and retries. */
import { Problem } from '../../core/problem.ts';
import type { OAuthContext } from './context.ts';
import { parseGrant, type Grant } from './grant.ts';

export type KnownGrant = { grant: Grant; revision: number };

export async function readStoredGrant({ grants, server }: OAuthContext): Promise<KnownGrant> {
  const { value, revision } = await grants.serverGrant(server.name);
  return { grant: parseGrant(value, server), revision };
}

/** Returns false if another write happened since `revision`. */
export async function writeGrant({ grants, server }: OAuthContext, grant: Grant | null, revision: number): Promise<boolean> {
  return await grants.saveServerGrant(server.name, { value: grant === null ? null : JSON.stringify(grant), revision });
}

/** Applies `change` to the current grant; if it returns null, nothing is written. Returns the grant that `change` received. */
export async function changeGrant(context: OAuthContext, change: (grant: Grant) => Grant | null): Promise<Grant> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { grant, revision } = await readStoredGrant(context);
    const changed = change(grant);
    if (changed === null || (await writeGrant(context, changed, revision))) return grant;
  }
  throw new Problem('conflict', `The sign-in to ${context.server.name} is being changed concurrently. Try again.`, { retryable: true });
}

/** Each lost attempt means that another writer has made progress. */
const maxAttempts = 20;

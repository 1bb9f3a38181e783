/** Reading and changing the grant of a server: of two who write at once, one reads again what the other wrote. */
import { Problem } from '../../core/problem.ts';
import type { OAuthContext } from './context.ts';
import { parseGrant, type Grant } from './grant.ts';

export type KnownGrant = { grant: Grant; revision: number };

export async function readGrant({ grants, server }: OAuthContext): Promise<KnownGrant> {
  const { value, revision } = await grants.serverGrant(server.name);
  return { grant: parseGrant(value, server), revision };
}

/** False: somebody else wrote since `revision`. */
export async function writeGrant({ grants, server }: OAuthContext, grant: Grant | null, revision: number): Promise<boolean> {
  return await grants.saveServerGrant(server.name, { value: grant === null ? null : JSON.stringify(grant), revision });
}

/** What `change` makes of the newest one; null leaves it as it is. Gives what `change` was given. */
export async function changeGrant(context: OAuthContext, change: (grant: Grant) => Grant | null): Promise<Grant> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { grant, revision } = await readGrant(context);
    const changed = change(grant);
    if (changed === null || (await writeGrant(context, changed, revision))) return grant;
  }
  throw new Problem('conflict', `The sign-in to ${context.server.name} is being changed by others: try again.`, { retryable: true });
}

/** Each lost one means that somebody else has got on. */
const maxAttempts = 20;

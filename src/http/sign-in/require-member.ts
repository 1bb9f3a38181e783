/** Admits people whom an identity provider has identified: only members may sign in, and the operator's owners become members. */
import { systemKeyId, type User } from '../../core/people/principal.ts';
import { userIdOf } from '../../core/people/person.ts';
import { Problem } from '../../core/problem.ts';
import type { GroupedIdentity } from '../../sign-in/exchange.ts';
import { rootPrincipal } from '../../storage/published/principals.ts';
import type { HttpServices } from '../services.ts';

/** Not from the cache, which may have a refusal from before the person was added. */
const now = -1;

/** Returns the person. Throws `forbidden` if the person is not a member of any workspace. */
export async function requireMember(
  services: Pick<HttpServices, 'people' | 'catalog' | 'directory' | 'settings' | 'clock' | 'log'>,
  { email, name, provider, byGroups }: GroupedIdentity,
): Promise<User & { email: string }> {
  const { people, catalog, settings } = services;
  const user = { id: await userIdOf(email), name: name ?? email, email };
  const { workspace } = rootPrincipal;
  if (settings.ownerEmails.includes(email) && (await people.member(user, workspace)) === null) {
    // Another sign-in of the same person may be first; then nothing is written, or the same.
    await catalog({ workspace, keyId: systemKeyId }).put('member', `owner-${user.id.slice(0, 12)}`, { email, role: 'owner' });
    await people.member(user, workspace, now);
    return user;
  }
  if (byGroups !== undefined) {
    const { writeGroupMembers } = await import('./group-member.ts');
    // The list of a person's workspaces may be a second old.
    if (await writeGroupMembers(services, { user, email, provider, byGroups })) return user;
  }
  if ((await people.workspaces(user, now)).length > 0) return user;
  throw new Problem(
    'forbidden',
    `${email} is not a member of a workspace${byGroups !== undefined ? ', and in none of the groups that give a role' : ''}. Ask an owner to add this email (PUT /v1/members/{member}), then sign in again.`,
  );
}

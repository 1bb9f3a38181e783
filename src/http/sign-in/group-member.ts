/**
 * Makes a person a member of the workspace `default` as groups of the identity provider say, at each sign-in. A member that someone wrote
 * takes precedence, and is never changed.
 */
import type { GroupMembership, Member } from '../../core/people/member.ts';
import type { GroupRights } from '../../core/people/group-map.ts';
import type { User } from '../../core/people/principal.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { CatalogPort } from '../../ports/catalog.ts';

type Found = { user: User; email: string; provider: string; byGroups: GroupRights | null };
type Written = Member & { byGroups: GroupMembership };

/** Returns what was done; null: nothing, so that a sign-in that changes nothing is no change in the audit. */
export async function writeGroupMember(
  catalog: Pick<CatalogPort, 'get' | 'put' | 'remove' | 'memberRights'>,
  { user, email, provider, byGroups }: Found,
  now: number,
): Promise<'given' | 'changed' | 'confirmed' | 'taken' | null> {
  const name = `groups-${user.id.slice(0, 12)}`;
  const stored = await nullIfNotFound(catalog.get('member', name));
  // Bodies were parsed by the schema when they were written.
  const before = stored === null ? null : (stored.body as Partial<Written>);
  const isWritten = before === null ? (await catalog.memberRights(user.id)) !== null : before.byGroups === undefined;
  if (isWritten) return null;
  // Another provider does not know these groups: what they gave lasts until they are asked again.
  if (byGroups === null && before?.byGroups?.provider !== provider) return null;
  if (byGroups === null) {
    await catalog.remove('member', name);
    return 'taken';
  }
  const { role, toolsets, groups, hours } = byGroups;
  const rights = { role, ...(toolsets && { toolsets }) };
  const lasts = hours * 3_600_000;
  const factsOf = (given: Partial<Member>, by: Partial<GroupMembership>): string =>
    JSON.stringify([given.role, given.toolsets, by.provider, by.groups]);
  const isSame = before !== null && factsOf(before, before.byGroups ?? {}) === factsOf(rights, { provider, groups });
  // Half of the time is left: writing it at each sign-in would fill the audit.
  if (isSame && Date.parse(before.byGroups?.until ?? '') - now > lasts / 2) return null;
  const until = new Date(now + lasts).toISOString();
  await catalog.put('member', name, { email, ...rights, byGroups: { provider, groups, until } });
  return before === null ? 'given' : isSame ? 'confirmed' : 'changed';
}

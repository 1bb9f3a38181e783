/**
 * Makes a person a member of workspaces as groups of the identity provider say, at each sign-in. A member that someone wrote takes precedence, and is never
 * changed.
 */
import type { GroupMembership, Member } from '../../core/people/member.ts';
import type { GroupRights, RightsByWorkspace } from '../../core/people/group-map.ts';
import { systemKeyId, type User } from '../../core/people/principal.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { HttpServices } from '../services.ts';

type Found = { user: User; email: string; provider: string; byGroups: GroupRights | null };
type Written = Member & { byGroups: GroupMembership };
type GroupServices = Pick<HttpServices, 'people' | 'catalog' | 'directory' | 'clock' | 'log'>;

/**
 * Also takes away what groups gave in workspaces that the map names no more. Returns whether they give a role anywhere; a workspace that does not exist gives none, and the
 * log names it.
 */
export async function writeGroupMembers(
  { people, catalog, directory, clock, log }: GroupServices,
  { user, provider, byGroups, ...found }: Omit<Found, 'byGroups'> & { byGroups: RightsByWorkspace },
): Promise<boolean> {
  const joined = (await people.workspaces(user, -1)).map(({ workspace }) => workspace);
  const write = async (workspace: string): Promise<boolean> => {
    const rights = byGroups.get(workspace) ?? null;
    // A Catalog of an unknown name must not be created.
    if ((await directory.workspaceStatus(workspace)) !== 'active') {
      if (rights !== null) log.error('groups name a workspace that does not exist', { workspace, provider, groups: rights.groups });
      return false;
    }
    const given = { ...found, user, provider, byGroups: rights };
    const change = await writeGroupMember(catalog({ workspace, keyId: systemKeyId }), given, clock.now());
    if (change === null) return rights !== null;
    log.info('groups changed what a person may do', { user: user.id, workspace, provider, change, role: rights?.role ?? null });
    await people.member(user, workspace, -1);
    return rights !== null;
  };
  return (await Promise.all([...new Set([...byGroups.keys(), ...joined])].map(write))).includes(true);
}

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

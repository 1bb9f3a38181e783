/**
 * What groups of an identity provider give: roles in workspaces, and toolsets. From the setting `MONIKER_<provider>_GROUPS`, which is read when a person
 * signs in.
 */
import * as z from 'zod';
import { tryParse } from '../json/wire-value.ts';
import { Problem } from '../problem.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { GroupMembership } from './member.ts';
import { Role } from './principal.ts';
import { defaultWorkspace, WorkspaceName } from './workspace.ts';

const maxRows = 500;
const maxHours = 30 * 24;
/** Each is asked at each sign-in. */
const maxWorkspaces = 50;

const Row = z
  .strictObject({
    group: z.string().min(1).max(256),
    role: Role,
    workspace: WorkspaceName.default(defaultWorkspace),
    toolsets: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
  })
  .refine(({ role, toolsets }) => toolsets === undefined || role === 'editor' || role === 'user', {
    message: 'owners and approvers have the whole workspace: omit toolsets',
    path: ['toolsets'],
  });

/** Groups of Entra ID, as its claims and Microsoft Graph have them unless names are configured. */
const objectId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * `claim`: of the ID token. `hours`: how long a role lasts that no further sign-in confirms. `overage`: where groups are read that Entra ID leaves out of a
 * token since there are too many; absent: such sign-ins are refused.
 */
const GroupMap = z
  .strictObject({
    claim: z.string().min(1).max(200).default('groups'),
    hours: z.number().min(1).max(maxHours).default(24),
    overage: z.literal('graph').optional(),
    map: z.array(Row).min(1).max(maxRows),
  })
  .refine(({ map }) => new Set(map.map(({ workspace }) => workspace)).size <= maxWorkspaces, {
    message: `names more than ${maxWorkspaces} workspaces`,
    path: ['map'],
  })
  .refine(({ overage, map }) => overage === undefined || map.every(({ group }) => objectId.test(group)), {
    message: 'must have object ids of groups in lower case, because Microsoft Graph returns no names',
    path: ['map'],
  });
export type GroupMap = z.infer<typeof GroupMap>;

/** Returns null if groups of the provider give nothing. Throws `not_configured` for a setting that cannot be read: roles must not be guessed. */
export function readGroupMap({ groups }: Pick<IdentityProvider, 'groups'>): GroupMap | null {
  if (groups === null) return null;
  const read = GroupMap.safeParse(tryParse(groups.text));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the text' : issue.path.join('.');
  throw new Problem('not_configured', `The setting ${groups.setting} cannot be read: ${where}: ${issue?.message ?? 'is not JSON'}.`);
}

/** The names of roles, the one with the most rights first. */
const ranks = Role.options;

/** What a person has by groups. `groups`: those of the map in which the person is. */
export type GroupRights = Pick<GroupMembership, 'groups'> & { role: Role; toolsets?: string[]; hours: number };

/** By workspace; null: nothing. Has every workspace of the map, and `default`. */
export type RightsByWorkspace = ReadonlyMap<string, GroupRights | null>;

/**
 * Returns what these groups give. In each workspace the role with the most rights counts, and the toolsets of all groups that give it; without toolsets if one
 * of them has none. Names are compared exactly, in the same case.
 */
export function rightsOfGroups({ map, hours }: GroupMap, names: readonly string[]): RightsByWorkspace {
  const held = new Set(names);
  const workspaces = new Set([defaultWorkspace, ...map.map(({ workspace }) => workspace)]);
  return new Map(
    [...workspaces].map((workspace) => [
      workspace,
      rightsOfRows(
        map.filter((row) => row.workspace === workspace && held.has(row.group)),
        hours,
      ),
    ]),
  );
}

function rightsOfRows(rows: GroupMap['map'], hours: number): GroupRights | null {
  const role = ranks.find((rank) => rows.some((row) => row.role === rank));
  if (role === undefined) return null;
  const giving = rows.filter((row) => row.role === role);
  const toolsets = giving.every((row) => row.toolsets !== undefined)
    ? Array.from(new Set(giving.flatMap((row) => row.toolsets ?? []))).sort()
    : undefined;
  const groups = Array.from(new Set(rows.map(({ group }) => group))).sort();
  return { role, hours, groups, ...(toolsets && { toolsets }) };
}

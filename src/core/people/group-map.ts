/**
 * What groups of an identity provider give: a role in the workspace `default`, and toolsets. From the setting `MONIKER_<provider>_GROUPS`, which
 * is read when a person signs in.
 */
import * as z from 'zod';
import { tryParse } from '../json/wire-value.ts';
import { Problem } from '../problem.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { GroupMembership } from './member.ts';
import { Role } from './principal.ts';

const maxRows = 500;
const maxHours = 30 * 24;

const Row = z
  .strictObject({
    group: z.string().min(1).max(256),
    role: Role,
    toolsets: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
  })
  .refine(({ role, toolsets }) => toolsets === undefined || role === 'editor' || role === 'user', {
    message: 'owners and approvers have the whole workspace: omit toolsets',
    path: ['toolsets'],
  });

/** `claim`: of the ID token. `hours`: how long a role lasts that no further sign-in confirms. */
const GroupMap = z.strictObject({
  claim: z.string().min(1).max(200).default('groups'),
  hours: z.number().min(1).max(maxHours).default(24),
  map: z.array(Row).min(1).max(maxRows),
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

/**
 * Returns what these groups give; null: nothing. The role with the most rights counts, and the toolsets of all groups that give it; without
 * toolsets if one of them has none. Names are compared exactly, in the same case.
 */
export function rightsOfGroups({ map, hours }: GroupMap, names: readonly string[]): GroupRights | null {
  const held = new Set(names);
  const rows = map.filter(({ group }) => held.has(group));
  const role = ranks.find((rank) => rows.some((row) => row.role === rank));
  if (role === undefined) return null;
  const giving = rows.filter((row) => row.role === role);
  const toolsets = giving.every((row) => row.toolsets !== undefined)
    ? Array.from(new Set(giving.flatMap((row) => row.toolsets ?? []))).sort()
    : undefined;
  const groups = Array.from(new Set(rows.map(({ group }) => group))).sort();
  return { role, hours, groups, ...(toolsets && { toolsets }) };
}

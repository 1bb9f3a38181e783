/** A member of a workspace: a person who may sign in, with a role. The name is chosen by an owner; the email identifies the person. */
import * as z from 'zod';
import { ResourceName } from '../turn/agent.ts';
import { readEmail } from './person.ts';
import { type Principal, Role } from './principal.ts';

export const maxMembers = 1_000;

const names = z.array(z.string().max(100)).max(100).optional();

const GroupMembership = z
  .strictObject({
    provider: z.string().max(100),
    groups: z.array(z.string().max(256)).max(500),
    until: z.iso.datetime(),
  })
  .meta({ id: 'GroupMembership' });
/** `groups`: of the identity provider, in which the person is. The member has no rights after `until`, unless another sign-in moves it. */
export type GroupMembership = z.infer<typeof GroupMembership>;

export const MemberFields = z.strictObject({
  name: ResourceName.optional(),
  email: z
    .string()
    .refine((text) => readEmail(text) !== null, { message: 'must be an email address in ASCII, such as ada@example.com' })
    .transform((text) => text.toLowerCase())
    .meta({ description: 'Stored in lower case. The identity provider of the person must have verified it.' }),
  role: Role.meta({
    description:
      '`owner`: everything in the workspace. `editor`: uses and writes toolsets, agents and skills. `user`: chats and calls tools. `approver`: decides approvals in all sessions.',
  }),
  toolsets: names.meta({ description: 'Restricts the member to these toolsets, as for a key. Absent: all, or those of `agents`.' }),
  agents: names.meta({ description: 'Restricts the member to these agents and to the tools that they use. Absent: all.' }),
  byGroups: GroupMembership.optional().meta({
    description:
      'Written when the person signs in, if groups of the identity provider gave the role: which ones, and until when it lasts without another sign-in.',
  }),
});

export const Member = MemberFields.extend({
  user: z
    .string()
    .optional()
    .meta({ readOnly: true, description: 'Id of the person. The person\u2019s sessions belong to the key `user-<id>`.' }),
})
  .refine(({ role, toolsets, agents }) => (role !== 'owner' && role !== 'approver') || (toolsets === undefined && agents === undefined), {
    message: 'Owners and approvers have the whole workspace: omit toolsets and agents.',
    path: ['role'],
  })
  .meta({ id: 'Member', example: { email: 'ada@example.com', role: 'editor' } });
export type Member = z.infer<typeof Member>;

/** What a member may do in a workspace. `limits`: of the workspace. */
export type MemberRights = Pick<Principal, 'scopes' | 'toolsets' | 'agents' | 'limits'> & { role: Role };

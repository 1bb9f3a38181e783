/** Writes members of the workspace (`core/people/member.ts`), and reads what a person may do. */
import { ResourceName } from '../../../core/turn/agent.ts';
import { maxMembers, Member, type MemberRights } from '../../../core/people/member.ts';
import { userIdOf } from '../../../core/people/person.ts';
import { keyIdOfUser, scopesOfRole } from '../../../core/people/principal.ts';
import { invalidRequest, parseInput } from '../../../core/problem.ts';
import type { SignedInState } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { dropGrantsOf } from '../grants/oauth-records.ts';
import { enqueueCancellation } from '../keys/key-cancellations.ts';
import { dropConnectionsOf } from '../servers/connections.ts';
import { allRows, findRow, requireCapacity } from './documents.ts';
import { callerLimits } from './workspace-settings.ts';
import { checkNameInBody, type DocumentWriter } from './write-document.ts';

export const memberWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { user: _user, ...member } = parseInput(Member, body);
    checkNameInBody(name, member);
    if (previous === null) requireCapacity(context.sql, 'member', maxMembers, 'members');
    const user = await userIdOf(member.email);
    const other = findMember(context.sql, user);
    if (other !== null && other.name !== name)
      throw invalidRequest([{ path: 'email', message: `is already the email of the member ${JSON.stringify(other.name)}` }]);
    const earlier = previous === null || previous.body.user === user ? null : String(previous.body.user);
    return {
      body: { ...member, name, user },
      commit: () => {
        // The person is a member again: what is left to cancel of an earlier removal must not end new turns.
        context.sql.exec('DELETE FROM key_cancellations WHERE key_id = ?', keyIdOfUser(user));
        if (earlier !== null) endAccess(context, earlier);
      },
    };
  },

  prepareRemoval: async (context, name) => {
    const user = findRow(context.sql, 'member', name)?.body.user;
    return () => endAccess(context, String(user));
  },
};

/** Ends the turns and the MCP clients of a person who is not a member any more, and forgets their accounts at servers. */
function endAccess(context: CatalogContext, user: string): void {
  dropConnectionsOf(context.sql, keyIdOfUser(user));
  dropGrantsOf(context, user);
  enqueueCancellation(context, keyIdOfUser(user));
}

/** Returns null for a person who is not a member of this workspace. */
export function memberRights({ sql, now }: CatalogContext, user: string): MemberRights | null {
  const found = findMember(sql, user);
  if (found === null) return null;
  const { role, toolsets, agents, byGroups } = found.member;
  // The person may have left the groups meanwhile.
  if (byGroups !== undefined && Date.parse(byGroups.until) <= now()) return null;
  return { role, scopes: scopesOfRole[role], ...(toolsets && { toolsets }), ...(agents && { agents }), ...callerLimits(sql) };
}

/** Returns since when a person is a member of this workspace; null: not a member. */
export function memberSince({ sql }: CatalogContext, user: string): number | null {
  const found = findMember(sql, user);
  return found === null ? null : (findRow(sql, 'member', found.name)?.createdAt ?? null);
}

/** Ids of all members, for the list in the workspace `default`. */
export function memberUsers({ sql }: CatalogContext): string[] {
  return allRows(sql, 'member').map(({ body }) => String(body.user));
}

function findMember(sql: SqlStorage, user: string): { name: string; member: Member } | null {
  // The condition and the expression of the index `members_by_user`. A body is overwritten before it is deleted.
  const query =
    "SELECT name, body FROM documents WHERE kind = 'member' AND deleted = 0 AND json_extract(CASE WHEN json_valid(body) THEN body END, '$.user') = ?";
  const row = sql.exec<{ name: string; body: string }>(query, user).toArray()[0];
  // Bodies were parsed by the schema when they were written.
  return row === undefined ? null : { name: row.name, member: JSON.parse(row.body) as Member };
}

/** A person can be a member of more workspaces, and names them with `x-moniker-workspace`. */
const maxShownWorkspaces = 200;

/**
 * `signOutNonce`: of the sign-in; null: it does not matter. In the order of joining: the owner of another workspace, who can add anyone, must
 * not change the one in which a person acts without naming it.
 */
export function signedInState({ sql, workspace: own }: CatalogContext, user: string, signOutNonce: string | null): SignedInState {
  const isEnded = signOutNonce !== null && sql.exec('SELECT 1 FROM spent WHERE nonce = ?', signOutNonce).toArray().length > 0;
  const query = 'SELECT workspace FROM joined WHERE user = ? ORDER BY number LIMIT ?';
  const listed = sql
    .exec<{ workspace: string }>(query, user, maxShownWorkspaces)
    .toArray()
    .map(({ workspace }) => workspace);
  // The list is published a second after a change; the members of this workspace are known.
  const others = listed.filter((workspace) => workspace !== own);
  return { isEnded, workspaces: findMember(sql, user) === null ? others : [own, ...others] };
}

export function setMembersOf(context: CatalogContext, workspace: string, users: readonly string[]): void {
  context.record(() => {
    const list = JSON.stringify(users.slice(0, maxMembers));
    context.sql.exec('DELETE FROM joined WHERE workspace = ? AND user NOT IN (SELECT value FROM json_each(?))', workspace, list);
    context.sql.exec('INSERT OR IGNORE INTO joined (user, workspace) SELECT value, ? FROM json_each(?)', workspace, list);
  });
}

/** `/v1/grants`: the MCP clients that people have connected. A person sees and ends their own; the scope `admin` all of the workspace. */
import * as z from 'zod';
import { isAllowed, requireAllowed } from '../../../core/people/authority.ts';
import { GrantView } from '../../../core/people/grant.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const params = z.object({
  grant: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .meta({ description: 'Id of the grant.' }),
});
const common = { tag: 'OAuth', scopes: ['tools', 'admin'] } as const;

export const grantRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/grants',
      operationId: 'listGrants',
      summary: 'List the connected MCP clients',
      description: 'Newest first. A person sees their own, keys with the scope `admin` all of the workspace.',
      query: PageQuery,
      answers: { 200: { description: 'A page of grants.', schema: pageOf(GrantView) } },
    },
    async ({ answer, services, principal, query }) => answer(200, await services.grants(principal).grants(query, ownerOf(principal))),
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/grants/{grant}',
      operationId: 'endGrant',
      summary: 'Disconnect an MCP client',
      description: `Its tokens are rejected everywhere within ${limits.principalTtlMs / 1000} seconds. The user has to sign in again.`,
      params,
      answers: { 204: { description: 'Ended.' } },
    },
    async ({ answer, services, principal, params: { grant } }) => {
      await services.grants(principal).endGrant(grant, ownerOf(principal));
      return answer(204, null);
    },
  ),
];

/** Returns whose grants the caller may see; null: of everyone. A key without the scope `admin` has none. */
function ownerOf(principal: Principal): string | null {
  const { user } = principal;
  if (user !== undefined && !isAllowed(principal, { act: 'manage-grant', isOwn: false })) return user.id;
  requireAllowed(principal, { act: 'manage-grant', isOwn: false });
  return null;
}

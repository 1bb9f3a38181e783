/** `/v1/audit`: one row for every call, refusal, approval decision and change of the configuration. Read-only. */
import { z } from 'zod';
import { AuditEntry } from '../../core/audit.ts';
import { pageFields, pageOf } from '../paging.ts';
import { defineRoute, type Route } from '../route.ts';

const AuditQuery = z.strictObject({
  ...pageFields,
  session: z.string().max(200).optional(),
  kind: z.enum(['call', 'change']).optional().meta({
    description:
      '`call`: calls and approval decisions; `change`: changes of keys, secrets, policy, servers, toolsets and so on. Default: both.',
  }),
  tool: z.string().max(192).optional().meta({ description: 'Canonical name.', example: 'builtin.bash' }),
});

export const auditRoutes: readonly Route[] = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary: 'List tool calls, rejections, approval decisions and configuration changes, newest first',
      description:
        'A call that may have an effect has its row before the effect, with verdict `outcome_unknown` until its outcome is recorded. A change is recorded in the transaction that makes it. Rows contain a hash of the arguments, and no secret or key values.',
      scopes: ['admin'],
      workspace: 'Audit rows',
      query: AuditQuery,
      answers: { 200: { description: 'A page of rows.', schema: pageOf(AuditEntry) } },
    },
    async ({ answer, services, principal, query }) => answer(200, await services.catalog(principal).audit(query)),
  ),
];

/** `/v1/audit`: one row for every call, refusal, approval decision and change of the configuration. Read-only. */
import * as z from 'zod';
import { AuditEntry, AuditFilter, AuditVerification, UnreadableLog } from '../../../core/records/audit.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const leftOut = z.array(UnreadableLog).meta({
  description: 'Logs that cannot be read, because their databases are damaged: the page lacks their rows. Empty: the page is complete.',
});

export const auditRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary: 'List tool calls, rejections, approval decisions and configuration changes, newest first',
      description:
        'A call that may have an effect has its row before the effect, with verdict `outcome_unknown` until its outcome is recorded. A change is recorded in the transaction that makes it. Rows contain a hash of the arguments, and no secret or key values. A request reads a limited number of rows: with filters, a page can be short or empty while `nextCursor` is set.',
      scopes: ['admin'],
      workspace: 'Audit rows',
      query: AuditFilter.extend(pageFields),
      answers: { 200: { description: 'A page of rows.', schema: pageOf(AuditEntry).extend({ leftOut }) } },
    },
    async ({ answer, services, principal, query }) => {
      if (query.from !== undefined && query.to !== undefined && query.from > query.to)
        throw invalidRequest([{ path: 'to', message: 'is before `from`' }]);
      return answer(200, await services.audit(principal.workspace).list(query));
    },
  ),
  defineRoute(
    {
      method: 'get',
      path: '/v1/audit/verify',
      operationId: 'verifyAudit',
      tag: 'Audit',
      summary: 'Check that no audit row was changed, removed or inserted',
      description:
        'The audit consists of several logs. Each row has a hash of its content and of the row before it, and the newest rows are signed every minute. A request checks a limited number of rows; continue with `nextCursor` until it is null. A log is checked up to its first broken row; the others are checked, too. Rows of releases before the signed logs are not checked.',
      scopes: ['admin'],
      workspace: 'Audit rows',
      query: z.strictObject({ cursor: pageFields.cursor }),
      answers: { 200: { description: 'The result.', schema: AuditVerification } },
    },
    async ({ answer, services, principal, query }) => answer(200, await services.audit(principal.workspace).verify(query.cursor)),
  ),
];

/** `/v1/audit`: one row for every call, refusal, approval decision and change of the configuration. Read-only. */
import { z } from 'zod';
import { AuditEntry, AuditRow, AuditVerification } from '../../../core/records/audit.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const name = z.string().min(1).max(200).optional();
const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .optional();

const AuditQuery = z.strictObject({
  ...pageFields,
  from: time.meta({ description: 'Only entries of this time and later (ISO 8601).', example: '2026-01-01T00:00:00Z' }),
  to: time.meta({ description: 'Only entries up to this time, inclusive.', example: '2026-02-01T00:00:00Z' }),
  kind: z.enum(['call', 'change']).optional().meta({
    description:
      '`call`: calls and approval decisions; `change`: changes of keys, secrets, policy, servers, toolsets and so on. Default: both.',
  }),
  session: name,
  tool: name.meta({ description: 'Canonical name, or the called name if it matched no tool.', example: 'builtin.bash' }),
  verdict: AuditRow.shape.verdict.optional(),
  code: AuditRow.shape.code.unwrap().optional(),
  key: name.meta({ description: 'Id of the key.', example: 'root' }),
  agent: name.meta({ description: 'Name of the agent.', example: 'helper' }),
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
      query: AuditQuery,
      answers: { 200: { description: 'A page of rows.', schema: pageOf(AuditEntry) } },
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
        'The audit consists of several logs. Each row has a hash of its content and of the row before it, and the newest rows are signed every minute. A request checks a limited number of rows and stops at the first broken row; continue with `nextCursor` until it is null. Rows of releases before the signed logs are not checked.',
      scopes: ['admin'],
      workspace: 'Audit rows',
      query: z.strictObject({ cursor: pageFields.cursor }),
      answers: { 200: { description: 'The result.', schema: AuditVerification } },
    },
    async ({ answer, services, principal, query }) => answer(200, await services.audit(principal.workspace).verify(query.cursor)),
  ),
];

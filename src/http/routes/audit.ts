/** `/v1/audit`: one row for every call, refusal and word on an approval. Append-only: there is nothing to write here. */
import { z } from 'zod';
import { AuditRow } from '../../core/audit.ts';
import { pageFields, pageOf } from '../paging.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';

const AuditQuery = z.strictObject({
  ...pageFields,
  session: z.string().max(200).optional(),
  tool: z.string().max(192).optional().meta({ description: 'Canonical name.', example: 'builtin.bash' }),
});

export function mountAudit(app: App): void {
  mount(
    app,
    {
      method: 'get',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary: 'Every tool call, refusal and word on an approval, newest first',
      scopes: ['admin'],
      workspace: 'Audit rows',
      query: AuditQuery,
      answers: { 200: { description: 'A page of rows.', schema: pageOf(AuditRow) } },
    },
    async ({ c, services, principal, query }) => c.json(await services.catalog(principal.workspace).audit(query)),
  );
}

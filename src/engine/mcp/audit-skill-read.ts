/** Records reads of the skills of a toolset (`serve-skills.ts`), which call no server. */
import { auditCall, createAuditTrail } from '../call/audit-call.ts';
import type { ServeCallDeps, ServedCaller } from './serve-call.ts';

/**
 * Writes a read to the audit as a call of `builtin.<method>`, for which the URI was requested. Throws `unavailable` if it cannot be written: then the client must
 * not get what was read.
 */
export async function auditSkillRead(
  deps: Pick<ServeCallDeps, 'audit' | 'callDeps' | 'ids'>,
  { principal: { workspace, keyId }, view }: Pick<ServedCaller, 'principal' | 'view'>,
  method: 'resources/read' | 'skills/get',
  uri: string,
): Promise<void> {
  const call = deps.callDeps(workspace);
  const trail = createAuditTrail((rows) => deps.audit(workspace, rows), call.log);
  const scope = { keyId, session: null, turn: null, edition: view.pointer, audit: trail.audit };
  const request = { callId: deps.ids.next('call'), requested: uri, arguments: { uri } };
  const named = { requested: uri, canonical: `builtin.${method}`, via: 'own' } as const;
  await auditCall(call, scope, request, { ...named, ran: true, durationMs: 0, result: { isError: false, content: [] } });
  await trail.written();
}

/** Evaluates the policy for a direct call on the session's files, with the session's taint marks. Changes nothing in the session. */
import type { PolicyAnswer } from '../core/policy/explain.ts';
import { resolvedTool } from '../engine/direct-call.ts';
import { explainCall } from '../engine/policy/explain-policy.ts';
import type { SessionExplainRequest } from '../ports/session.ts';
import { withSkillFiles } from '../storage/skill-files.ts';
import type { DirectCallDoor } from './direct-call-door.ts';

export async function explainInSession(
  door: DirectCallDoor,
  { plan, name, arguments: args, agent, key }: SessionExplainRequest,
): Promise<PolicyAnswer> {
  const scope = {
    rules: door.rules,
    keyId: key ?? door.keyId,
    taint: door.room.taint,
    ...(plan.taint !== undefined && { taintRule: plan.taint }),
    ...(plan.caller !== undefined && { caller: plan.caller }),
    ...(agent !== undefined && { agent }),
    files: withSkillFiles(door.room.files, door.skills),
    names: door.names,
  };
  return await explainCall(door.deps, scope, resolvedTool(door.names, name), args, new AbortController().signal);
}

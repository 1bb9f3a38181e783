/** Evaluates the policy for a direct call on the session's files, with the session's taint marks. Changes nothing in the session. */
import type { PolicyAnswer } from '../../core/policy/explain.ts';
import { requireResolvedTool } from '../../engine/call/direct-call.ts';
import { explainCall } from '../../engine/policy/explain-policy.ts';
import type { SessionExplainRequest } from '../../ports/session.ts';
import { withSkillFiles } from '../../storage/skill-files.ts';
import type { DirectCallContext } from './direct-call-context.ts';

export async function explainInSession(
  context: DirectCallContext,
  { plan, name, arguments: args, agent, key }: SessionExplainRequest,
): Promise<PolicyAnswer> {
  const scope = {
    rules: context.rules,
    keyId: key ?? context.keyId,
    taint: context.openSession.taint,
    ...(plan.taint !== undefined && { taintRule: plan.taint }),
    ...(plan.caller !== undefined && { caller: plan.caller }),
    ...(agent !== undefined && { agent }),
    files: withSkillFiles(context.openSession.files, context.skills),
    names: context.names,
  };
  return await explainCall(context.deps, scope, requireResolvedTool(context.names, name), args, new AbortController().signal);
}

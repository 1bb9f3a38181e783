/** A call without a session (`…/calls`): scratch files, nothing can wait, audited before it answers. */
import { callerFields, type Principal } from '../core/principal.ts';
import { limits } from '../core/limits.ts';
import type { AuditRow } from '../core/audit.ts';
import type { Issue } from '../core/problem.ts';
import type { Via } from '../core/message.ts';
import type { Directory } from '../ports/catalog.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { Ids } from '../ports/runtime.ts';
import { callToolNow } from './call-tool.ts';
import { sentArguments } from './entry-call.ts';
import { foresee } from './foresee.ts';
import { inspectCall } from './judge-call.ts';
import { asServed } from './served-tool.ts';
import type { CallDeps, ToolCallAnswer } from './tool-call.ts';
import { planNames } from './plan-names.ts';
import { readToolset } from './plan-turn.ts';

/** `toolset` is a name, or `name@version`. */
export type DirectCall = { toolset: string; name: string; arguments: Record<string, unknown> };

export type DryRun = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  valid: boolean;
  issues: Issue[];
  verdict: 'allow' | 'ask' | 'deny' | 'unknown_tool' | 'ambiguous_tool' | 'tool_held';
};

export type DirectCallDeps = {
  call: CallDeps;
  ids: Ids;
  directory: Directory;
  aliases: boolean;
  scratchFiles(): FileSystem;
  audit(rows: AuditRow[]): Promise<void>;
};

export async function callDirectly(
  deps: DirectCallDeps,
  principal: Principal,
  call: DirectCall,
  signal: AbortSignal,
): Promise<ToolCallAnswer & { callId: string }> {
  const { pointer, names } = await readToolset(deps.directory, principal, call.toolset);
  const callId = deps.ids.next('call');
  const offered = planNames(names, { aliases: deps.aliases, allow: null });
  const scope = {
    keyId: principal.keyId,
    caller: callerFields(principal),
    session: null,
    turn: null,
    names: () => offered,
    edition: pointer,
    files: deps.scratchFiles(),
    results: null,
    rules: await deps.directory.rules(principal.workspace),
    canWait: false,
    timeoutMs: limits.toolTimeoutMs,
    audit: (row: Omit<AuditRow, 'sequence'>) => deps.audit([{ ...row, sequence: null }]),
  };
  return { callId, ...(await callToolNow(deps.call, scope, { callId, requested: call.name, arguments: call.arguments }, signal)) };
}

/** What a call would come to, as far as that can be said without running it. */
export async function dryRunCall(
  deps: Pick<DirectCallDeps, 'call' | 'directory' | 'aliases'>,
  principal: Principal,
  call: DirectCall,
): Promise<DryRun> {
  const { names } = await readToolset(deps.directory, principal, call.toolset);
  const offered = planNames(names, { aliases: deps.aliases, allow: null });
  const { resolution, issues, denied } = inspectCall(offered, call.name, call.arguments, callerFields(principal));
  if (!resolution.ok) return { requested: call.name, canonical: null, via: null, valid: false, issues: [], verdict: resolution.code };
  const { canonical, via, tool } = resolution;
  const answer = { requested: call.name, canonical, via, valid: issues.length === 0, issues };
  if (tool.state === 'held') return { ...answer, verdict: 'tool_held' };
  if (tool.state === 'missing' || tool.kind === 'ui' || denied) return { ...answer, verdict: 'deny' };
  const served = await asServed(deps.call, tool);
  if (!served.ok) return { ...answer, verdict: served.result.code === 'tool_held' ? 'tool_held' : 'deny' };
  const sent = sentArguments(tool, call.arguments, callerFields(principal));
  const rules = await deps.directory.rules(principal.workspace);
  const scope = { rules, keyId: principal.keyId, files: null };
  return { ...answer, verdict: foresee(deps.call, scope, served.tool, sent).verdict };
}

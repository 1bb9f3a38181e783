/** A call without a session (`…/calls`): it works on scratch files and cannot wait. Its intent is audited before an effect, its outcome before the response. */
import { buildAliasMap, resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { compileEdition } from '../../core/toolset/edition.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { Toolset } from '../../core/toolset/toolset.ts';
import { callerFields, type Principal } from '../../core/principal.ts';
import { limits } from '../../core/limits.ts';
import type { AuditRow } from '../../core/audit.ts';
import type { PolicyAnswer } from '../../core/policy/explain.ts';
import { Problem, type Issue } from '../../core/problem.ts';
import type { Via } from '../../core/turn/message.ts';
import type { Directory } from '../../ports/catalog.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Ids } from '../../ports/runtime.ts';
import { createAuditTrail } from './audit-trail.ts';
import { callToolNow } from './call-tool.ts';
import { sentArguments } from './entry-call.ts';
import { explainCall } from '../policy/explain-policy.ts';
import { type MarkStore, openMarks } from '../policy/direct-marks.ts';
import { predictPolicy } from '../policy/predict-policy.ts';
import { inspectCall } from './check-call.ts';
import { withServerState } from './server-state.ts';
import type { CallDeps, ToolCallAnswer } from './tool-call.ts';
import { planNames } from '../plan/plan-names.ts';
import { allowOf } from '../plan/agent-list.ts';
import { readToolset } from '../plan/read-toolset.ts';

/** `toolset`: a name, or `name@version`. `inSession`: for a dry run, whether the call would be made in a session. */
export type DirectCall = { toolset: string; name: string; arguments: Record<string, unknown>; inSession?: boolean };

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
  /** The taint marks of a key's calls with one toolset. */
  marks(principal: Pick<Principal, 'workspace' | 'keyId'>, toolset: string): MarkStore;
  audit(rows: AuditRow[]): Promise<void>;
};

export async function callOutsideSession(
  deps: DirectCallDeps,
  principal: Principal,
  call: DirectCall,
  signal: AbortSignal,
): Promise<ToolCallAnswer & { callId: string }> {
  const { pointer, names, list } = await readToolset(deps.directory, principal, call.toolset);
  const callId = deps.ids.next('call');
  const offered = planNames(names, { aliases: deps.aliases, ...allowOf(list) });
  const trail = createAuditTrail(deps.audit, deps.call.log);
  const marks = await openMarks(deps.marks(principal, pointer.toolset), deps.call, findNamedTool(offered, call.name));
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
    taint: marks.taint,
    begin: trail.begin,
    audit: trail.audit,
  };
  const answer = await callToolNow(deps.call, scope, { callId, requested: call.name, arguments: call.arguments }, signal);
  const [settled] = await Promise.all([marks.settle({ answer }), trail.written()]);
  return { callId, ...settled.answer };
}

/** A call by name in a toolset, or in a table of `definitions` (the first one and the tools that it uses). `agent`, `key`: as if they made the call. */
export type ExplainedCall = { name: string; arguments: Record<string, unknown>; agent?: string; key?: string } & (
  | { toolset: string; definitions?: undefined }
  | { toolset?: undefined; definitions: readonly ToolDefinition[] }
);

/** Returns the policy's answer for a call, judged on an empty file system. */
export async function explainDirectCall(
  deps: Pick<DirectCallDeps, 'call' | 'directory' | 'aliases' | 'scratchFiles' | 'marks'>,
  principal: Principal,
  asked: ExplainedCall,
): Promise<PolicyAnswer> {
  const toolset = asked.toolset === undefined ? null : await readToolset(deps.directory, principal, asked.toolset);
  const map = toolset?.names ?? (await namesOf(principal.workspace, asked.definitions ?? []));
  const names = planNames(map, { aliases: deps.aliases, ...allowOf(toolset?.list ?? null) });
  const tool = requireResolvedTool(names, asked.name);
  const keyId = asked.key ?? principal.keyId;
  const store = toolset === null ? null : deps.marks({ ...principal, keyId }, toolset.pointer.toolset);
  const scope = {
    rules: await deps.directory.rules(principal.workspace),
    keyId,
    ...(store !== null && { taint: (await openMarks(store, deps.call, tool)).taint }),
    caller: callerFields(principal),
    files: deps.scratchFiles(),
    isScratch: true,
    names,
    ...(asked.agent !== undefined && { agent: asked.agent }),
  };
  return await explainCall(deps.call, scope, tool, asked.arguments, new AbortController().signal);
}

/** Returns the names of a toolset that lists only the first definition. */
async function namesOf(workspace: string, definitions: readonly ToolDefinition[]): Promise<AliasMap> {
  const byName = new Map<string, ToolDefinition>(definitions.map((definition) => [definition.canonical, definition]));
  const known = { get: (name: string) => byName.get(name), all: () => byName.values(), hasServer: () => true };
  const toolset = Toolset.parse({ tools: definitions.slice(0, 1).map(({ canonical }) => ({ tool: canonical, aliases: [] })) });
  const { edition } = await compileEdition({ workspace, name: 'policy-test', toolset, known });
  return buildAliasMap(edition, { aliases: false });
}

/** Returns null when the name does not resolve to a tool. */
export function findNamedTool(names: AliasMap, name: string): EditionTool | null {
  const resolution = resolveName(names, name);
  return resolution.ok ? resolution.tool : null;
}

/** Returns the tool that a name resolves to. Throws `ambiguous_tool` or `unknown_tool`. */
export function requireResolvedTool(names: AliasMap | null, requested: string): EditionTool {
  const resolution = names === null ? null : resolveName(names, requested);
  if (resolution?.ok === true) return resolution.tool;
  if (resolution?.code === 'ambiguous_tool')
    throw new Problem('ambiguous_tool', `"${requested}" matches more than one tool. Use one of the candidates.`, {
      requested,
      candidates: resolution.candidates,
    });
  throw new Problem('unknown_tool', `There is no tool "${requested}" here.`, {
    requested,
    suggestions: resolution?.suggestions ?? [],
  });
}

/** Returns the verdict that a call would get, as far as it can be predicted without running it. */
export async function dryRunCall(
  deps: Pick<DirectCallDeps, 'call' | 'directory' | 'aliases' | 'marks'>,
  principal: Principal,
  call: DirectCall,
): Promise<DryRun> {
  const { names, list, pointer } = await readToolset(deps.directory, principal, call.toolset);
  const offered = planNames(names, { aliases: deps.aliases, ...allowOf(list) });
  const { resolution, issues, denied } = inspectCall(offered, call.name, call.arguments, callerFields(principal));
  if (!resolution.ok) return { requested: call.name, canonical: null, via: null, valid: false, issues: [], verdict: resolution.code };
  const { canonical, via, tool } = resolution;
  const answer = { requested: call.name, canonical, via, valid: issues.length === 0, issues };
  if (tool.state === 'held') return { ...answer, verdict: 'tool_held' };
  if (tool.state === 'missing' || tool.kind === 'ui' || denied) return { ...answer, verdict: 'deny' };
  const served = await withServerState(deps.call, tool);
  if (!served.ok) return { ...answer, verdict: served.result.code === 'tool_held' ? 'tool_held' : 'deny' };
  const sent = sentArguments(tool, call.arguments, callerFields(principal));
  const rules = await deps.directory.rules(principal.workspace);
  const marks = call.inSession === true ? null : await openMarks(deps.marks(principal, pointer.toolset), deps.call, served.tool);
  const scope = { rules, keyId: principal.keyId, files: null, ...(marks !== null && { taint: marks.taint }) };
  return { ...answer, verdict: predictPolicy(deps.call, scope, served.tool, sent).verdict };
}

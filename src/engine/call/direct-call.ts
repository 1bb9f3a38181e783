/** A call without a session (`…/calls`): it works on scratch files and cannot wait. Its intent is audited before an effect, its outcome before the response. */
import { buildAliasMap, findTool, resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../core/toolset/edition-tool.ts';
import { compileEdition } from '../../core/toolset/edition.ts';
import { clientBounds } from '../../core/toolset/result-bound.ts';
import type { Repair } from '../../core/tools/argument-repair.ts';
import type { ToolDefinition, ToolResult } from '../../core/tools/tool.ts';
import { Toolset } from '../../core/toolset/toolset.ts';
import { callerFields, type Principal } from '../../core/people/principal.ts';
import { limitedHolders } from '../../core/usage-limits.ts';
import type { AuditRow } from '../../core/records/audit.ts';
import type { PolicyAnswer } from '../../core/policy/explain.ts';
import { Problem, type Issue } from '../../core/problem.ts';
import type { Via } from '../../core/model/message.ts';
import type { Directory } from '../../ports/directory.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { SessionExplainRequest } from '../../ports/session.ts';
import { createAuditTrail } from './audit-call.ts';
import { createCallScope, type CallDeps, type CallScope } from './call-scope.ts';
import { callTool } from './call-tool.ts';
import { prepareCall } from './prepare-call.ts';
import { type MarkStore, openMarks } from '../policy/direct-marks.ts';
import { judgeCall } from '../policy/judge-call.ts';
import { withServerState } from './server-state.ts';
import { withToolsetState } from './toolset-state.ts';
import type { CallOutcome, ToolCallAnswer } from './tool-call.ts';
import { planNames } from '../plan/plan-names.ts';
import { allowOf, readToolset } from '../plan/read-toolset.ts';

/** `toolset`: a name, or `name@version`. `inSession`: for a dry run, whether the call would be made in a session. */
export type DirectCall = { toolset: string; name: string; arguments: Record<string, unknown>; inSession?: boolean };

export type DryRun = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  valid: boolean;
  issues: Issue[];
  repaired?: Repair[];
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
  { toolset, name, arguments: args }: DirectCall,
  signal: AbortSignal,
): Promise<ToolCallAnswer & { callId: string }> {
  const { pointer, names, list } = await readToolset(deps.directory, principal, toolset);
  const callId = deps.ids.next('call');
  const offered = planNames(names, { aliases: deps.aliases, ...allowOf(list) });
  const marks = deps.marks(principal, pointer.toolset);
  const from = { principal, names: offered, pointer, tool: findTool(offered, name), marks };
  const { scope, settle } = await createScopeOutsideSession(deps, from, { canWait: false });
  const outcome = await settle(await callTool(deps.call, scope, { callId, requested: name, arguments: args }, signal));
  if ('waitFor' in outcome) throw new Error('a call that cannot wait waits');
  return { callId, ...outcome.answer };
}

type CallOutsideSession = {
  principal: Principal;
  names: AliasMap;
  pointer: EditionPointer | null;
  /** The called tool; null if the name does not resolve. */
  tool: EditionTool | null;
  marks: MarkStore;
};

/**
 * Builds the scope of a call without a session, on scratch files. `own`: what the caller adds. `settle` must get the outcome: it stores the
 * taint marks and waits until the audit is written, and returns what the caller may see.
 */
export async function createScopeOutsideSession(
  deps: Pick<DirectCallDeps, 'call' | 'directory' | 'scratchFiles' | 'audit'>,
  { principal, names, pointer, tool, marks: store }: CallOutsideSession,
  own: Pick<CallScope, 'canWait'> & Partial<CallScope>,
): Promise<{ scope: CallScope; settle(outcome: CallOutcome): Promise<CallOutcome> }> {
  const trail = createAuditTrail(deps.audit, deps.call.log);
  const marks = await openMarks(store, deps.call, tool);
  const limited = limitedHolders(principal);
  const { egressHosts } = principal;
  const plan = {
    ...{ caller: callerFields(principal), edition: pointer ?? undefined, limits: {} },
    ...(egressHosts !== undefined && { egressHosts }),
    ...(limited.length > 0 && { limited }),
  };
  const scope = createCallScope(plan, {
    keyId: principal.keyId,
    session: null,
    turn: null,
    names: () => names,
    files: deps.scratchFiles(),
    results: null,
    resultBounds: clientBounds,
    rules: await deps.directory.rules(principal.workspace),
    taint: marks.taint,
    begin: trail.begin,
    audit: trail.audit,
    ...own,
  });
  return {
    scope,
    async settle(outcome) {
      const [settled] = await Promise.all([marks.settle(outcome), trail.written()]);
      return settled;
    },
  };
}

/** A call by name in a toolset, or in a table of `definitions` (the first one and the tools that it uses). `agent`, `key`, `rules`: see `SessionExplainRequest`. */
export type ExplainedCall = Omit<SessionExplainRequest, 'plan'> &
  ({ toolset: string; definitions?: undefined } | { toolset?: undefined; definitions: readonly ToolDefinition[] });

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
    rules: asked.rules ?? (await deps.directory.rules(principal.workspace)),
    keyId,
    ...(store !== null && { taint: (await openMarks(store, deps.call, tool)).taint }),
    caller: callerFields(principal),
    files: deps.scratchFiles(),
    isScratch: true,
    names,
    ...(asked.agent !== undefined && { agent: asked.agent }),
  };
  // Not part of the eager start: few requests ask.
  const { explainCall } = await import('../policy/explain-policy.ts');
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
  const request = { callId: '', requested: call.name, arguments: call.arguments };
  const caller = { keyId: principal.keyId, caller: callerFields(principal), names: () => offered };
  const { requested, canonical, via, issues, repaired, tool, own, refusal } = prepareCall(caller, request);
  const given = repaired.length > 0 && { repaired: [...repaired] };
  const answer = { requested, canonical, via, valid: tool !== null && issues.length === 0, issues, ...given };
  if (refusal !== null && refusal.code !== 'invalid_arguments') return { ...answer, verdict: verdictOf(refusal) };
  if (tool === null || own === null) throw new Error('a call without a tool was not refused');
  const current = await withToolsetState(deps.call, pointer, tool);
  if (!current.ok) return { ...answer, verdict: verdictOf(current.result) };
  const served = await withServerState(deps.call, current.tool);
  if (!served.ok) return { ...answer, verdict: verdictOf(served.result) };
  const rules = await deps.directory.rules(principal.workspace);
  const marks = call.inSession === true ? null : await openMarks(deps.marks(principal, pointer.toolset), deps.call, served.tool);
  const scope = { rules, keyId: principal.keyId, files: null, ...(marks !== null && { taint: marks.taint }) };
  return { ...answer, verdict: judgeCall(deps.call, scope, served.tool, own).decision.verdict };
}

function verdictOf({ code }: ToolResult): DryRun['verdict'] {
  return code === 'unknown_tool' || code === 'ambiguous_tool' || code === 'tool_held' ? code : 'deny';
}

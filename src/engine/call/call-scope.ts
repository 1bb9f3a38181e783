/**
 * What a tool call runs with: the deployment's services (`CallDeps`), and the scope of the call, in one part for each step that reads it.
 * Turns, direct calls and MCP calls build their scope with `createCallScope`; nested calls derive theirs from the outer call's.
 */
import type { AuditRow } from '../../core/records/audit.ts';
import type { GuardEndpoint, GuardDecision } from '../../core/policy/guard.ts';
import type { TaintMarks } from '../../core/policy/taint.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Gathered } from '../../core/turn/gathered-tools.ts';
import type { ResultBounds } from '../../core/toolset/result-bound.ts';
import type { ToolResult } from '../../core/tools/tool.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import type { CompiledToolset } from '../../ports/directory.ts';
import type { Reservation } from '../../ports/limiter.ts';
import type { CallJournal } from '../../ports/call-journal.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ResultStore } from '../../ports/result-store.ts';
import type { StoredResults } from '../../ports/result-store.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { ComputeMeter, Sandbox } from '../../ports/sandbox.ts';
import type { SkillReader, ToolExecutor } from '../../ports/tool-executor.ts';
import type { WithTelemetry } from '../../ports/telemetry.ts';
import type { ToolMaker } from '../../ports/tool-maker.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import type { CallerChannel, ServerTokens } from '../../ports/upstream.ts';
import type { ShareShortage } from '../../core/limits/fair-share.ts';
import type { Place } from '../fair-pool.ts';
import type { ServiceHost } from '../host.ts';
import type { AskGuard } from '../guard/ask-guard.ts';
import type { RedactionRules } from './redact.ts';
import type { CallTree } from './inner/call-tree.ts';
import type { CallRecording, ToolCallRequest, WaitFor } from './tool-call.ts';

export type CallDeps = WithTelemetry & {
  clock: Clock;
  log: Logger;
  executor: ToolExecutor;
  /** Whose keys make the calls. Absent: scripts share the thread without regard to keys. */
  workspace?: string;
  /** `onHop`: as in `ports/outbound.ts`. `purpose`: default is the tool's own request; `server`: a request to the tool's server; `opened-server`: with `opensFirst`. */
  fetch(
    request: Request,
    signal: AbortSignal,
    onHop?: (to: URL, hop: number) => void,
    purpose?: 'tool' | 'server' | 'opened-server',
  ): Promise<Response>;
  /** Returns the newest version of a toolset; absent: toolsets do not change. Throws `not_found`. */
  toolset?(name: string): Promise<CompiledToolset>;
  /** Returns what a call needs to know about the server of a tool; absent: there are no servers. Throws `not_found`. `tool`: the own name of the called tool. */
  server?(name: string, tool: string): Promise<ServerAccess>;
  /** A call failed because of its server. `reason`: redacted. Absent: not recorded. */
  serverFailed?(name: string, reason: string): void;
  /** Whether no request may go to this URL; then approval for it is not requested. */
  isBlockedUrl?(url: string): boolean;
  /** Tokens of a server that requires them; absent or null: it requires none. `keyId`: the caller, whose account a server may require. */
  tokens?(server: ServerAccess, keyId: string): ServerTokens | null;
  /** The toolset editor of a key, for the configuration tools. Absent: they cannot be called. */
  configuration?(keyId: string): ToolsetEditor;
  /** The tool maker of a key, for `create_tool`. `offered`: the tools that the call may use. */
  maker?(keyId: string, offered: AliasMap | null): ToolMaker;
  /** Returns the hosts that a key may currently reach; undefined: all, or the key was revoked. Absent: they do not change. */
  egressHosts?(keyId: string): Promise<readonly string[] | undefined>;
  /** Reads a secret for a tool; throws a `Problem` that names what is missing. `host`: where it will be sent, if known. */
  secret(name: string, tool: string, host?: string): Promise<string>;
  /** The machine of the service. Absent: it has no trouble and is not stopped. */
  host?: ServiceHost;
  /** Waits for a place among the calls in progress. Absent: they are not counted. */
  enter?(keyId: string, signal: AbortSignal): Promise<Place | ShareShortage>;
  /** Runs code that calls tools, for a key. Absent: tools that need it cannot be called. */
  sandbox?(keyId: string): Sandbox;
  /** Counts what a call computes for these limits; null: none of them is about that. Absent: there are no limits. */
  compute?(limited: readonly LimitedHolder[]): ComputeMeter | null;
  /** Reserves the cost of a call from the budgets among these limits. Absent: nothing has a budget. Throws a `Problem` if one is used up. */
  reserveCost?(limited: readonly LimitedHolder[], cost: number): Promise<Reservation | undefined>;
  /** The guard of the workspace. Absent: it has no guard. */
  guard?: { workspace: string; settings(): Promise<GuardEndpoint | null>; ask: AskGuard };
  /** The stored results of tools that only read, of one workspace. Absent: none are stored. */
  storedResults?(): Promise<StoredResults>;
  /** The redaction rules for calls with a toolset. Absent or null: no rules. */
  redaction?(toolset: string | undefined): Promise<RedactionRules | null>;
  /** Why calls cannot be approved in this deployment, as a sentence. Absent: they can, in a session. */
  noApprovals?: string;
};

/** Who calls which tools: read when the call is prepared. */
export type CallerScope = {
  keyId: string;
  /** The fields of the calling key, for presets. Absent: unknown. */
  caller?: Readonly<Record<string, string>>;
  /** The conversation, as in `AuditScope` and `ToolScope`: it keeps its target. */
  session?: string | null;
  conversation?: string;
  /** null: the conversation has no tools, so every name is unknown. */
  names(): AliasMap | null;
  /** Says from when an unknown name can be called; null: never. Absent: `names` does not grow. */
  whyNotYet?(name: string): Promise<string | null>;
  /** The caller is an MCP client that shows pages of MCP apps, which call tools that models are not offered. */
  servesApps?: boolean;
};

/** What the policy judges the call by. */
export type PolicyScope = {
  keyId: string;
  /** The policy rules of the workspace. */
  rules: readonly PolicyRule[];
  /** The name of the turn's agent, for rules; absent: none. */
  agent?: string;
  /** The canonical names of the enclosing tools, outermost first. Absent: not a nested call. */
  chain?: readonly string[];
  /** What the conversation has seen; absent: each call is judged separately. */
  taint?: TaintMarks;
  /** The agent's own setting of the taint rule; absent: the policy decides. */
  taintRule?: boolean;
};

/** What the tool may use while it runs. */
export type ToolScope = {
  files: FileSystem;
  /** What the caller gets of a result. Absent: what a model gets. */
  resultBounds?: ResultBounds;
  /** Stores the full results that are shortened; null: they are not stored. */
  results: ResultStore | null;
  /** Of the agent. Absent: the default of the tool's kind. */
  timeoutMs?: number;
  /** The hosts that the call may reach. Absent: all. */
  egressHosts?: readonly string[];
  /** Whose limits the call counts for. Absent: no limits. */
  limited?: Plan['limited'];
  skills?: SkillReader | null;
  /** The caller, while the call is open. Absent: the caller only gets the result. */
  channel?: CallerChannel;
  /** The owner of state at a server. Absent: the session, else the key. */
  conversation?: string;
  /** Returns what the caller gets of the result of a nested call that the code passes on. Absent: the result unchanged. */
  showInner?(tool: EditionTool, result: ToolResult): Promise<ToolResult>;
  /** The tools discovered in the conversation. Absent: none are collected. */
  discoveredTools?(): readonly Gathered[];
};

/** How the call and its nested calls wait for approvals and input. */
export type WaitScope = {
  /** False: the call cannot wait. A call that has to is answered with `approval_required`, or with what it asked for. */
  canWait: boolean;
  /** The journal of nested calls; absent: a nested call that has to wait is refused. */
  journal?: CallJournal;
  /**
   * Asks, while the call is open, for what a nested call waits for; returns the changes to the request with which it is made again. Absent:
   * with a journal the outermost call waits; without one the nested call is refused.
   */
  askDuringCall?(waitFor: WaitFor, rounds: number): Promise<Partial<ToolCallRequest>>;
  /** What nested calls may call, where that is more than `names`: in code mode the model has one tool, its code all of them. */
  innerNames?(): AliasMap | null;
  /** Shared by all nested calls of the outermost call; absent: this is the outermost call. */
  callTree?: CallTree;
  /** Whether `files` belong to a running script: changes to them are repeated when the script is rerun. */
  onOverlay?: boolean;
};

/** How the call is recorded. */
export type AuditScope = {
  keyId: string;
  session: string | null;
  turn: string | null;
  /** The name of the turn's agent; absent: none. */
  agent?: string;
  /** The trace of a call in a session that is not part of a turn. */
  trace?: Plan['trace'];
  edition: EditionPointer | null;
  /** Where a turn stores the decisions of the guard, so that a call which is resumed is not asked about again. Absent: they are not stored. */
  guardLog?: {
    find(callId: string): GuardDecision | null;
    /** `after`: the decision is about the result, and only shown. */
    store(callId: string, stage: 'before' | 'after', decision: GuardDecision): void;
  };
  /** Journals that the call is about to be attempted, durably before the effect. `price`: in USD; null: none. */
  started?(callId: string, attempt: number, price: number | null): void;
  /**
   * Stores durably that a call which may have an effect starts. If it rejects, the call does not run. Absent: the log of the turn does it
   * (`tool-start`).
   */
  begin?(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
  /** Stores one row per call id, refused calls included; it replaces the intent of `begin`. */
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

/** Where the call comes from and what it may use. `recorded`: of a replay, answers the calls in place of their tools; absent: they are made. */
export type CallScope = CallerScope & PolicyScope & ToolScope & WaitScope & AuditScope & { recorded?: CallRecording };

/** The part of a plan that applies to single calls. */
type CallPlan = Pick<Plan, 'caller' | 'agent' | 'taint' | 'edition' | 'trace' | 'egressHosts' | 'limited'> & {
  limits: Pick<Plan['limits'], 'toolTimeoutMs'>;
};
type FromPlan = 'trace' | 'caller' | 'agent' | 'taintRule' | 'edition' | 'timeoutMs' | 'egressHosts' | 'limited';

/** Builds the scope of a call of a plan. `own`: what differs between turns, direct calls and MCP calls. */
export function createCallScope(plan: CallPlan, own: Omit<CallScope, FromPlan>): CallScope {
  return {
    trace: plan.trace,
    caller: plan.caller,
    agent: plan.agent,
    taintRule: plan.taint,
    edition: plan.edition ?? null,
    ...(plan.egressHosts !== undefined && { egressHosts: plan.egressHosts }),
    ...(plan.limited !== undefined && { limited: plan.limited }),
    ...(plan.limits.toolTimeoutMs !== undefined && { timeoutMs: plan.limits.toolTimeoutMs }),
    ...own,
  };
}

/** The types of one tool call: what it needs, where it comes from, the request and the outcome. */
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import type { GivenApproval, ApprovalQuestion } from '../../core/policy/approval.ts';
import type { AuditRow } from '../../core/audit.ts';
import type { EditionPointer, EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Gathered } from '../../core/tools/gathered-tools.ts';
import type { Via } from '../../core/turn/message.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import type { GivenInput, InputRequired } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { ToolResult } from '../../core/tools/tool.ts';
import type { Refusal } from '../../core/turn/turn-budget.ts';
import type { TaintMarks } from '../../core/policy/taint.ts';
import type { CallJournal } from '../../ports/call-journal.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ResultStore } from '../../ports/result-store.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import type { ToolMaker } from '../../ports/tool-maker.ts';
import type { CallerChannel, SkillReader, ToolExecutor } from '../../ports/tool-executor.ts';
import type { ServerTokens } from '../../ports/upstream.ts';
import type { CallTree } from './inner/call-tree.ts';

export type CallDeps = {
  clock: Clock;
  log: Logger;
  executor: ToolExecutor;
  /** `onHop`: as in `ports/outbound.ts`. `purpose`: default is the tool's own request; `server`: a request to the tool's server. */
  fetch(request: Request, signal: AbortSignal, onHop?: (to: URL, hop: number) => void, purpose?: 'tool' | 'server'): Promise<Response>;
  /** Returns what a call needs to know about the server of a tool; absent: there are no servers. Throws `not_found`. `tool`: the own name of the called tool. */
  server?(name: string, tool: string): Promise<ServerAccess>;
  /** Whether no request may go to this URL; then approval for it is not requested. */
  isBlockedUrl?(url: string): boolean;
  /** Tokens of a server that requires them; absent or null: it requires none. */
  tokens?(server: ServerAccess): ServerTokens | null;
  /** The toolset editor of a key, for the configuration tools. Absent: they cannot be called. */
  configuration?(keyId: string): ToolsetEditor;
  /** The tool maker of a key, for `create_tool`. `offered`: the tools that the call may use. */
  maker?(keyId: string, offered: AliasMap | null): ToolMaker;
  /** Reads a secret for a tool; throws a `Problem` that names what is missing. `host`: where it will be sent, if known. */
  secret(name: string, tool: string, host?: string): Promise<string>;
  /** Runs code that calls tools. Absent: tools that need it cannot be called. */
  sandbox?: Sandbox;
};

/** Where the call comes from and what it may touch. */
export type CallScope = {
  keyId: string;
  /** The fields of the calling key, for presets. Absent: unknown. */
  caller?: Readonly<Record<string, string>>;
  skills?: SkillReader | null;
  /** The caller, while the call is open. Absent: the caller only gets the result. */
  channel?: CallerChannel;
  /** The owner of state at a server. Absent: the session, else the key. */
  conversation?: string;
  session: string | null;
  turn: string | null;
  /** null: the conversation has no tools, so every name is unknown. */
  names(): AliasMap | null;
  /** The tools discovered in the conversation. Absent: none are collected. */
  discoveredTools?(): readonly Gathered[];
  edition: EditionPointer | null;
  files: FileSystem;
  /** Stores the full text of results that are shortened; null: it is not stored. */
  results: ResultStore | null;
  timeoutMs: number;
  /** The policy rules of the workspace. */
  rules: readonly PolicyRule[];
  /** The name of the turn's agent, for rules; absent: none. */
  agent?: string;
  /** The canonical names of the enclosing tools, outermost first. Absent: not a nested call. */
  chain?: readonly string[];
  /** The journal of nested calls; absent: a nested call that has to wait is refused. */
  journal?: CallJournal;
  /** What nested calls may call, where that is more than `names`: in code mode the model has one tool, its code all of them. */
  innerNames?(): AliasMap | null;
  /** Shared by all nested calls of the outermost call; absent: this is the outermost call. */
  callTree?: CallTree;
  /** Whether `files` belong to a running script: changes to them are repeated when the script is rerun. */
  onOverlay?: boolean;
  /** What the conversation has seen; absent: each call is judged separately. */
  taint?: TaintMarks;
  /**
   * Asks, while the call is open, for what a nested call waits for; returns the changes to the request with which it is made again. Absent:
   * with a journal the outermost call waits; without one the nested call is refused.
   */
  askDuringCall?(waitFor: WaitFor, rounds: number): Promise<Partial<ToolCallRequest>>;
  /** The agent's own setting of the taint rule; absent: the policy decides. */
  taintRule?: boolean;
  /** False: the call cannot wait. A call that has to is answered with `approval_required`, or with what it asked for. */
  canWait: boolean;
  /** Journals that the call is about to be attempted, durably before the effect. */
  started?(callId: string, attempt: number): void;
  /**
   * Stores durably that a call which may have an effect starts. If it rejects, the call does not run. Absent: the log of the turn does it
   * (`tool-start`).
   */
  begin?(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
  /** Stores one row per call id, refused calls included; it replaces the intent of `begin`. */
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

export type ToolCallRequest = {
  callId: string;
  /** The call that made this nested call. */
  parent?: string;
  requested: string;
  /** null: the arguments could not be parsed; `fault` says why. */
  arguments: Record<string, unknown> | null;
  fault?: 'truncated' | 'invalid_json' | null;
  /** Repairing the JSON changed more than closing brackets: such a call never runs an unsafe tool. */
  guessed?: boolean;
  /** The result instead of running the call: a limit of the turn, or a denial. */
  refusal?: Refusal | null;
  /** What the approval of the last question about this call is bound to. Absent or null: it was not asked. */
  approved?: GivenApproval | null;
  /** The input that the call asked for, and how often it has asked. */
  given?: GivenInput | null;
  rounds?: number;
  /** Earlier attempts, and whether the last of them was interrupted. */
  attempts?: number;
  interrupted?: boolean;
  /** The call was in flight between requests when its process stopped: it is not retried, whatever the tool. */
  unrecoverable?: boolean;
};

/** An external answer is needed first: from the user, or from the client whose tool it is. `arguments`: the tool's own, secrets as names. `round`: number of the call's question, from 1. */
export type WaitFor =
  | { kind: 'approval'; tool: EditionTool; ask: ApprovalQuestion; round: number; arguments: Record<string, unknown> }
  | { kind: 'client'; tool: EditionTool }
  | { kind: 'input'; tool: EditionTool; input: InputRequired; arguments: Record<string, unknown> }
  /** Nested calls wait: this call is rerun when all of them are answered. */
  | { kind: 'inner'; tool: EditionTool; waiting: readonly WaitingInner[] };

/** `name`, `arguments`: as the code called it. `rounds`: how often it has asked for input before. */
export type WaitingInner = {
  callId: string;
  name: string;
  arguments: Record<string, unknown> | null;
  rounds: number;
  waitFor: Exclude<WaitFor, { kind: 'inner' }>;
};

export type CallOutcome = { answer: ToolCallAnswer } | { waitFor: WaitFor };

export type ToolCallAnswer = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  /** False: the call was refused before the tool ran. */
  ran: boolean;
  result: ToolResult;
  durationMs: number;
};

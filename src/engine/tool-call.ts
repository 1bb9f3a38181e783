/** One tool call on its way through the door: what it needs, where it comes from, what is asked and what comes of it. */
import type { AliasMap } from '../core/alias-map.ts';
import type { Approved, Question } from '../core/approval.ts';
import type { AuditRow } from '../core/audit.ts';
import type { EditionPointer, EditionTool } from '../core/edition-tool.ts';
import type { Gathered } from '../core/gathered-tools.ts';
import type { Via } from '../core/message.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import type { GivenInput, InputRequired } from '../core/mcp-input.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { ToolResult } from '../core/tool.ts';
import type { Refusal } from '../core/turn-budget.ts';
import type { TaintMarks } from '../core/taint.ts';
import type { CallJournal } from '../ports/call-journal.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { ResultStore } from '../ports/result-store.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { ConfigurationDesk } from '../ports/configuration-desk.ts';
import type { ToolMaker } from '../ports/tool-maker.ts';
import type { CallerChannel, SkillReader, ToolExecutor } from '../ports/tool-executor.ts';
import type { ServerTokens } from '../ports/upstream.ts';
import type { CallTree } from './inner/call-tree.ts';

export type CallDeps = {
  clock: Clock;
  log: Logger;
  executor: ToolExecutor;
  /** `onHop`: as in `ports/outbound.ts`. `purpose`: absent, it is a tool's own request; `server`, one to the tool's server. */
  fetch(request: Request, signal: AbortSignal, onHop?: (to: URL, hop: number) => void, purpose?: 'tool' | 'server'): Promise<Response>;
  /** What a call of a server's tool has to know of it; absent: there are no servers. `not_found` when it is gone. `tool`: own name of the one to call. */
  server?(name: string, tool: string): Promise<ServerAccess>;
  /** True of a URL that no request may go to: nobody is asked about what would be refused all the same. */
  refuses?(url: string): boolean;
  /** Tokens of a server that wants them; absent or null: it wants none. */
  tokens?(server: ServerAccess): ServerTokens | null;
  /** For the configuration tools, in the name of a key. Absent: they cannot be called. */
  configuration?(keyId: string): ConfigurationDesk;
  /** The same for `create_tool`. `offered`: what the call may use. */
  maker?(keyId: string, offered: AliasMap | null): ToolMaker;
  /** Reads a secret for a tool; throws a `Problem` that names what is missing. `host`: where it will be sent, where that is known. */
  secret(name: string, tool: string, host?: string): Promise<string>;
  /** Where code over tools runs. Absent: such tools do not run here. */
  sandbox?: Sandbox;
};

/** Where the call comes from and what it may touch. */
export type CallScope = {
  keyId: string;
  /** For presets: the fields of the key that calls. Absent: none are known. */
  caller?: Readonly<Record<string, string>>;
  skills?: SkillReader | null;
  /** Whoever called, while the call is open. Absent: nobody hears of it before its result. */
  channel?: CallerChannel;
  /** Whose state at a server this is. Absent: the session's, else the key's. */
  conversation?: string;
  session: string | null;
  turn: string | null;
  /** null: the conversation has no tools, so every name is unknown. */
  names(): AliasMap | null;
  /** The tools that the conversation has come to. Absent: nothing is gathered. */
  gathered?(): readonly Gathered[];
  edition: EditionPointer | null;
  files: FileSystem;
  /** Where results that are too long are kept whole; null: nowhere. */
  results: ResultStore | null;
  timeoutMs: number;
  /** What the workspace has allowed. */
  rules: readonly PolicyRule[];
  /** Name of the agent whose turn it is, for rules; absent: none. */
  agent?: string;
  /** Canonical names of the tools that this call is made by, the outermost first. Absent: by nobody. */
  chain?: readonly string[];
  /** Of the calls beneath this one; absent: nothing is remembered, so a call beneath that has to wait is refused. */
  journal?: CallJournal;
  /** What tools that call tools may call, where that is more than `names`: in code mode a model has one tool, and its code all. */
  innerNames?(): AliasMap | null;
  /** What all calls beneath the outermost one share; absent: this is it. */
  tree?: CallTree;
  /** `files` are those of a script that has not ended: what is done to them is done again when it is run again. */
  onOverlay?: boolean;
  /** What the conversation has seen; absent: each call for itself. */
  taint?: TaintMarks;
  /**
   * Asks, while the call is open, for what a call beneath it waits for, and answers what that one is made again with. Absent: where there is a
   * journal all of it waits, and elsewhere it is refused.
   */
  askNow?(waitFor: WaitFor, rounds: number): Promise<Partial<ToolCallRequest>>;
  /** The agent's own word on the taint rule; absent: as the policy says. */
  taintRule?: boolean;
  /** False: there is nobody to ask, so a call that needs it is answered with `approval_required`, or with what it asked for. */
  canWait: boolean;
  /** Journals, durably before the effect, that the call is about to be tried. */
  started?(callId: string, attempt: number): void;
  /**
   * Stores durably that a call which may have an effect begins. Rejects when it cannot: then the call does not run. Absent: the log of the
   * turn does it (`tool-start`).
   */
  begin?(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
  /** One row for each call id, refusals included; it replaces the intent of `begin`. */
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

export type ToolCallRequest = {
  callId: string;
  /** Of a call that a tool makes: the call that makes it. */
  parent?: string;
  requested: string;
  /** null when the text could not be used: `fault` says why. */
  arguments: Record<string, unknown> | null;
  fault?: 'truncated' | 'invalid_json' | null;
  /** jsonrepair changed more than closing brackets: such a call never drives an unsafe tool. */
  guessed?: boolean;
  /** Answered with this instead of running: budgets of the turn, a person's no. */
  refusal?: Refusal | null;
  /** The last question about this call was answered with yes: what that is bound to. Absent or null: it was not asked. */
  approved?: Approved | null;
  /** What the call asked for when it was made before, and how often it has asked. */
  given?: GivenInput | null;
  rounds?: number;
  /** Tries before this one, and whether the last of them died on its way. */
  attempts?: number;
  interrupted?: boolean;
  /** It died while it was open to whoever asks: whatever the tool, it is not tried again. */
  lost?: boolean;
};

/** Somebody outside has to act first: a person, or the caller, whose tool it is. `arguments`: the tool's own, secrets as names. `round`: counts the questions of the call from 1. */
export type WaitFor =
  | { kind: 'approval'; tool: EditionTool; ask: Question; round: number; arguments: Record<string, unknown> }
  | { kind: 'client'; tool: EditionTool }
  | { kind: 'input'; tool: EditionTool; input: InputRequired; arguments: Record<string, unknown> }
  /** Calls beneath this one wait: it is run again when all of them are answered. */
  | { kind: 'inner'; tool: EditionTool; waiting: readonly WaitingInner[] };

/** `name`, `arguments`: as its code called it. `rounds`: times that it has asked for input before. */
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
  /** False: it was refused before the tool was asked. */
  ran: boolean;
  result: ToolResult;
  durationMs: number;
};

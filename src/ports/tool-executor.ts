/** Runs tools of any kind. Called only by `engine/call/execute-call.ts`, after `engine/call/call-tool.ts` has resolved, authorized and checked the call. */
import type { ShareOwner } from '../core/limits/fair-share.ts';
import type { EditionTool } from '../core/toolset/edition-tool.ts';
import type { GivenInput, InputRequired } from '../core/tools/mcp-input.ts';
import type { JsonSchema, ToolResult } from '../core/tools/tool.ts';
import type { ToolsetEditor } from './toolset-editor.ts';
import type { FileSystem } from './file-system.ts';
import type { InnerCalls } from './inner-calls.ts';
import type { ResultStore } from './result-store.ts';
import type { Logger } from './runtime.ts';
import type { ComputeMeter, Sandbox } from './sandbox.ts';
import type { ToolMaker } from './tool-maker.ts';
import type { CallerChannel, ServerTokens } from './upstream.ts';

/** The capabilities of a running tool. It has no access to messages or the registry, and to other tools only through `calls`. */
export type ToolContext = {
  signal: AbortSignal;
  log: Logger;
  files: FileSystem;
  /** Returns a secret of the workspace that this tool may read; throws an error that names a missing one. `host`: where it will be sent. */
  secret(name: string, host?: string): Promise<string>;
  /**
   * Whether a client (in a direct call) or an administrator (in a preset) set the `headers` argument, so that it may have credentials. Absent:
   * a model may have set it.
   */
  mayAuthenticate?: boolean;
  /** The guarded outbound client (`net/outbound.ts`). */
  fetch(request: Request): Promise<Response>;
  /** Called before something is sent to the tool's server that may have an effect. Absent: nothing is sent. */
  sending?(): void;
  now(): number;
  /** The same in every attempt of one call: sent upstream as `Idempotency-Key`. */
  idempotencyKey: string;
  /** Bytes of text that the reader of the result gets: a client, or code. Absent: a model. */
  resultBytes?: number;
  /** The full texts of this session's long results; null without a session. */
  results: ResultStore | null;
  /** Searches the tools of the plan; null: it has none. */
  find: ToolFinder | null;
  /** The plan's skills; null: it has none. */
  skills: SkillReader | null;
  /** The toolset editor for the configuration tools; null: not available in this call. */
  configuration: ToolsetEditor | null;
  /** Makes tools from the plan's tools; null: not available in this call. */
  maker: ToolMaker | null;
  /** The owner of state at a server (a session, or a key): two of them never share state. */
  conversation: string;
  /** The key that calls: its scripts take turns with those of other keys. Absent: each script is on its own. */
  owner?: ShareOwner;
  /** A turn makes the call: a model reads the result, and no client waits for the call. Absent: a client makes it. */
  isTurn?: true;
  /** The caller, while the call is open. */
  channel: CallerChannel;
  /** Nested calls, for tools that call tools; null: not available in this call. */
  calls: InnerCalls | null;
  /** Runs code that calls tools; null: not available. */
  sandbox: Sandbox | null;
  /** Counts what the tool computes for the limits of the call. Absent: it has none. `sandbox` counts by itself. */
  compute?: ComputeMeter;
  /** The input that the call asked for before it was made again; null: none. */
  given: GivenInput | null;
  /** The idle timeout of the call, in milliseconds; absent: the default. */
  timeoutMs?: number;
  /** Tokens of the tool's server; null: it requires none. */
  tokens: ServerTokens | null;
};

/** A result of `find_tools`. `declaration`: for code, a member of `tools` in TypeScript. */
export type FindToolsResult = {
  name: string;
  canonical: string;
  aliases: string[];
  description: string;
  inputSchema: JsonSchema;
  declaration?: string;
};

export interface ToolFinder {
  /** How a found tool is called: by its name, from code, or with `call_tool`. */
  readonly calledBy: 'name' | 'code' | 'call_tool';
  /** The number of tools that can be found. */
  readonly total: number;
  /** Whether the model is already sent the maximum number of definitions: tools found now can be called, but their definitions are not added. */
  readonly isFull: boolean;
  /** Returns the best matches first. */
  find(query: string, max: number): Promise<FindToolsResult[]>;
  /** Returns names similar to the query, for when nothing is found. */
  similarNames(query: string): string[];
}

export interface SkillReader {
  names(): readonly string[];
  /** Returns a skill's text as the model gets it; null: the plan has no such skill. */
  read(name: string): string | null;
  /** Returns the tools that the text names, if most tools are given on demand: reading the skill discovers them. Otherwise none. */
  tools(name: string): readonly { name: string; canonical: string }[];
}

/**
 * `input`: the tool wants to be called again with this input (`given`); the result is for callers that cannot. `suspended`: one of its nested
 * calls waits; the result is ignored, and the tool is rerun after the answer. `serverFault`: the tool's server is why it failed.
 * `failed`: another target may be called instead: `unsent`, as nothing was sent to the server; `unanswered`, as the answer is missing or incomplete, so that the
 * call may have had its effect; `rejected`, as the server responded that it cannot do it now.
 */
export type ToolOutcome = ToolResult & {
  input?: InputRequired;
  suspended?: true;
  serverFault?: true;
  failed?: 'unsent' | 'unanswered' | 'rejected';
};

export interface ToolExecutor {
  /** Returns the host that its calls go to, if known: a secret among the arguments must be bound to it. */
  host?(tool: EditionTool): Promise<string | null>;
  /** Whether running it again with the same arguments and idempotency key is safe. */
  isSafe(tool: EditionTool, args: Record<string, unknown>): boolean;
  /** Returns earlier names of the tool's arguments, each with the current one: a turn may have the edition of an earlier build. */
  renamed?(tool: EditionTool): Readonly<Record<string, string>> | undefined;
  /** Whether it, or what it calls, works on the caller's files, which are loaded for it. Absent: none does. */
  usesFiles?(tool: EditionTool): boolean;
  /** Resolves with a result, also for errors; what it throws becomes `tool_error`. Must end soon after `signal` aborts. */
  execute(tool: EditionTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome>;
}

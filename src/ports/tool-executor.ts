/** Running a tool, whatever its kind. Only `engine/execute-call.ts` does; `engine/call-tool.ts` has resolved, authorised and checked before. */
import type { EditionTool } from '../core/edition-tool.ts';
import type {
  AskableInput,
  GivenInput,
  InputAnswer,
  InputRequest,
  InputRequired,
  ProgressUpdate,
  ServerNotice,
} from '../core/mcp-input.ts';
import type { JsonSchema, ToolResult } from '../core/tool.ts';
import type { ConfigurationDesk } from './configuration-desk.ts';
import type { FileSystem } from './file-system.ts';
import type { InnerCalls } from './inner-calls.ts';
import type { ResultStore } from './result-store.ts';
import type { Logger } from './runtime.ts';
import type { Sandbox } from './sandbox.ts';
import type { ToolMaker } from './tool-maker.ts';
import type { ServerTokens } from './upstream.ts';

/** What a running tool may touch. Never messages or the registry, and other tools only through `calls`. */
export type ToolContext = {
  signal: AbortSignal;
  log: Logger;
  files: FileSystem;
  /** Values of the workspace's secrets that this tool may read; a missing one is an error that names it. `host`: where it will be sent. */
  secret(name: string, host?: string): Promise<string>;
  /** The guarded way out (`net/outbound.ts`). */
  fetch(request: Request): Promise<Response>;
  now(): number;
  /** The same for every try of one call: sent upstream as `Idempotency-Key`. */
  idempotencyKey: string;
  /** Long results of this session, kept whole; null without a session. */
  results: ResultStore | null;
  /** The tools of the plan, for who looks for one; null: there are none. */
  find: ToolFinder | null;
  /** The plan's skills; null: it has none. */
  skills: SkillReader | null;
  /** Toolsets as the configuration tools work on them; null: not from here. */
  configuration: ConfigurationDesk | null;
  /** Makes tools of the plan's tools; null: not from here. */
  maker: ToolMaker | null;
  /** Whose call it is (a session, or a key): two of them never share state at a server. */
  conversation: string;
  /** Whoever called, while the call is open. */
  channel: CallerChannel;
  /** Other tools, for those that are made of them; null: it may call none. */
  calls: InnerCalls | null;
  /** Where code over them runs; null: nowhere here. */
  sandbox: Sandbox | null;
  /** What the call asked for before, now that it is made again; null: nothing. */
  given: GivenInput | null;
  /** Milliseconds that the call has from one sign of life to the next; absent: as is usual. */
  timeoutMs?: number;
  /** Tokens of the tool's server; null: it wants none. */
  tokens: ServerTokens | null;
};

/** What can be told to whoever called, and asked of them, before there is a result. Absent: it cannot. */
export type CallerChannel = {
  progress?(update: ProgressUpdate): void;
  notice?(notice: ServerNotice): void;
  /** Answers while the call is open. `key` is the asker's own name of the question. */
  ask?(request: InputRequest, key: string): Promise<InputAnswer>;
  askable?: AskableInput;
};

/** A tool as `find_tools` tells of it. `declaration`: for code, as a member of `tools` in TypeScript. */
export type FoundTool = {
  name: string;
  canonical: string;
  aliases: string[];
  description: string;
  inputSchema: JsonSchema;
  declaration?: string;
};

export interface ToolFinder {
  /** How many tools there are to be found. */
  readonly total: number;
  /** The conversation has gathered as many as its model is sent definitions of: what is found now can be called, and that is all. */
  readonly isFull: boolean;
  /** The best first. */
  find(query: string, max: number): FoundTool[];
  /** Names that look like it, where nothing is found. */
  near(query: string): string[];
}

export interface SkillReader {
  names(): readonly string[];
  /** As a model is given it; null: the plan has no such skill. */
  read(name: string): string | null;
  /** The tools that it speaks of, where most are given on demand: with the skill the conversation has come to them. Else none. */
  tools(name: string): readonly { name: string; canonical: string }[];
}

/**
 * `input`: it is to be called again with what it asks for (`given`); the result is for those who cannot. `suspended`: one of its `calls` waits;
 * it has ended, its result counts for nothing, and it is run again when that is done.
 */
export type ToolAnswer = ToolResult & { input?: InputRequired; suspended?: true };

export interface ToolExecutor {
  /** The host that its calls go to, where that is known before: what a secret among the arguments must be bound to. */
  host?(tool: EditionTool): Promise<string | null>;
  /** True: running it a second time with the same arguments and idempotency key does no harm. */
  isSafe(tool: EditionTool, args: Record<string, unknown>): boolean;
  /** Answers with a result, errors included; what it throws becomes `tool_error`. Must end soon after `signal` aborts. */
  execute(tool: EditionTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer>;
}

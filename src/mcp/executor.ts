/**
 * Runs the tools of `mcp` servers: one call of the server's own tool by its own name. What may be called, with what arguments, was settled
 * at the door (`engine/call-tool.ts`); how the server is spoken with, and which of its questions may be asked, is `mcp/client/`.
 */
import { cancelled, questionOf } from '../core/elicitation.ts';
import type { EditionTool } from '../core/edition-tool.ts';
import { limits } from '../core/limits.ts';
import type { InputRequired } from '../core/mcp-input.ts';
import { Problem } from '../core/problem.ts';
import { isRepeatable } from '../core/tool-effects.ts';
import { secretHostOf } from '../core/secret.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { utf8Length } from '../core/utf8.ts';
import type { CallerChannel, ToolAnswer, ToolContext, ToolExecutor } from '../ports/tool-executor.ts';
import type { McpUpstream, UpstreamCall, UpstreamContext, UpstreamHooks } from '../ports/upstream.ts';

/** `server`: `not_found` when it is gone. `changed`: the server said during a call that it lists something else now. */
export type McpExecutorParts = {
  server(name: string): Promise<ServerAccess>;
  upstream: Pick<McpUpstream, 'callTool'>;
  changed?(server: string): void;
};

export function createMcpExecutor({ server, upstream, changed }: McpExecutorParts): ToolExecutor {
  return {
    host: async (tool) => secretHostOf((await server(tool.server)).url),
    isSafe: (tool) => isRepeatable(tool),
    async execute(tool, args, context) {
      const unheard: string[] = [];
      try {
        const hooks = { ...toHooks(context.channel, unheard), changed: () => changed?.(tool.server) };
        const known = await server(tool.server);
        // The agent of a turn may give its tools another time than is usual.
        const access = context.timeoutMs === undefined ? known : { ...known, timeoutMs: context.timeoutMs };
        const answer = await upstream.callTool(access, toCall(tool, args, context), hooks, toUpstream(context));
        return answer.kind === 'result' ? withUnheard(answer.result, unheard) : askedAnswer(tool.canonical, answer.input);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const code = error.code === 'upstream_timeout' ? 'timeout' : 'tool_error';
        return withUnheard(errorResult(code, `${tool.canonical} failed: ${error.detail}`), unheard);
      }
    },
  };
}

/** The schema as it is listed: an entry may show models another one, and what headers are made from stands here. */
function toCall(
  { ownName, sourceSchema, inputSchema, outputSchema }: EditionTool,
  args: Record<string, unknown>,
  { given, idempotencyKey }: ToolContext,
): UpstreamCall {
  return {
    name: ownName,
    arguments: args,
    inputSchema: sourceSchema ?? inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(given && { given }),
    idempotencyKey,
  };
}

function toUpstream({ fetch, secret, tokens, signal, now, log, conversation }: ToolContext): UpstreamContext {
  return { fetch, secret, signal, now, log, conversation, ...(tokens && { tokens }) };
}

/**
 * Where a person can be asked, but not while the call is open, a server of 2025 that asks then is told `cancel`: so in turns of chats, which wait
 * for days and over restarts (DESIGN §5), as no connection can. To an MCP client such a question gets through (`engine/serve/held-call.ts`).
 * `unheard`: its questions, for the result.
 */
function toHooks({ ask, askable = {}, progress, notice }: CallerChannel, unheard: string[]): UpstreamHooks {
  const cancel: UpstreamHooks['ask'] = async (request, key) => {
    if (unheard.length < limits.maxInputRequests) unheard.push(questionOf({ [key]: request }));
    return cancelled;
  };
  const answer = ask ?? (askable.elicitation === undefined ? undefined : cancel);
  return { askable, ...(progress && { progress }), ...(notice && { notice }), ...(answer && { ask: answer }) };
}

function withUnheard(result: ToolResult, unheard: readonly string[]): ToolResult {
  if (unheard.length === 0) return result;
  const text = `[While it ran: ${unheard.join(' ')} Nobody could be asked then, so its server was told "cancel".]`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

/** With a result for those who cannot wait: what it asked, in words. */
function askedAnswer(canonical: string, input: InputRequired): ToolAnswer {
  const failed = (why: string): ToolResult => errorResult('tool_error', `${canonical} did not finish: ${why}`);
  if (utf8Length(JSON.stringify(input)) > limits.maxInputBytes)
    return failed(`what its server asked for has more than ${limits.maxInputBytes} bytes.`);
  const result = failed(
    `its server wants an answer first. ${questionOf(input.requests)} Call it in a turn of a session, which can wait for it.`,
  );
  return { ...result, input };
}

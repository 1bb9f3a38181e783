/**
 * Runs the tools of `mcp` servers: one call of the server's own tool by its own name, and whatever it asks on its way. What may be called,
 * with what arguments, was settled at the door (`engine/call-tool.ts`); how the server is spoken with is `ports/upstream.ts`.
 */
import { cancelled, questionOf } from '../core/elicitation.ts';
import type { EditionTool } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import { toGiven, type GivenInput, type InputAnswer, type InputRequest, type InputRequired } from '../core/mcp-input.ts';
import { Problem } from '../core/problem.ts';
import { secretHostOf } from '../core/secret.ts';
import { seenJson } from '../core/seen-json.ts';
import type { ServerAccess } from '../core/server.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { utf8Length } from '../core/utf8.ts';
import type { ToolAnswer, ToolContext, ToolExecutor } from '../ports/tool-executor.ts';
import type { McpUpstream, UpstreamCall, UpstreamContext, UpstreamHooks } from '../ports/upstream.ts';
import { sortAsked, sortInput } from './asked-input.ts';

/** `server`: `not_found` when it is gone. */
export type McpExecutorParts = { server(name: string): Promise<ServerAccess>; upstream: Pick<McpUpstream, 'callTool'> };

export function createMcpExecutor({ server, upstream }: McpExecutorParts): ToolExecutor {
  return {
    host: async (tool) => secretHostOf((await server(tool.server)).url),
    // What a server says of its tools counts only where somebody trusts it.
    isSafe: ({ trusted, annotations }) => trusted === true && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true),
    async execute(tool, args, context) {
      try {
        return await callUntilAnswered(upstream, await server(tool.server), toCall(tool, args, context), context);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return errorResult(error.code === 'upstream_timeout' ? 'timeout' : 'tool_error', `${tool.canonical} failed: ${error.detail}`);
      }
    },
  };
}

type Call = UpstreamCall & { canonical: string };

/** The schema as it is listed: an entry may show models another one, and what headers are made from stands here. */
function toCall(
  { canonical, ownName, sourceSchema, inputSchema, outputSchema }: EditionTool,
  args: Call['arguments'],
  context: ToolContext,
): Call {
  return {
    canonical,
    name: ownName,
    arguments: args,
    inputSchema: sourceSchema ?? inputSchema,
    ...(outputSchema && { outputSchema }),
    idempotencyKey: context.idempotencyKey,
  };
}

/** Called again at once as long as everything that the server asks can be said without asking anybody. */
async function callUntilAnswered(
  upstream: McpExecutorParts['upstream'],
  server: ServerAccess,
  { canonical, ...call }: Call,
  context: ToolContext,
): Promise<ToolAnswer> {
  const unheard: string[] = [];
  const hooks = toHooks(server, context, unheard);
  let given: GivenInput | null = context.given;
  for (let round = 0; round <= limits.maxInputRounds; round += 1) {
    const answer = await upstream.callTool(server, { ...call, ...(given && { given }) }, hooks, toUpstream(context));
    if (answer.kind === 'result') return toldResult(answer.result, unheard);
    const sorted = sortInput(server, answer.input, context.channel.askable ?? {});
    if (sorted.fault !== null) return errorResult('tool_error', `${canonical} did not finish: ${sorted.fault}.`);
    if (Object.keys(sorted.input.requests).length > 0) return askedAnswer(canonical, sorted.input, context);
    given = toGiven(sorted.input, {});
  }
  return errorResult('limit_reached', `${canonical} asked for input again and again and gave no answer of its own. Go on without it.`);
}

function toUpstream({ fetch, secret, tokens, signal, now, log, conversation }: ToolContext): UpstreamContext {
  return { fetch, secret, signal, now, log, conversation, ...(tokens && { tokens }) };
}

/** `unheard`: what nobody could be asked while the call was open, for the result. */
function toHooks(server: ServerAccess, { channel }: ToolContext, unheard: string[]): UpstreamHooks {
  const { ask, askable = {} } = channel;
  let asked = 0;
  const answer = async (request: InputRequest, key: string): Promise<InputAnswer> => {
    asked += 1;
    if (asked > limits.maxInputRequests)
      throw new Problem('forbidden', `More than ${limits.maxInputRequests} questions in one call are not answered.`);
    const sorted = sortAsked(server, request, askable);
    if ('answer' in sorted) return sorted.answer;
    if ('fault' in sorted) throw new Problem('forbidden', `This cannot be answered: ${sorted.fault}.`);
    if (ask !== undefined) return await ask(sorted.question, key);
    unheard.push(questionOf({ [key]: sorted.question }));
    return cancelled;
  };
  return {
    askable,
    progress: (update) => channel.progress?.(update),
    notice: (notice) => channel.notice?.(notice),
    // Where somebody can be asked at all: a server that is told so and asks while the call is open is answered, if only with a no.
    ...((ask !== undefined || askable.elicitation !== undefined) && { ask: answer }),
  };
}

function toldResult(result: ToolResult, unheard: readonly string[]): ToolResult {
  const { content, structuredContent } = result;
  // A model reads texts: an answer of structure alone is told in one.
  const nothing = structuredContent === undefined ? '[The tool answered nothing, which is no error.]' : seenJson(structuredContent);
  const told = content.length > 0 ? content : [{ type: 'text' as const, text: nothing }];
  const notes = unheard.map((question) => ({
    type: 'text' as const,
    text: `[While it ran: ${question} Nobody could be asked then, so it was told that the question was cancelled.]`,
  }));
  return { ...result, content: [...told, ...notes] };
}

/** With the result for those who cannot wait: what it asked, in words. */
function askedAnswer(canonical: string, input: InputRequired, { channel }: ToolContext): ToolAnswer {
  if (utf8Length(JSON.stringify(input)) > limits.maxInputBytes)
    return errorResult('tool_error', `${canonical} did not finish: what it asked for is larger than ${limits.maxInputBytes} bytes.`);
  const text = `${canonical} did not finish: it needs an answer first. ${questionOf(input.requests)} Call it in a session, in a turn, where a person can answer.`;
  const result = errorResult('tool_error', text);
  return channel.askable === undefined ? result : { ...result, input };
}

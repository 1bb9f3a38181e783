/**
 * Runs the tools of `mcp` servers: each call is one call of the server's tool by its own name. `engine/call/call-tool.ts` has already checked
 * permissions and arguments; `mcp/client/` handles the protocol and the server's input requests.
 */
import { cancelled, questionText } from '../core/servers/elicitation.ts';
import { type EditionTool, isRepeatable } from '../core/toolset/edition-tool.ts';
import { failedCall } from '../engine/call/sent-effects.ts';
import { limits } from '../core/limits/limits.ts';
import { canElicit, type InputRequired } from '../core/tools/mcp-input.ts';
import { Problem } from '../core/problem.ts';
import { recordOf } from '../core/json/wire-value.ts';
import { endedCode, unansweredCode } from '../core/servers/stdio.ts';
import { secretHostOf } from '../core/secrets/secret.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import { connectText, type UserConnection } from '../core/servers/user-connection.ts';
import { toCallResult } from '../core/tools/offer-result.ts';
import { errorResult, type ProtocolFault, type ToolResult } from '../core/tools/tool.ts';
import { utf8Length } from '../core/text/utf8.ts';
import type { ToolOutcome, ToolContext, ToolExecutor } from '../ports/tool-executor.ts';
import { ServerRpcError } from '../engine/mcp/rpc-error.ts';
import type { CallerChannel, McpUpstream, UpstreamAnswer, UpstreamCall, UpstreamContext, UpstreamHooks } from '../ports/upstream.ts';
import { toCarrier } from '../core/telemetry/trace-context.ts';
import type { SpanStart, WithTelemetry } from '../ports/telemetry.ts';
import { KB } from '../core/limits/units.ts';

/** The input requests of a call, as JSON, with the state that its server expects back. */
export const maxInputBytes = 512 * KB;

/** `server` throws `not_found` if the server was removed. `changed`: the server reported during a call that its lists changed. */
export type McpExecutorParts = WithTelemetry & {
  server(name: string): Promise<ServerAccess>;
  upstream: Pick<McpUpstream, 'callTool' | 'request'>;
  stdio?: UpstreamContext['stdio'];
  changed?(server: string): void;
};

export function createMcpExecutor({ server, upstream, stdio, changed, telemetry }: McpExecutorParts): ToolExecutor {
  return {
    host: async (tool) => secretHostOf((await server(tool.server)).url),
    isSafe: (tool) => isRepeatable(tool),
    async execute(tool, args, context) {
      const unheard: string[] = [];
      const requests = new CallRequests();
      try {
        const hooks: UpstreamHooks = {
          ...toHooks(context.channel, unheard),
          onListChanged: () => changed?.(tool.server),
          onSend: () => {
            requests.hasBegun = true;
            context.sending?.();
          },
        };
        const known = await server(tool.server);
        // An agent may set another timeout for its tools.
        const access = context.timeoutMs === undefined ? known : { ...known, timeoutMs: context.timeoutMs };
        const call = (own: UpstreamHooks) =>
          send(upstream, access, { tool, args, context }, own, {
            ...{ ...toUpstream(context), fetch: requests.counted(context.fetch) },
            stdio: stdio && { ...stdio, fetch: (request, run) => requests.count(() => stdio.fetch(request, run)) },
          });
        const answer =
          telemetry == null
            ? await call(hooks)
            : await telemetry.during(callSpan(tool), async (span) => {
                const found = await call({ ...hooks, meta: { ...hooks.meta, ...toCarrier(span.context) } });
                if (found.kind === 'result' && found.result.isError) span.fail('tool_error');
                return found;
              });
        if (answer.kind !== 'result') return askedAnswer(tool.canonical, answer.input);
        const fault = answer.result.protocolError;
        return {
          ...withCancelledRequests(answer.result, unheard),
          ...(hasEnded(fault) && { serverFault: true }),
          ...(isLost(fault) && { failed: 'unanswered' }),
        };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const connection = error.extra.unauthorized === true ? context.tokens?.connection : undefined;
        if (connection !== undefined) return notConnected(tool, connection, context);
        const { failed: _how, ...result } = failedCall(tool.canonical, error);
        const rpc = tool.offer !== undefined && error.cause instanceof ServerRpcError ? { protocolError: error.cause.rpc } : {};
        const isFault = isServerFault(error, context);
        const how = requests.areUnsent ? 'unsent' : isAnswer(error) ? 'rejected' : 'unanswered';
        return {
          ...withCancelledRequests({ ...result, ...rpc }, unheard),
          ...(isFault && { serverFault: true }),
          ...((isFault || how !== 'rejected') && { failed: how }),
        };
      }
    },
  };
}

/**
 * Counts the requests from the call on: none was sent if it did not begin, or if none of them was: a later one that is not sent, such as that for a task,
 * says nothing about the call.
 */
class CallRequests {
  hasBegun = false;
  #tried = 0;
  #unsent = 0;

  get areUnsent(): boolean {
    return !this.hasBegun || this.#tried === this.#unsent;
  }

  counted(send: ToolContext['fetch']): ToolContext['fetch'] {
    return (request) => this.count(() => send(request));
  }

  async count(send: () => Promise<Response>): Promise<Response> {
    if (!this.hasBegun) return await send();
    this.#tried += 1;
    try {
      return await send();
    } catch (error) {
      if (error instanceof Problem && error.extra.sent === false) this.#unsent += 1;
      throw error;
    }
  }
}

/** Whether the server responded to the request, if only with an error or too much. Their files are loaded with the first connection. */
function isAnswer({ name, cause }: Problem): boolean {
  if (name === 'AnswerTooLarge' || (cause instanceof Error && cause.name === 'HttpFault')) return true;
  return cause instanceof ServerRpcError && !isLost(cause.rpc);
}

/**
 * Whether the server could not be started or reached, ended, or broke the protocol. An error that it returned is an answer, as is a response over the
 * limit (`ResponseTooLarge`, whose file is loaded with the first connection). A timeout may be due to this call only.
 */
function isServerFault(error: Problem, { tokens, signal }: ToolContext): boolean {
  if (error.code !== 'upstream_error' || signal.aborted || error.name === 'AnswerTooLarge') return false;
  const isOfUser = error.extra.unauthorized === true && tokens?.connection !== undefined;
  return !(error.cause instanceof ServerRpcError && !hasEnded(error.cause.rpc)) && !isOfUser;
}

function hasEnded(fault: ProtocolFault | undefined): boolean {
  return recordOf(fault?.data).code === endedCode;
}

/** The launcher does not know what the program did with the call. */
function isLost(fault: ProtocolFault | undefined): boolean {
  return hasEnded(fault) || recordOf(fault?.data).code === unansweredCode;
}

type ServerCall = { tool: EditionTool; args: Record<string, unknown>; context: ToolContext };

async function send(
  upstream: McpExecutorParts['upstream'],
  server: ServerAccess,
  { tool, args, context }: ServerCall,
  hooks: UpstreamHooks,
  outside: UpstreamContext,
): Promise<UpstreamAnswer<ToolResult>> {
  const { offer } = tool;
  if (offer === undefined) return await upstream.callTool(server, toCall(tool, args, context), hooks, outside);
  const { method } = offer;
  // Nothing is sent now: the stream on which the client listens subscribes (`engine/mcp/serve-watch.ts`).
  if (method === 'resources/subscribe') return { kind: 'result', result: toCallResult(method, {}) };
  const answer = await upstream.request(server, { method, params: args, ...givenOf(context) }, hooks, outside);
  return answer.kind === 'result' ? { kind: 'result', result: toCallResult(method, answer.result) } : answer;
}

/** The answer to our own question (`connectKey`) is not for the server. */
function givenOf({ given }: ToolContext): Pick<UpstreamCall, 'given'> {
  return given === null || connectKey in given.responses ? {} : { given };
}

/** Asks an MCP client that can open a page for the user; others get the link as text. A client that was asked makes the call again. */
function notConnected(
  { canonical, server }: EditionTool,
  connection: UserConnection,
  { isTurn, channel, given }: ToolContext,
): ToolOutcome {
  const result = errorResult('connection_required', `${canonical} was not run. ${connectText(server, connection)}`);
  const { url } = connection;
  const mayAsk = isTurn !== true && given === null && canElicit(channel.askable ?? {}, 'url');
  if (url === null || !mayAsk) return result;
  const message = `Connect your account at the server ${server} on this page, then continue.`;
  const params = { mode: 'url', message, url, elicitationId: `connect-${server}` };
  return { ...result, input: { requests: { [connectKey]: { method: 'elicitation/create', params } } } };
}

const connectKey = 'moniker-connect';

function callSpan({ ownName, server, offer }: EditionTool): SpanStart {
  const method = { 'mcp.method.name': offer?.method ?? 'tools/call', 'moniker.server': server };
  // URIs may contain personal data, so they are not in the name.
  if (offer !== undefined) return { name: offer.method, kind: 'client', attributes: method };
  const attributes = { ...method, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': ownName };
  return { name: `tools/call ${ownName}`, kind: 'client', attributes };
}

/** Uses the schema that the server listed: an entry may show models another one, and the header annotations are in this one. */
function toCall(
  { ownName, sourceSchema, inputSchema, outputSchema }: EditionTool,
  args: Record<string, unknown>,
  context: ToolContext,
): UpstreamCall {
  return {
    name: ownName,
    arguments: args,
    inputSchema: sourceSchema ?? inputSchema,
    ...(outputSchema && { outputSchema }),
    ...givenOf(context),
    idempotencyKey: context.idempotencyKey,
  };
}

function toUpstream({ fetch, secret, tokens, signal, now, log, conversation, owner }: ToolContext): UpstreamContext {
  return { fetch, secret, signal, now, log, conversation, ...(owner && { owner: owner.keyId }), ...(tokens && { tokens }) };
}

/**
 * If input cannot be given while the call is open, a server of 2025 that requests it receives `cancel`: so in chat turns, which may wait
 * for days and across restarts (contract §5), unlike a connection. With an MCP client the request is passed on (`engine/mcp/in-flight-call.ts`).
 * `unheard`: the cancelled requests, for the result.
 */
function toHooks({ ask, askable = {}, ...channel }: CallerChannel, unheard: string[]): UpstreamHooks {
  const cancel: UpstreamHooks['ask'] = async (request, key) => {
    if (unheard.length < limits.maxInputRequests) unheard.push(questionText({ [key]: request }));
    return cancelled;
  };
  const answer = ask ?? (askable.elicitation === undefined ? undefined : cancel);
  return { ...channel, askable, isLive: ask !== undefined, ...(answer && { ask: answer }) };
}

function withCancelledRequests(result: ToolResult, unheard: readonly string[]): ToolResult {
  if (unheard.length === 0) return result;
  const text = `[While it ran: ${unheard.join(' ')} No user was available to answer, so the request was cancelled.]`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

/** For callers that cannot wait, returns the input requests as an error text. */
function askedAnswer(canonical: string, input: InputRequired): ToolOutcome {
  const failed = (why: string): ToolResult => errorResult('tool_error', `${canonical} did not finish: ${why}`);
  if (utf8Length(JSON.stringify(input)) > maxInputBytes) return failed(`its server's input request is larger than ${maxInputBytes} bytes.`);
  const result = failed(
    `its server requires input. ${questionText(input.requests)} Call the tool in a turn of a session, which can wait for the input.`,
  );
  return { ...result, input };
}

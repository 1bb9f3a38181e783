/** Runs one `tools/call` under the tool's own name, with input requests and tasks, until its result. Errors of the tool are results. */
import { limits } from '../../core/limits/limits.ts';
import { argumentHeaders } from '../../engine/mcp/argument-headers.ts';
import { ServerRpcError, toProtocolFault } from '../../engine/mcp/rpc-error.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { listOf, recordOf } from '../../core/json/wire-value.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { rpcCodes } from '../server/rpc-fault.ts';
import type { Connection } from './connection.ts';
import { withConnection } from './with-connection.ts';
import { ResponseTooLarge, serverMessage } from './upstream-fault.ts';
import { type RoundOutcome, readRequestState, answerInputRounds } from './input-rounds.ts';
import { answerPages, CompletedPages, pagesText } from './pages.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { asTask, followTask, taskOf, updateTask, requiresTask } from './tasks.ts';
import { toToolResult } from './tool-result.ts';

export async function callServerTool(
  memory: ConnectionMemory,
  server: ServerAccess,
  call: UpstreamCall,
  hooks: UpstreamHooks,
  context: UpstreamContext,
): Promise<UpstreamAnswer<ToolResult>> {
  try {
    const completed = new CompletedPages();
    const watching: UpstreamHooks = {
      ...hooks,
      elicitationComplete(id) {
        completed.note(id);
        hooks.elicitationComplete?.(id);
      },
    };
    const options = { hooks: watching, maxBytes: limits.maxToolReplyBytes };
    return await withConnection(memory, server, context, options, async (connection) => {
      const answered = await answerOf(connection, server, call, watching, completed);
      if (answered.kind === 'input-required') return answered;
      const result = toToolResult(call.name, answered.result, call.outputSchema);
      return { kind: 'result', result: answered.error === undefined ? result : { ...result, protocolError: answered.error } };
    });
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
    const text = `${call.name} returned more than ${limits.maxToolReplyBytes} bytes, so the result was discarded. Request less data, or a part of it.`;
    return { kind: 'result', result: errorResult('tool_error', text) };
  }
}

async function answerOf(
  connection: Connection,
  server: ServerAccess,
  call: UpstreamCall,
  hooks: UpstreamHooks,
  completed: CompletedPages,
): Promise<RoundOutcome> {
  // Servers of 2025 may send their input requests on this stream instead of the call's own; messages sent before it is open are lost.
  if (connection.era === 'legacy' && hooks.ask !== undefined && Object.keys(hooks.askable ?? {}).length > 0)
    await connection.openAskingStream();
  try {
    return await answerPages(connection, server, hooks, call, completed, () => attempt(connection, server, call, hooks));
  } catch (error) {
    if (!(error instanceof ServerRpcError) || error.rpc.code === rpcCodes.unsupportedRevision) throw error;
    const text = refusalText(call.name, error) + pagesText(server, error);
    return { kind: 'result', result: { isError: true, content: [{ type: 'text', text }] }, error: toProtocolFault(error.rpc) };
  }
}

async function attempt(
  connection: Connection,
  server: ServerAccess,
  call: UpstreamCall,
  { askable = {}, onSend }: UpstreamHooks,
): Promise<RoundOutcome> {
  const { own, task } = readRequestState(call.given?.state);
  if (task !== undefined && connection.era === 'modern') {
    onSend?.();
    await updateTask(connection, task, { ...own, ...call.given?.responses });
    return await followTask(connection, server, askable, { taskId: task, status: 'working' });
  }
  const given = connection.era === 'modern' ? call.given : undefined;
  const answered = await answerInputRounds(server, askable, given, (retry) => {
    onSend?.();
    return send(connection, call, retry);
  });
  const startedTask = answered.kind === 'result' ? taskOf(connection.era, answered.result) : null;
  return startedTask === null ? answered : await followTask(connection, server, askable, startedTask);
}

async function send(connection: Connection, call: UpstreamCall, more: Record<string, unknown>): Promise<Record<string, unknown>> {
  const params = { name: call.name, arguments: call.arguments, ...more };
  const repeated = connection.era === 'modern' ? argumentHeaders(call.inputSchema, call.arguments) : {};
  const headers = { ...repeated, 'idempotency-key': call.idempotencyKey };
  try {
    const result = await connection.request('tools/call', params, { headers });
    if (!requiresTask(connection.era, result.isError === true ? firstText(result) : '')) return result;
  } catch (error) {
    if (!(error instanceof ServerRpcError) || !requiresTask(connection.era, error.message)) throw error;
  }
  return connection.request('tools/call', { ...params, ...asTask }, { headers });
}

function firstText({ content }: Record<string, unknown>): string {
  const { text } = recordOf(listOf(content)[0]);
  return typeof text === 'string' ? text : '';
}

/** Reported as the tool's own error: the server rejected this call and is not broken. */
function refusalText(name: string, { rpc: { code, message } }: ServerRpcError): string {
  return `${name} failed: its server returned error ${code}: ${serverMessage(message)}.`;
}

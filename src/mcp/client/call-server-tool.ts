/** Runs one `tools/call` under the tool's own name, with input requests and tasks, until its result. Errors of the tool are results. */
import { ProtocolError } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { canElicit, type AskableInput, type InputRequest } from '../../core/tools/mcp-input.ts';
import { toProtocolFault } from '../../engine/mcp/rpc-error.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { isRecord, listOf, recordOf } from '../../core/json/wire-value.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { type Connection, withConnection } from './connection.ts';
import { callPlain } from './plain-call.ts';
import { ResponseTooLarge, serverMessage, unsupportedVersion } from './upstream-fault.ts';
import { type RoundOutcome, readRequestState, screenInputRequests, answerInputRounds, toInputRequest } from './input-rounds.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { asTask, followTask, taskOf, updateTask, requiresTask } from './tasks.ts';
import { toToolResult } from './tool-result.ts';
import { backoffMs } from '../../core/limits/backoff.ts';

export async function callServerTool(
  memory: ConnectionMemory,
  server: ServerAccess,
  call: UpstreamCall,
  hooks: UpstreamHooks,
  context: UpstreamContext,
): Promise<UpstreamAnswer<ToolResult>> {
  try {
    const plain = await callPlain(memory, server, call, hooks, context);
    if ('result' in plain) return { kind: 'result', result: toToolResult(call.name, plain.result, call.outputSchema) };
    const options = { hooks, maxBytes: limits.maxToolReplyBytes, sent: plain.sent };
    return await withConnection(memory, server, context, options, async (connection) => {
      const answered = await answerOf(connection, server, call, hooks);
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

async function answerOf(connection: Connection, server: ServerAccess, call: UpstreamCall, hooks: UpstreamHooks): Promise<RoundOutcome> {
  const askable = hooks.askable ?? {};
  // Servers of 2025 may send their input requests on this stream instead of the call's own; messages sent before it is open are lost.
  if (connection.era === 'legacy' && hooks.ask !== undefined && Object.keys(askable).length > 0)
    await connection.openServerStream(() => {});
  try {
    const { own, task, pages = 0 } = readRequestState(call.given?.state);
    // The user has only been sent to the page; what the server waits for takes longer.
    if (pages > 0) await connection.idleTimeout.pauseDuring(systemClock.sleep(backoffMs(pageBackoff, pages), connection.signal));
    if (task !== undefined && connection.era === 'modern') {
      await updateTask(connection, task, { ...own, ...call.given?.responses });
      return await followTask(connection, server, askable, { taskId: task, status: 'working' });
    }
    const given = connection.era === 'modern' ? call.given : undefined;
    const answered = await answerInputRounds(server, askable, given, (retry) => send(connection, call, retry));
    const startedTask = answered.kind === 'result' ? taskOf(connection.era, answered.result) : null;
    return startedTask === null ? answered : await followTask(connection, server, askable, startedTask);
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code === unsupportedVersion) throw error;
    const pages = readRequestState(call.given?.state).pages ?? 0;
    return (
      wantedPages(server, askable, error, pages) ?? {
        kind: 'result',
        result: refusedResult(call.name, error),
        error: toProtocolFault(error),
      }
    );
  }
}

/** The pause before a call is repeated whose user was sent to a page; doubles with each round. */
const pageBackoff = { firstMs: 1_000, maxMs: 15_000 };

/** 2025-11-25 `UrlElicitationRequired`: the user has to open URLs before the call is repeated. */
const urlElicitationRequired = -32042;

async function send(connection: Connection, call: UpstreamCall, more: Record<string, unknown>): Promise<Record<string, unknown>> {
  const params = { name: call.name, arguments: call.arguments, ...more };
  const headers = { 'idempotency-key': call.idempotencyKey };
  try {
    const result = await connection.call(params, call.inputSchema, headers);
    if (!requiresTask(connection.era, result.isError === true ? firstText(result) : '')) return result;
  } catch (error) {
    if (!(error instanceof ProtocolError) || !requiresTask(connection.era, error.message)) throw error;
  }
  return connection.call({ ...params, ...asTask }, call.inputSchema, headers);
}

function firstText({ content }: Record<string, unknown>): string {
  const { text } = recordOf(listOf(content)[0]);
  return typeof text === 'string' ? text : '';
}

/** `round`: how often the user was sent to pages before. null: the caller gets the server's error. */
function wantedPages(server: ServerAccess, askable: AskableInput, error: ProtocolError, round: number): RoundOutcome | null {
  const pages = isRecord(error.data) ? listOf(error.data.elicitations) : [];
  if (error.code !== urlElicitationRequired || pages.length === 0 || !canElicit(askable, 'url')) return null;
  const asked = pages.map((params, index): [string, InputRequest] => [
    String(index),
    { method: 'elicitation/create', params: recordOf(params) },
  ]);
  const { others } = screenInputRequests(server, askable, Object.fromEntries(asked));
  return Object.keys(others).length === 0 ? null : { kind: 'input-required', input: toInputRequest(others, { own: {}, pages: round + 1 }) };
}

/** Reported as the tool's own error: the server rejected this call and is not broken. */
function refusedResult(name: string, { code, message }: ProtocolError): Record<string, unknown> {
  const text = `${name} failed: its server returned error ${code}: ${serverMessage(message)}.`;
  return { isError: true, content: [{ type: 'text', text }] };
}

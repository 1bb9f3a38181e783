/**
 * The bridge of `moniker mcp <toolset>`: an MCP server on standard input and output, for clients that start a command. It passes each message on to
 * `/mcp/{toolset}` of the service, and what comes back to the client. It answers a request itself only if the service cannot be reached.
 */
import {
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord, recordOf, tryParse } from '../core/json/wire-value.ts';
import { printError } from '../local/printing.ts';
import { readBoundedLines } from './bounded-lines.ts';
import { connectService, type ConnectionOptions } from './connection.ts';
import { describeFailure } from './failure.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';

/** Results have at most 16 MB; the rest is the envelope. */
const maxLineBytes = 17 * 1024 * 1024;
/** For open requests, and for the end of the session. */
const closingMs = 2_000;
const pollMs = 20;
/** JSON-RPC: "reserved for implementation-defined server-errors". */
const serviceErrorCode = -32_000;
const protocolVersionMember = 'io.modelcontextprotocol/protocolVersion';

type Id = string | number;

/** Ends the process when the client closes standard input. */
export async function serveOverStdio(toolset: string, options: ConnectionOptions): Promise<void> {
  const { url, headers, send } = connectService(options);
  const service = new StreamableHTTPClientTransport(new URL(`${url}/mcp/${encodeURIComponent(toolset)}`), {
    requestInit: { headers },
    fetch: (input, init) => send(new Request(input, init)),
  });
  const open = new Map<Id, { isModern: boolean; isInitialize: boolean; cancel: AbortController }>();

  const toClient = (message: JSONRPCMessage): void => {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  };
  service.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) {
      const request = open.get(message.id);
      open.delete(message.id);
      const version = isJSONRPCResultResponse(message) && recordOf(message.result).protocolVersion;
      // Legacy revisions: later requests name the version in a header.
      if (request?.isInitialize && typeof version === 'string') service.setProtocolVersion(version);
    }
    toClient(message);
  };

  const toService = async (message: JSONRPCMessage): Promise<void> => {
    if (!isJSONRPCRequest(message)) {
      if ('method' in message && message.method === 'notifications/cancelled') {
        const request = open.get(recordOf(message.params).requestId as Id);
        // Revision 2026-07-28 cancels over HTTP by closing the request, and has no such notification there.
        if (request?.isModern) return request.cancel.abort();
      }
      return service.send(message).catch((error: unknown) => printError(`moniker mcp: ${explain(error)}`));
    }
    const isModern = protocolVersionMember in recordOf(message.params?._meta);
    const cancel = new AbortController();
    open.set(message.id, { isModern, isInitialize: message.method === 'initialize', cancel });
    try {
      await service.send(message, { requestSignal: cancel.signal });
    } catch (error) {
      open.delete(message.id);
      if (!cancel.signal.aborted) toClient(errorResponse(message.id, error));
    }
  };

  await service.start();
  for await (const line of readBoundedLines(process.stdin, maxLineBytes)) {
    if (line.trim() === '') continue;
    const message = toMessage(tryParse(line));
    if (message !== null) void toService(message);
    else printError('moniker mcp: skipped a line of standard input that is not a JSON-RPC message');
  }
  for (const deadline = Date.now() + closingMs; open.size > 0 && Date.now() < deadline; ) await sleep(pollMs);
  await withTimeout(systemClock, service.terminateSession(), closingMs, () => undefined).catch(() => undefined);
  // Also ends the event stream of the session.
  process.exit(0);
}

/** The error of the service if it sent one for this request, otherwise one that says what to do. */
function errorResponse(id: Id, error: unknown): JSONRPCMessage {
  const { text } = recordOf(recordOf(error).data);
  const sent = toMessage(typeof text === 'string' ? tryParse(text) : undefined);
  if (sent !== null && 'error' in sent) return { ...sent, id };
  return { jsonrpc: '2.0', id, error: { code: serviceErrorCode, message: explain(error) } };
}

function explain(error: unknown): string {
  const { status } = recordOf(recordOf(error).data);
  if (error instanceof Error && error.name === 'UnauthorizedError')
    return 'The service refused the key. Pass the right one with --key or MONIKER_KEY.';
  const { message, advice } = describeFailure(error);
  return [typeof status === 'number' ? `${status}: ${message}` : message, advice].filter(Boolean).join(' ');
}

/** Checks what this file relies on; the service checks the rest. */
function toMessage(value: unknown): JSONRPCMessage | null {
  const isMessage = isRecord(value) && value.jsonrpc === '2.0' && (typeof value.method === 'string' || 'id' in value);
  return isMessage ? (value as JSONRPCMessage) : null;
}

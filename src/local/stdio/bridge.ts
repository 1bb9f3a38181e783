/**
 * The bridge of the launcher: stdio servers behind MCP's Streamable HTTP (2025-11-25) on loopback, for the Worker. Each request carries the
 * launcher's token and what to run; the bridge stores no documents. It needs no event ids: a response that breaks off is a failed call. It also
 * reports the machine (`launch/host-watch.ts`), and refuses the CONNECT requests of clients, which workerd passes on (`workerd/config.ts`).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { hostReportPath } from '../../core/host-report.ts';
import { isRecord, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { KB, MB } from '../../core/limits/units.ts';
import { Problem } from '../../core/problem.ts';
import {
  changedPath,
  clockPath,
  endedPath,
  launcherHeader,
  processesPath,
  runHeader,
  type StdioCaller,
  type StdioRequest,
  type StdioRun,
} from '../../core/servers/stdio.ts';
import { encodeFrame } from '../../dialects/native.ts';
import { loopback } from '../launch/port.ts';
import type { BridgeSession, RpcMessage, RpcStream } from './bridge-sessions.ts';
import { BridgeFault } from './instance.ts';
import { createRunningServers, type RunningServers, type Surroundings } from './running-servers.ts';
import type { SharedServer } from './shared-server.ts';

/** A run has up to 48 kB, and each of its bytes may be encoded as three. */
const maxHeaderBytes = 256 * KB;
const maxBodyBytes = 20 * MB;
/** Bytes that the Worker has not read yet; a response with more is ended. */
const maxUnreadBytes = 64 * MB;
const maxSessionStreams = 32;

export type Bridge = { url: string; close(): Promise<void> };

/** `clockDoubt`: what is wrong with the clock of this machine. */
export async function startBridge(
  token: string,
  surroundings: Surroundings,
  clockDoubt: () => string | null = () => null,
): Promise<Bridge> {
  const { onLog } = surroundings;
  const servers = createRunningServers(token, surroundings);
  const server = createServer({ maxHeaderSize: maxHeaderBytes }, (request, response) => {
    handle({ servers, token, host: surroundings.host, clockDoubt }, request, response).catch((error: unknown) => {
      // The program did not start, or was not given the message.
      if (error instanceof BridgeFault) return answer(response, 502, { error: error.message, sent: false });
      onLog(`The bridge to stdio servers failed: ${String(error)}`);
      return answer(response, 502, { error: 'could not be called: an internal error.' });
    });
  });
  server.on('connect', (_request, socket) => {
    // Without a listener, a client that has gone would end the launcher.
    socket.once('error', () => socket.destroy());
    socket.end(noProxy);
  });
  // Calls may take longer than Node's default limit for a request.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: loopback, port: 0 }, resolve);
  });
  return {
    url: `http://${loopback}:${(server.address() as AddressInfo).port}/`, // It listens on TCP.
    async close() {
      server.close();
      await servers.close();
      server.closeAllConnections();
    },
  };
}

const noProxyBody = JSON.stringify(new Problem('method_not_allowed', 'This service is no proxy: it does not support CONNECT.').toBody());
const noProxy = `HTTP/1.1 405 Method Not Allowed\r\nContent-Type: application/problem+json\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\nContent-Length: ${noProxyBody.length}\r\nConnection: close\r\n\r\n${noProxyBody}`;

type BridgeParts = { servers: RunningServers; token: string; host: Surroundings['host']; clockDoubt(): string | null };

async function handle(
  { servers, token, host, clockDoubt }: BridgeParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers, method } = request;
  const isOurs = headers.host?.startsWith(`${loopback}:`) === true && headers.origin === undefined;
  if (!isOurs || !equalInConstantTime(String(headers[launcherHeader] ?? ''), token)) {
    answer(response, 403, { error: 'Only the Moniker that started this bridge can use it.' });
    return;
  }
  if (request.url === hostReportPath) return answer(response, 200, host());
  if (request.url === changedPath) {
    servers.check();
    response.writeHead(202).end();
    return;
  }
  if (request.url === clockPath) return answer(response, 200, clockDoubt());
  // Written by the Worker (`net/stdio-bridge.ts`), which has the token.
  const asked = JSON.parse(decodeURIComponent(String(headers[runHeader] ?? ''))) as StdioRequest;
  if (request.url === processesPath) return answer(response, 200, servers.list(asked.workspace));
  if (request.url === endedPath) {
    servers.endSession(asked.workspace, String(asked.owner));
    response.writeHead(202).end();
    return;
  }
  const { owner, conversation, isListening, startMs, ...run } = asked;
  const caller = { owner, conversation, isListening: isListening === true, startMs };
  if (method === 'POST') return await receive(servers, { run, caller }, request, response);
  const found = servers.find(run, String(headers['mcp-session-id'] ?? ''));
  if (found === null) return answer(response, 404, { error: 'The session does not exist.' });
  if (method === 'DELETE') {
    servers.closeSession(found.server, found.session);
    response.writeHead(204).end();
  } else if (method === 'GET' && found.session.streams.size < maxSessionStreams) {
    const stream = openStream(response, () => found.session.streams.delete(stream));
    found.session.streams.add(stream);
  } else answer(response, 405, { error: 'Not supported.' });
}

type Asked = { run: StdioRun; caller: StdioCaller };

async function receive(servers: RunningServers, asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const message = tryParse(await readBody(request));
  if (!isRecord(message)) return answer(response, 400, { error: 'sent something that is not one JSON-RPC message.' });
  if (message.method === 'initialize') return await initialize(servers, asked, response, message);
  const found = servers.find(asked.run, String(request.headers['mcp-session-id'] ?? ''));
  // The process has ended, or runs another command now: the Worker opens another session.
  if (found === null) return answer(response, 404, { error: 'The session does not exist.' });
  const { server, session } = found;
  if (message.id === undefined || message.method === undefined) {
    server.receiveFrom(session, message);
    response.writeHead(202).end();
    return;
  }
  sendRequest(server, session, message, response);
}

function sendRequest(server: SharedServer, session: BridgeSession, message: RpcMessage, response: ServerResponse): void {
  const stream = openStream(response, () => server.abandon(stream));
  server.request(session, message, stream);
}

async function initialize(servers: RunningServers, { run, caller }: Asked, response: ServerResponse, message: RpcMessage): Promise<void> {
  const server = await servers.use(run, caller);
  const { session, welcome } = server.openSession(recordOf(recordOf(message.params).capabilities), caller);
  response.setHeader('mcp-session-id', session.id);
  answer(response, 200, { jsonrpc: '2.0', id: message.id, result: welcome });
}

/** `onDisconnect`: the reader has closed the connection before the end. */
function openStream(response: ServerResponse, onDisconnect: () => void): RpcStream {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  let isOver = false;
  response.once('close', () => {
    if (!isOver) onDisconnect();
    isOver = true;
  });
  return {
    send(message) {
      if (isOver) return false;
      response.write(encodeFrame({ event: 'message', data: JSON.stringify(message) }));
      if (response.writableLength > maxUnreadBytes) response.destroy();
      return true;
    },
    end() {
      isOver = true;
      response.end();
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw new BridgeFault(`cannot be sent more than ${maxBodyBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

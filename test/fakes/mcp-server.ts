/**
 * A fake MCP server, built on the SDK, on loopback, in both revisions (2026-07-28 stateless; 2025-11-25 with sessions). Its tools are
 * plain data, sent unchanged (invalid ones too), and can be replaced while it runs. It records requests, so that a test can check the
 * wire. For what no SDK would send use `mcp-script.ts`.
 */
import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isRecord } from '../../src/core/json/wire-value.ts';
import { listenUpstream } from './upstreams/upstream.ts';

/** A tool as in `tools/list`, and the result of a call: a `CallToolResult` (or `InputRequiredResult`), or the error it throws. */
export type FakeTool = {
  name: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  /** Absent: returns its name and arguments as JSON text. */
  answer?(args: Record<string, unknown>, context: ServerContext): unknown;
};

export type McpServerParts = {
  tools?: readonly FakeTool[];
  /** Extensions that it declares. */
  extensions?: Record<string, Record<string, unknown>>;
  /** Called when a client of the 2025 revision reports that its roots have changed, with the server of its session. */
  onRootsChanged?(server: Server): Promise<void>;
  /** The size of a page of `tools/list`; default: all on one page. */
  pageSize?: number;
  prompts?: readonly Record<string, unknown>[];
  resources?: readonly Record<string, unknown>[];
  resourceTemplates?: readonly Record<string, unknown>[];
  /** Returns the messages of a prompt; default: a text with its name and arguments. */
  messages?(name: string, args: Record<string, string>): readonly Record<string, unknown>[];
  /** Returns the whole result instead. */
  prompt?(name: string, args: Record<string, string>): Record<string, unknown>;
  /** Returns the contents of a resource, besides its URI; default: a text with the URI. */
  read?(uri: string): Record<string, unknown>;
  ttlMs?: number;
  /** Of all its lists. */
  listMeta?: Record<string, unknown>;
  /** The revisions it speaks; it rejects the other one. */
  eras?: 'both' | 'both-without-sessions' | 'legacy' | 'modern';
  instructions?: string;
  /** Called for every request before anything else; a returned `Response` is sent (such as a 401). */
  gate?(request: Request): Response | null;
};

/** `session`: in the 2025 revision, if the request has one. `body`: the JSON-RPC message. */
export type HeardRequest = {
  httpMethod: string;
  method: string;
  body: Record<string, unknown>;
  headers: Record<string, string>;
  session: string | null;
};

export type FakeMcpServer = {
  /** Its endpoint. */
  url: string;
  /** `host:port`, as secrets are bound and private hosts are allowed. */
  host: string;
  /** Every HTTP request, unchanged. */
  heard: HeardRequest[];
  /** The parameters of each `tools/call`, in order. */
  calls: () => { name: string; arguments: Record<string, unknown> }[];
  setTools(tools: readonly FakeTool[]): void;
  /** Sends a log message in every session, outside of any request. */
  tellLog(data: unknown): Promise<void>;
  /** Notifies all listeners that the list has changed. */
  tellChanged(): Promise<void>;
  /** Notifies all sessions whose client can open pages that the user has completed a page. */
  tellCompleted(elicitationId: string): Promise<void>;
  /** Forgets its sessions, as after a restart: their ids get a 404. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

export async function listenMcpServer(parts: McpServerParts = {}): Promise<FakeMcpServer> {
  const { eras = 'both', gate } = parts;
  const heard: HeardRequest[] = [];
  const state = { tools: parts.tools ?? [] };
  const make = (): Server => makeServer(parts, state);
  const modern = createMcpHandler(make, { legacy: eras === 'both-without-sessions' ? 'stateless' : 'reject', keepAliveMs: 0 });
  const sessions = createSessions(make);
  const { url, close } = await listenUpstream({
    async handle(request) {
      heard.push(await hear(request.clone()));
      const refused = gate?.(request) ?? null;
      if (refused !== null) return refused;
      const isLegacy = eras === 'legacy' || (eras === 'both' && (await isLegacyRequest(request.clone())));
      return isLegacy ? sessions.handle(request) : modern.fetch(request);
    },
  });
  return {
    url: `${url}/mcp`,
    host: new URL(url).host,
    heard,
    calls: () => heard.filter(({ method }) => method === 'tools/call').map(({ body }) => toCall(body)),
    setTools(tools) {
      state.tools = tools;
    },
    tellLog: (data) => sessions.tell((server) => server.sendLoggingMessage({ level: 'warning', logger: 'fake', data })),
    async tellChanged() {
      modern.notify.toolsChanged();
      await sessions.tell((server) => server.sendToolListChanged());
    },
    tellCompleted: (elicitationId) =>
      sessions.tell(async (server) => {
        if (server.getClientCapabilities()?.elicitation?.url) await server.createElicitationCompletionNotifier(elicitationId)();
      }),
    restart: () => sessions.forget(),
    async close() {
      await Promise.all([modern.close(), sessions.forget()]);
      close();
    },
  };
}

async function hear(request: Request): Promise<HeardRequest> {
  const body: unknown = request.method === 'POST' ? await request.json().catch(() => null) : null;
  const message = isRecord(body) ? body : {};
  return {
    httpMethod: request.method,
    method: typeof message.method === 'string' ? message.method : '',
    body: message,
    headers: Object.fromEntries(request.headers),
    session: request.headers.get('mcp-session-id'),
  };
}

function toCall(body: Record<string, unknown>): { name: string; arguments: Record<string, unknown> } {
  const params = isRecord(body.params) ? body.params : {};
  return { name: String(params.name), arguments: isRecord(params.arguments) ? params.arguments : {} };
}

function textMessage(name: string, args: Record<string, string>) {
  return [{ role: 'user', content: { type: 'text', text: `${name} ${JSON.stringify(args)}` } }];
}

function makeServer(parts: McpServerParts, state: { tools: readonly FakeTool[] }): Server {
  const {
    prompts,
    resources,
    resourceTemplates,
    ttlMs,
    pageSize,
    instructions,
    read = (uri) => ({ text: `text of ${uri}` }),
    messages = textMessage,
  } = parts;
  const server = new Server(
    { name: 'fake', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        logging: {},
        ...(parts.extensions && { extensions: parts.extensions as never }),
        ...(prompts && { prompts: {}, completions: {} }),
        ...((resources ?? resourceTemplates) && { resources: { subscribe: true } }),
      },
      ...(instructions !== undefined && { instructions }),
    },
  );
  const hints = { ...(ttlMs !== undefined && { ttlMs }), ...(parts.listMeta !== undefined && { _meta: parts.listMeta }) };
  const { onRootsChanged } = parts;
  if (onRootsChanged !== undefined) server.setNotificationHandler('notifications/roots/list_changed', () => onRootsChanged(server));
  // Listed tools may be invalid on purpose; the SDK's types only allow valid ones.
  const asResult = (result: Record<string, unknown>): never => result as never;
  server.setRequestHandler('tools/list', ({ params }) => {
    const start = Number(params?.cursor ?? 0);
    const end = start + (pageSize ?? state.tools.length);
    const page = state.tools.slice(start, end).map(({ answer: _answer, ...definition }) => definition);
    return asResult({ tools: page, ...hints, ...(end < state.tools.length && { nextCursor: String(end) }) });
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const args = params.arguments ?? {};
    const tool = state.tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw Object.assign(new Error(`there is no tool ${params.name}`), { code: -32602 });
    if (tool.answer === undefined) return { content: [{ type: 'text', text: JSON.stringify({ name: params.name, arguments: args }) }] };
    return (await tool.answer(args, context)) as never;
  });
  if (prompts !== undefined) {
    server.setRequestHandler('prompts/list', () => asResult({ prompts, ...hints }));
    server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }) =>
      asResult(parts.prompt?.(name, args) ?? { messages: messages(name, args) }),
    );
    server.setRequestHandler('completion/complete', ({ params }) => ({ completion: { values: [`${params.argument.value}1`] } }));
  }
  if (resources !== undefined || resourceTemplates !== undefined) {
    server.setRequestHandler('resources/list', () => asResult({ resources: resources ?? [], ...hints }));
    server.setRequestHandler('resources/templates/list', () => asResult({ resourceTemplates: resourceTemplates ?? [], ...hints }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) => asResult({ contents: [{ uri, ...read(uri) }] }));
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
  }
  return server;
}

type Sessions = {
  handle(request: Request): Promise<Response>;
  tell(send: (server: Server) => Promise<void>): Promise<void>;
  forget(): Promise<void>;
};

/** The 2025 revision: `initialize` creates a session, and an unknown id gets a 404. */
function createSessions(make: () => Server): Sessions {
  const open = new Map<string, { transport: WebStandardStreamableHTTPServerTransport; server: Server }>();
  return {
    async handle(request) {
      const id = request.headers.get('mcp-session-id');
      if (id !== null) {
        const known = open.get(id);
        return known?.transport.handleRequest(request) ?? refusal(404, 'Session not found');
      }
      const server = make();
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (given) => void open.set(given, { transport, server }),
        onsessionclosed: (given) => void open.delete(given),
      });
      await server.connect(transport);
      return transport.handleRequest(request);
    },
    async tell(send) {
      for (const { server } of open.values()) await send(server);
    },
    async forget() {
      const transports = [...open.values()].map(({ transport }) => transport);
      open.clear();
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message } }, { status });
}

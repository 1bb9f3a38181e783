/**
 * An MCP endpoint of a 2025 revision, built with the SDK: `initialize` creates a session, which holds its server, its streams and the sent
 * events, so that a broken stream can be resumed. For few clients: sessions remain until DELETE or `close`.
 */
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type EventStore,
  type JSONRPCMessage,
  type McpServer,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';

export type SessionEndpoint = {
  handle(request: Request): Promise<Response>;
  /** The servers of all open sessions; each sends to its own client. */
  servers(): McpServer[];
  sessionIds(): string[];
  /** Drops all sessions, as a restart does. */
  forget(): Promise<void>;
};

/** The retry delay for clients in milliseconds; short, because tests wait for it. */
const retryMs = 50;

export function createSessionEndpoint(makeServer: () => McpServer): SessionEndpoint {
  const sessions = new Map<string, { transport: WebStandardStreamableHTTPServerTransport; server: McpServer }>();

  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const server = makeServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: createEventStore(),
      retryInterval: retryMs,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, server });
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    await server.connect(transport);
    return transport;
  };

  return {
    async handle(request) {
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : sessions.get(id)?.transport;
      if (known !== undefined) return known.handleRequest(request);
      if (id !== null) return refuse(404, 'Session not found');
      const body: unknown = request.method === 'POST' ? await request.clone().json() : null;
      if (!isInitializeRequest(body)) return refuse(400, 'Bad Request: no session id, and no initialize');
      return (await open()).handleRequest(request);
    },
    servers: () => [...sessions.values()].map(({ server }) => server),
    sessionIds: () => [...sessions.keys()],
    async forget() {
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.all(open.map(({ server }) => server.close()));
    },
  };
}

function refuse(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status });
}

/** All events of one session, in the order sent. */
function createEventStore(): EventStore {
  const events: { id: string; streamId: string; message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (streamId, message) => {
      const id = String(events.length + 1);
      events.push({ id, streamId, message });
      return id;
    },
    getStreamIdForEventId: async (id) => events[Number(id) - 1]?.streamId,
    replayEventsAfter: async (lastId, { send }) => {
      const streamId = events[Number(lastId) - 1]?.streamId ?? '';
      // An event without content only opens a stream, and is not replayed.
      const missed = events.slice(Number(lastId)).filter((event) => event.streamId === streamId && 'jsonrpc' in event.message);
      for (const { id, message } of missed) await send(id, message);
      return streamId;
    },
  };
}

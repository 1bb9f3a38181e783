/**
 * A scripted MCP server without an SDK or any validation, for what a hostile or broken server sends (`fixtures/security/mcp-hostile-
 * servers.json`). Runs in the process (`handle` in place of `fetch`), where time may be faked.
 */
import { isRecord } from '../../src/core/json/wire-value.ts';

/** `message`: of a POST; null for other methods, and for a body that is not a JSON object. */
export type ScriptedRequest = { request: Request; message: Message | null };
export type Message = { id?: unknown; method?: string; params: Record<string, unknown>; result?: unknown; error?: unknown };

/** Responds to a request; undefined: as `usual` would. */
export type Script = (asked: ScriptedRequest) => Response | Promise<Response> | undefined;

export type Scripted = {
  /** Every request, in order. */
  heard: ScriptedRequest[];
  handle(request: Request): Promise<Response>;
};

/** `sessionId`: issued by `initialize`. */
export function scriptMcp(script: Script, { sessionId, version = '2025-11-25' }: { sessionId?: string; version?: string } = {}): Scripted {
  const heard: ScriptedRequest[] = [];
  return {
    heard,
    async handle(request) {
      const body: unknown =
        request.method === 'POST'
          ? await request
              .clone()
              .json()
              .catch(() => null)
          : null;
      const message = isRecord(body) ? { ...body, params: isRecord(body.params) ? body.params : {} } : null;
      const asked: ScriptedRequest = { request, message };
      heard.push(asked);
      return (await script(asked)) ?? usual(asked, sessionId, version);
    },
  };
}

/** The responses of a plain server of 2025: `initialize`, one tool called `echo`, and no separate stream. */
export function usual({ request, message }: ScriptedRequest, sessionId: string | undefined, version: string): Response {
  if (request.method !== 'POST') return new Response(null, { status: request.method === 'DELETE' ? 200 : 405 });
  if (message === null || message.id === undefined || message.method === undefined) return new Response(null, { status: 202 });
  switch (message.method) {
    case 'initialize':
      return result(
        message,
        { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } },
        sessionId === undefined ? {} : { 'mcp-session-id': sessionId },
      );
    case 'tools/list':
      return result(message, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    case 'tools/call':
      return result(message, { content: [{ type: 'text', text: JSON.stringify(message.params.arguments ?? {}) }] });
    default:
      return failure(message, -32601, 'Method not found');
  }
}

export function result({ id }: Pick<Message, 'id'>, value: unknown, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id, result: value }, { headers });
}

export function failure({ id }: Pick<Message, 'id'>, code: number, message: string, status = 200): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

/** An event stream with these messages, which stays open if `open` is true. Strings are written unchanged. */
export function events(messages: readonly unknown[], { open = false }: { open?: boolean } = {}): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const message of messages) controller.enqueue(encoder.encode(typeof message === 'string' ? message : event(message)));
      if (!open) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

export function event(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

/**
 * Asks `requests` on the stream of a request for `method`, and responds to that with `last` once all of them are answered. `said`: the
 * answers it received, in order.
 */
export function askingScript(
  requests: readonly { method: string; params?: unknown }[],
  { method = 'tools/call', last = { content: [] } }: { method?: string; last?: unknown } = {},
): { script: Script; said: Message[] } {
  const said: Message[] = [];
  const all = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  const script: Script = ({ message }) => {
    if (message !== null && message.method === undefined) {
      said.push(message);
      if (said.length === requests.length) all.resolve();
    }
    if (message?.method !== method) return undefined;
    const { id } = message;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const [index, request] of requests.entries())
          controller.enqueue(encoder.encode(event({ jsonrpc: '2.0', id: `q${index}`, ...request })));
        await all.promise;
        controller.enqueue(encoder.encode(event({ jsonrpc: '2.0', id, result: last })));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { script, said };
}

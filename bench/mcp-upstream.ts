/**
 * An MCP server of a thousand tools, in both revisions, as lightweight as the SDK allows. `node bench/mcp-upstream.ts <port>`. `GET
 * /counts` returns how often each method was requested.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { createMcpHandler, isLegacyRequest, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

const toolCount = 1_000;
const tools = Array.from({ length: toolCount }, (_, index) => ({
  name: `tool_${index}`,
  description: `Looks for what number ${index} is about, and says it in a sentence.`,
  inputSchema: {
    type: 'object' as const,
    properties: { query: { type: 'string', description: 'What to look for' }, limit: { type: 'integer', minimum: 1, maximum: 100 } },
    required: ['query'],
  },
  annotations: { readOnlyHint: true },
}));
const answer = { content: [{ type: 'text' as const, text: 'lorem ipsum dolor sit amet '.repeat(10) }] };

const counts = new Map<string, number>();
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
const modern = createMcpHandler(makeServer, { legacy: 'reject', keepAliveMs: 0 });

createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
  serve(incoming, outgoing).catch((error: unknown) => {
    console.error(error);
    outgoing.destroy();
  });
}).listen(Number(process.argv[2]), '127.0.0.1');

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (incoming.url === '/healthz') return void outgoing.end('ok');
  if (incoming.url === '/counts') return void outgoing.end(JSON.stringify(Object.fromEntries(counts)));
  const response = await handle(await toRequest(incoming));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const chunk of response.body ?? []) outgoing.write(chunk);
  outgoing.end();
}

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer); // no encoding was set, so these are buffers
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const method = incoming.method ?? 'GET';
  return new Request(`http://127.0.0.1${incoming.url}`, { method, headers, ...(method === 'POST' && { body: Buffer.concat(parts) }) });
}

async function handle(request: Request): Promise<Response> {
  if (!(await isLegacyRequest(request))) return modern.fetch(request);
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
  if (known !== undefined) return known.handleRequest(request);
  if (request.headers.has('mcp-session-id')) return new Response(null, { status: 404 });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request);
}

function makeServer(): Server {
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  const count = (method: string): void => void counts.set(method, (counts.get(method) ?? 0) + 1);
  server.setRequestHandler('tools/list', () => {
    count('tools/list');
    return { tools };
  });
  server.setRequestHandler('tools/call', () => {
    count('tools/call');
    return answer;
  });
  return server;
}

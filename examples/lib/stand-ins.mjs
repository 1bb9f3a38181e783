/**
 * Small local replacements for the services that the examples connect to, so that they run without accounts: an HTTP API, an MCP server
 * and a model. All listen on loopback, on a free port unless told otherwise.
 */
import { createServer } from 'node:http';

/**
 * Calls `handle({method, path, headers, body})` for each request. It returns the JSON to send; `{status, json}` for another status than 200;
 * `{stream}` for server-sent events; or null for 202 without a body.
 */
export function startApi(handle, port = 0) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url: path, headers } = request;
    const answer = await handle({ method, path, headers, body: Buffer.concat(chunks).toString('utf8') });
    const isPlain = answer?.json === undefined;
    const status = answer === null ? 202 : isPlain ? 200 : answer.status;
    response.writeHead(status, { 'content-type': answer?.stream ? 'text/event-stream' : 'application/json' });
    response.end(answer?.stream ?? (answer === null ? '' : JSON.stringify(isPlain ? answer : answer.json)));
  });
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      const host = `127.0.0.1:${server.address().port}`;
      resolve({ host, url: `http://${host}`, close: () => server.close() && server.closeAllConnections() });
    });
  });
}

/**
 * A model behind OpenAI's Chat Completions API. `decide(text)` gets the text of the turn's input and returns the tool calls
 * `[{name, arguments}]` to make, or a text. After tool results the model says "Done.".
 */
export function startModel(decide) {
  return startApi(({ body }) => {
    const { model, messages, stream } = JSON.parse(body);
    const last = messages.at(-1);
    const input = typeof last.content === 'string' ? last.content : (last.content ?? []).map(({ text }) => text ?? '').join('\n');
    const decided = last.role === 'user' ? decide(input) : 'Done.';
    const message =
      typeof decided === 'string'
        ? { role: 'assistant', content: decided }
        : {
            role: 'assistant',
            content: null,
            tool_calls: decided.map((call, index) => ({
              index,
              id: `call_${Date.now()}_${index}`,
              type: 'function',
              function: { name: call.name, arguments: JSON.stringify(call.arguments) },
            })),
          };
    const finish = typeof decided === 'string' ? 'stop' : 'tool_calls';
    const reply = (object, choice) => ({ id: 'chatcmpl-1', object, created: 0, model, choices: [{ index: 0, ...choice }] });
    if (!stream) return reply('chat.completion', { message, finish_reason: finish });
    const chunks = [
      reply('chat.completion.chunk', { delta: message, finish_reason: null }),
      reply('chat.completion.chunk', { delta: {}, finish_reason: finish }),
    ];
    return { stream: `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n` };
  });
}

/** Handles one JSON-RPC message of an MCP client (revision 2025-06-18). `tools`: `[{name, description, inputSchema, run(args)}]`. */
export function answerMcp(name, tools, body) {
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return null; // a notification
  const result = (value) => ({ jsonrpc: '2.0', id, result: value });
  if (method === 'initialize')
    return result({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name, version: '1.0.0' } });
  if (method === 'tools/list') return result({ tools: tools.map(({ run: _run, ...definition }) => definition) });
  const tool = tools.find((one) => method === 'tools/call' && one.name === params.name);
  if (tool === undefined) return { jsonrpc: '2.0', id, error: { code: -32601, message: `Not supported: ${method}` } };
  return result({ content: [{ type: 'text', text: tool.run(params.arguments ?? {}) }] });
}

export function startMcpServer(name, tools, port = 0) {
  return startApi(
    ({ method, body }) => (method === 'POST' ? answerMcp(name, tools, body) : { status: 405, json: { error: 'Only POST is supported' } }),
    port,
  );
}

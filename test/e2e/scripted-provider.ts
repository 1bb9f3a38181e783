/** A provider in the OpenAI format on a real port, which misbehaves as the model's name says. */
import { createServer, type ServerResponse } from 'node:http';

export type ScriptedProvider = {
  baseUrl: string;
  /** Resolves when the client has closed the connection of the next `endless` reply. */
  left(): Promise<void>;
  close(): void;
};

type Call = { name: string; arguments: string };

/** These models send the same calls in every reply, regardless of the results. */
const callers = new Map<string, Call>([
  ['unknown-tool', { name: 'no_such_tool', arguments: '{}' }],
  ['near-miss', { name: 'Terminal_Run', arguments: '{"command":"echo near"}' }],
  ['bad-arguments', { name: 'terminalRun', arguments: '{"command": 7}' }],
  ['for-ever', { name: 'terminalRun', arguments: '{"command":"echo again"}' }],
]);

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) for (const resolve of waiting.splice(0)) resolve();
    });
    // The question whether it can be reached at all, after a connection that broke.
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => answer(response, JSON.parse(Buffer.concat(parts).toString('utf8'))));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return {
    left: () => new Promise((resolve) => waiting.push(resolve)),
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(response: ServerResponse, body: { model: string; messages: { role: string }[]; tool_choice?: unknown }): void {
  const status = /^status-(\d+)$/.exec(body.model);
  if (status !== null) {
    response.writeHead(Number(status[1]), { 'content-type': 'application/json', 'retry-after': '0' });
    response.end('{"error": {"message": "upstream says no to sk-secret", "type": "x", "code": "y"}}');
    return;
  }
  switch (body.model) {
    case 'endless': {
      stream(response, [text('on ')]);
      const timer = setInterval(() => response.write(text('and on ')), 20);
      response.once('close', () => clearInterval(timer));
      return;
    }
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>a login page</html>');
      return;
    case 'nothing':
      response.socket?.destroy();
      return;
    case 'half':
      stream(response, [text('half of it')]);
      response.write('data: {"choices":[{"delta":{"con', () => response.socket?.destroy());
      return;
    case 'garbage':
      stream(response, [text('before '), 'data: {not json at all\n\n', text('after'), finish('stop'), 'data: [DONE]\n\n']);
      response.end();
      return;
    default:
      reply(response, body);
  }
}

/** One call the first time (always, for the model that never stops), then a text that repeats the result. */
function reply(response: ServerResponse, { model, messages, tool_choice }: Parameters<typeof answer>[1]): void {
  const call = callers.get(model);
  const called = messages.some((message) => message.role === 'tool');
  if (call !== undefined && tool_choice !== 'none' && (!called || model === 'for-ever')) {
    const id = `call_${messages.length}`;
    stream(response, [
      delta({ tool_calls: [{ index: 0, id, type: 'function', function: call }] }),
      finish('tool_calls'),
      'data: [DONE]\n\n',
    ]);
  } else {
    stream(response, [text('done'), finish('stop'), 'data: [DONE]\n\n']);
  }
  response.end();
}

function stream(response: ServerResponse, frames: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames) response.write(frame);
}

const text = (content: string): string => delta({ content });
const delta = (value: unknown): string => chunk({ index: 0, delta: value, finish_reason: null });
const finish = (reason: string): string => chunk({ index: 0, delta: {}, finish_reason: reason });

function chunk(choice: unknown): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] })}\n\n`;
}

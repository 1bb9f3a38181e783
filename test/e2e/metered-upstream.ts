/**
 * A provider of OpenAI's and Anthropic's APIs that bills every request for as much output as it allows, and counts what it has billed. A request
 * is identified by the mark in its text, so that tests do not count each other's.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export type MeteredUpstream = {
  baseUrl: string;
  /** What the requests with this mark were billed for, in tokens, and how many there were. */
  billed(mark: string): { requests: number; output: number };
  /** Their bodies. */
  texts(mark: string): string[];
  close(): void;
};

/** Of a request that sets no limit. */
export const unlimitedOutput = 500;
const inputTokens = 10;
/** Long enough for a whole burst to be in flight. */
const replyMs = 400;

type Body = Record<string, unknown> & { model?: string; stream?: boolean; n?: number };

export async function startMeteredUpstream(): Promise<MeteredUpstream> {
  const bills: { text: string; output: number }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Body;
      const output = outputOf(body);
      // A request that is rejected costs nothing.
      if (body.model !== 'fails') bills.push({ text, output });
      setTimeout(() => reply(request, response, body, output), replyMs);
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    billed(mark) {
      const own = bills.filter(({ text }) => text.includes(mark));
      return { requests: own.length, output: own.reduce((sum, { output }) => sum + output, 0) };
    },
    texts: (mark) => bills.filter(({ text }) => text.includes(mark)).map(({ text }) => text),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function outputOf({ max_tokens, max_completion_tokens, max_output_tokens, n = 1 }: Body): number {
  return Number(max_output_tokens ?? max_completion_tokens ?? max_tokens ?? unlimitedOutput) * n;
}

function reply({ url = '' }: IncomingMessage, response: ServerResponse, body: Body, output: number): void {
  const counts = { prompt_tokens: inputTokens, completion_tokens: output, total_tokens: inputTokens + output };
  const usage = { input_tokens: inputTokens, output_tokens: output };
  const { model } = body;
  if (model === 'fails') {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error": {"message": "no"}}');
  } else if (url.endsWith('/messages')) {
    const content = [{ type: 'text', text: 'ok' }];
    json(response, { id: 'm', type: 'message', role: 'assistant', model, content, stop_reason: 'end_turn', stop_sequence: null, usage });
  } else if (url.endsWith('/speech')) {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.end('sound');
  } else if (url.includes('/images/')) json(response, { created: 1, data: [], usage: { ...usage, total_tokens: inputTokens + output } });
  else if (!url.endsWith('/chat/completions')) json(response, { object: 'list', data: [], usage: counts });
  else if (body.stream === true) stream(response, model, counts);
  else {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }];
    json(response, { id: 'c', object: 'chat.completion', created: 1, model, choices, usage: counts });
  }
}

function stream(response: ServerResponse, model: string | undefined, usage: object): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const frame = (value: object): void =>
    void response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, ...value })}\n\n`);
  frame({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: null }] });
  if (model === 'breaks') {
    response.end('data: {"error": {"message": "broken", "code": 500}}\n\n');
    return;
  }
  frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  frame({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

function json(response: ServerResponse, value: object): void {
  const text = JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

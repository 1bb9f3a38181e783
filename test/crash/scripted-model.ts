/**
 * A model in the OpenAI format with scripted replies. A conversation is identified by the tag `#…#` in the user's text; the step of a
 * turn by the number of tool calls since the last user message.
 */
import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

export type ScriptedCall = { name: string; arguments: Record<string, unknown> };

/** One reply, sent in two halves with `pause` between them: half the text, or half of the first call's arguments. */
export type Reply = { text?: string; calls?: ScriptedCall[]; pause?: Promise<unknown> };

export type WireMessage = {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};

export type ModelRequest = { tag: string; step: number; messages: WireMessage[]; offersTools: boolean };

export type ScriptedModel = {
  baseUrl: string;
  /** Replies of a conversation's turns, by step; the last one is used for all later steps. */
  script(tag: string, replies: Reply[]): void;
  requests(tag: string): readonly ModelRequest[];
  close(): void;
};

/** Each complete reply reports it. */
export const usagePerReply = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

const unscripted: Reply = { text: 'no reply was scripted' };

export async function startScriptedModel(): Promise<ScriptedModel> {
  const scripts = new Map<string, Reply[]>();
  const seen = new Map<string, ModelRequest[]>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const body = wholeRequest(text);
      if (body === undefined) return void response.writeHead(400).end();
      const heard = readRequest(body);
      seen.set(heard.tag, [...(seen.get(heard.tag) ?? []), heard]);
      const replies = scripts.get(heard.tag) ?? [];
      void send(response, replies[Math.min(heard.step, replies.length - 1)] ?? unscripted);
    });
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    script: (tag, replies) => void scripts.set(tag, replies),
    requests: (tag) => seen.get(tag) ?? [],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Reads a request of our own adapter. Undefined if the service was killed while it was sending. */
function wholeRequest(text: string): { messages: WireMessage[]; tools?: unknown[] } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readRequest({ messages, tools = [] }: { messages: WireMessage[]; tools?: unknown[] }): ModelRequest {
  const lastWord = messages.findLastIndex(({ role }) => role === 'user');
  const tags = [...JSON.stringify(messages).matchAll(/#([\w./-]+)#/g)];
  const step = messages.slice(lastWord + 1).filter(({ tool_calls }) => tool_calls !== undefined).length;
  return { tag: tags.at(-1)?.[1] ?? '', step, messages, offersTools: tools.length > 0 };
}

async function send(response: ServerResponse, { text, calls = [], pause }: Reply): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const halves = text === undefined ? [] : [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  const [first = '', second = ''] = halves;
  if (text !== undefined) response.write(delta({ content: first }));
  for (const [index, { name, arguments: args }] of calls.entries()) {
    const json = JSON.stringify(args);
    const half = Math.floor(json.length / 2);
    const id = `call_${crypto.randomUUID()}`;
    response.write(delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: json.slice(0, half) } }] }));
    if (index === 0) await pause;
    response.write(delta({ tool_calls: [{ index, function: { arguments: json.slice(half) } }] }));
  }
  if (calls.length === 0) await pause;
  if (text !== undefined) response.write(delta({ content: second }));
  response.write(chunk({ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }));
  response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: usagePerReply })}\n\n`);
  response.end('data: [DONE]\n\n');
}

const delta = (value: unknown): string => chunk({ index: 0, delta: value, finish_reason: null });

function chunk(choice: unknown): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] })}\n\n`;
}

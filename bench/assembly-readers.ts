/**
 * The compared readers of a streamed reply: ours (event stream → adapter → assembler → events), the floor, which decodes, splits lines,
 * parses each event and joins the argument text, and common libraries. Runs on Node and in workerd; each returns the argument texts in
 * call order. Libraries that only `npm run bench:peers` installs: `peers/assembly-readers.mjs`.
 */
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';
import type { ProviderAccess } from '../src/core/model/provider.ts';
import { SseParser } from '../src/net/sse.ts';
import { adapters } from '../src/providers/registry.ts';
import type { Wire } from './assembly-streams.ts';

type Segments = readonly Uint8Array[];
export type Reader = { wires: readonly Wire[]; read(segments: Segments, wire: Wire): string[] | Promise<string[]> };

const everyWire: readonly Wire[] = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'];

export const readers: Readonly<Record<string, Reader>> = {
  floor: { wires: everyWire, read: readFloor },
  Moniker: { wires: everyWire, read: readOurs },
  ai: { wires: ['openai', 'openai-responses', 'anthropic'], read: readAi },
  'vendor SDK': { wires: ['openai', 'openai-responses', 'anthropic'], read: readHelper },
};

function readOurs(segments: Segments, wire: Wire): string[] {
  const access: ProviderAccess = { name: 'bench', kind: wire, baseUrl: 'https://bench.invalid/v1', headers: {}, models: [], profile: {} };
  const parser = new SseParser();
  const reply = adapters[wire].createReply(access);
  const calls: string[] = [];
  for (const segment of segments) {
    for (const message of parser.push(segment)) {
      for (const event of reply.take(message)) {
        if (event.type === 'call-start') calls[event.call] = '';
        else if (event.type === 'call-delta') calls[event.call] += event.text;
        else if (event.type === 'call-end' && event.state !== 'ok') throw new Error(`call ${event.call} is ${event.state}`);
        else if (event.type === 'error') throw new Error(event.problem.detail);
      }
    }
  }
  return calls;
}

/** What one parsed event adds, for each wire. */
// biome-ignore lint/suspicious/noExplicitAny: the floor checks nothing; that is what makes it one.
const floors: Readonly<Record<Wire, (event: any, calls: string[]) => void>> = {
  openai(event, calls) {
    for (const call of event.choices[0]?.delta.tool_calls ?? []) calls[call.index] = (calls[call.index] ?? '') + call.function.arguments;
  },
  'openai-responses'(event, calls) {
    if (event.type === 'response.function_call_arguments.delta')
      calls[event.output_index] = (calls[event.output_index] ?? '') + event.delta;
  },
  anthropic(event, calls) {
    if (event.type === 'content_block_start') calls[event.index] = '';
    else if (event.type === 'content_block_delta') calls[event.index] += event.delta.partial_json;
  },
  cohere(event, calls) {
    if (event.type === 'tool-call-delta')
      calls[event.index] = (calls[event.index] ?? '') + event.delta.message.tool_calls.function.arguments;
  },
  gemini(event, calls) {
    for (const part of event.candidates[0].content.parts) if (part.functionCall) calls.push(JSON.stringify(part.functionCall.args));
  },
};

function readFloor(segments: Segments, wire: Wire): string[] {
  const take = floors[wire];
  const decoder = new TextDecoder();
  const calls: string[] = [];
  let rest = '';
  for (const segment of segments) {
    const text = rest + decoder.decode(segment, { stream: true });
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      if (text.startsWith('data: {', from)) take(JSON.parse(text.slice(from + 6, to)), calls);
      from = to + 1;
    }
    rest = text.slice(from);
  }
  return calls;
}

export function fetchOf(segments: Segments): typeof fetch {
  return async () => {
    let index = 0;
    const body = new ReadableStream({
      pull(controller) {
        const segment = segments[index++];
        if (segment === undefined) controller.close();
        else controller.enqueue(segment);
      },
    });
    return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
  };
}

const names = Array.from({ length: 64 }, (_, index) => `tool_${index}`);
const schema = { type: 'object' as const, properties: { city: { type: 'string' as const }, rows: { type: 'array' as const, items: {} } } };
const connection = { apiKey: 'k', baseURL: 'http://bench.invalid/v1' };

async function readAi(segments: Segments, wire: Wire): Promise<string[]> {
  const fetch = fetchOf(segments);
  const openai = createOpenAI({ ...connection, fetch });
  const model =
    wire === 'anthropic'
      ? createAnthropic({ ...connection, fetch })('claude-sonnet-4-5')
      : wire === 'openai'
        ? openai.chat('gpt-4o')
        : openai.responses('gpt-4o');
  const tools = Object.fromEntries(names.map((name) => [name, tool({ description: 't', inputSchema: jsonSchema(schema) })]));
  const calls: string[] = [];
  for await (const part of streamText({ model, prompt: 'hi', tools }).fullStream) {
    if (part.type === 'tool-call') calls[Number(part.toolName.slice(5))] = JSON.stringify(part.input);
    else if (part.type === 'error') throw part.error;
  }
  return calls;
}

async function readHelper(segments: Segments, wire: Wire): Promise<string[]> {
  const fetch = fetchOf(segments);
  if (wire === 'anthropic') {
    const client = new Anthropic({ ...connection, fetch });
    const message = await client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }).finalMessage();
    return message.content.map((block) => (block.type === 'tool_use' ? JSON.stringify(block.input) : ''));
  }
  const client = new OpenAI({ ...connection, fetch });
  if (wire === 'openai') {
    const parameters = schema as unknown as Record<string, unknown>; // The client accepts any schema.
    const tools = names.map((name) => ({ type: 'function' as const, function: { name, description: 't', parameters } }));
    const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools });
    const { choices } = await stream.finalChatCompletion();
    return (choices[0]?.message.tool_calls ?? []).map((call) => (call.type === 'function' ? call.function.arguments : ''));
  }
  const response = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse();
  return response.output.map((item) => (item.type === 'function_call' ? item.arguments : ''));
}

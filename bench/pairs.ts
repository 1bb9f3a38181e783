/**
 * Every dialect in front of every kind of provider: the cost of a client's request and its response compared with the provider's own,
 * passed through the floor. Pairs with the same wire are passed through natively.
 */
import { prepare, type Prepared } from './load.ts';
import type { Scenario } from './scenarios.ts';
import { kinds } from './setup.ts';

type Body = Record<string, unknown>;
type Kind = (typeof kinds)[number];

const system = 'You are a helpful assistant.';
const question = 'Hello, what is the weather in Paris today?';

/** The path and body of a request in the dialect. */
export const dialects = {
  chat: {
    path: '/v1/chat/completions',
    body: (model: string, stream: boolean): Body => ({
      model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: question },
      ],
      stream,
    }),
  },
  responses: {
    path: '/v1/responses',
    body: (model: string, stream: boolean): Body => ({ model, instructions: system, input: question, stream }),
  },
  messages: {
    path: '/v1/messages',
    body: (model: string, stream: boolean): Body => ({
      model,
      max_tokens: 500,
      system,
      messages: [{ role: 'user', content: question }],
      stream,
    }),
  },
};

/** The same question as the provider's own clients would send it: what the floor passes on. */
const native: Readonly<Record<Kind, (model: string, stream: boolean) => { path: string; body: Body }>> = {
  openai: (model, stream) => ({ path: dialects.chat.path, body: dialects.chat.body(model, stream) }),
  'openai-responses': (model, stream) => ({ path: dialects.responses.path, body: dialects.responses.body(model, stream) }),
  anthropic: (model, stream) => ({ path: dialects.messages.path, body: dialects.messages.body(model, stream) }),
  gemini: (model, stream) => ({
    path: `/v1/models/${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: { systemInstruction: { parts: [{ text: system }] }, contents: [{ role: 'user', parts: [{ text: question }] }] },
  }),
  cohere: (model, stream) => ({ path: '/v1/chat', body: dialects.chat.body(model, stream) }),
};

const sameWire: ReadonlySet<string> = new Set(['chat openai', 'responses openai-responses', 'messages anthropic']);

export function listPairs(): Scenario[] {
  return Object.entries(dialects).flatMap(([name, dialect]) =>
    kinds.flatMap((kind) => {
      const what = `${sameWire.has(`${name} ${kind}`) ? 'passed' : 'translated'}: ${name} to ${kind}`;
      return [scenario(what, dialect, kind, false), scenario(what, dialect, kind, true)];
    }),
  );
}

function scenario(what: string, dialect: (typeof dialects)[keyof typeof dialects], kind: Kind, stream: boolean): Scenario {
  const model = stream ? 'mock-c200-py' : 'mock-c20';
  const own = native[kind](model, stream);
  return {
    name: `${what}, ${stream ? 'stream' : 'plain'}`,
    connections: 10,
    sse: stream,
    // Rewriting joins several deltas into one write, never into one event.
    ...(stream && { events: 200 }),
    rounds: 3,
    floor: ({ floor }): Prepared[] => [prepare(`${floor.url}${own.path}`, { body: own.body })],
    ours: ({ ours, key }): Prepared[] => [
      prepare(`${ours.url}${dialect.path}`, {
        headers: { authorization: `Bearer ${key}` },
        body: dialect.body(`mock-${kind}/${model}`, stream),
      }),
    ],
  };
}

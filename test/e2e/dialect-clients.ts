/**
 * The stock clients of the dialects behind one interface: the conversation stays in each client's own items, replies are reported
 * in a neutral form. They are used as their READMEs show, with the SDKs' stream helpers and without retries.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import OpenAI from 'openai';
import { sample } from '../selection.ts';
import { type Wire, wires } from './fake-providers.ts';

export type OwnTool = { name: string; description: string; schema: { type: 'object'; properties: Record<string, unknown> } };

export type Asking = {
  model: string;
  system: string;
  items: readonly unknown[];
  tools?: readonly OwnTool[];
  streamed?: boolean;
  headers?: Record<string, string>;
  /** Fields in place of the client's own. */
  fields?: Record<string, unknown>;
};

export type ClientReply = {
  /** The items to be sent back unchanged. */
  items: readonly unknown[];
  text: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: unknown }[];
  finish: 'stop' | 'calls' | 'other';
  usage: { inputTokens: number; outputTokens: number };
  headers: Headers;
  /** The request's body, as the client sent it. */
  sent: string;
};

export type DialectClient = {
  name: 'chat' | 'responses' | 'messages' | 'gemini';
  /** Of requests for a stream of this model. */
  path(model: string): string;
  /** The provider kind with the same wire. */
  ownWire: Wire;
  user(text: string, png?: string): unknown;
  results(calls: ClientReply['calls'], texts: readonly string[]): unknown[];
  ask(service: { url: string; key: string }, asking: Asking): Promise<ClientReply>;
  /** The smallest body that requests a stream, for raw requests. */
  plainBody(model: string, text: string): object;
};

/** Records the request body of a client and the head of the response. */
function watch() {
  const seen = { sent: '', headers: new Headers() };
  const watched: typeof fetch = async (input, init) => {
    seen.sent = String(init?.body);
    const response = await fetch(input, init);
    seen.headers = response.headers;
    return response;
  };
  return { seen, watched };
}

export const chat: DialectClient = {
  name: 'chat',
  path: () => '/v1/chat/completions',
  ownWire: 'openai',
  user: (text, png) => ({ role: 'user', content: png === undefined ? text : [{ type: 'text', text }, imageUrl(png)] }),
  results: (calls, texts) => calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: texts[index] })),
  plainBody: (model, content) => ({ model, stream: true, messages: [{ role: 'user', content }] }),
  async ask({ url, key }, { model, system, items, tools = [], streamed = false, headers = {}, fields = {} }) {
    const { seen, watched } = watch();
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch: watched });
    const body = {
      model,
      messages: [{ role: 'system' as const, content: system }, ...(items as OpenAI.ChatCompletionMessageParam[])],
      reasoning_effort: 'low' as const,
      ...(tools.length > 0 && {
        tools: tools.map(({ schema, ...named }) => ({ type: 'function' as const, function: { ...named, parameters: schema } })),
      }),
      ...fields,
    };
    let reasoning = '';
    let completion: OpenAI.ChatCompletion;
    if (streamed) {
      const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }, { headers });
      for await (const { choices } of stream) reasoning += reasoningOf(choices[0]?.delta);
      completion = await stream.finalChatCompletion();
    } else {
      completion = await client.chat.completions.create(body, { headers });
      reasoning = reasoningOf(completion.choices[0]?.message);
    }
    const [choice] = completion.choices;
    if (choice === undefined || completion.choices.length > 1) throw new Error('expected exactly one choice');
    const calls = (choice.message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
    return {
      ...seen,
      items: [choice.message],
      text: choice.message.content ?? '',
      reasoning,
      calls: calls.map(({ id, function: named }) => ({ id, name: named.name, arguments: JSON.parse(named.arguments) })),
      finish: choice.finish_reason === 'stop' ? 'stop' : choice.finish_reason === 'tool_calls' ? 'calls' : 'other',
      usage: { inputTokens: completion.usage?.prompt_tokens ?? 0, outputTokens: completion.usage?.completion_tokens ?? 0 },
    };
  },
};

function imageUrl(png: string) {
  return { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
}

/** A field that several servers send and OpenAI does not document. */
function reasoningOf(message: object | undefined): string {
  return String((message as { reasoning_content?: string } | undefined)?.reasoning_content ?? '');
}

export const responses: DialectClient = {
  name: 'responses',
  path: () => '/v1/responses',
  ownWire: 'openai-responses',
  user: (text, png) => {
    const image = { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${png}` };
    return { role: 'user', content: png === undefined ? text : [{ type: 'input_text', text }, image] };
  },
  results: (calls, texts) => calls.map(({ id }, index) => ({ type: 'function_call_output', call_id: id, output: texts[index] })),
  plainBody: (model, input) => ({ model, stream: true, store: false, input }),
  async ask({ url, key }, { model, system, items, tools = [], streamed = false, headers = {}, fields = {} }) {
    const { seen, watched } = watch();
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch: watched });
    const body = {
      model,
      instructions: system,
      input: items as OpenAI.Responses.ResponseInput,
      reasoning: { effort: 'low' as const, summary: 'auto' as const },
      store: false,
      include: ['reasoning.encrypted_content' as const],
      ...(tools.length > 0 && {
        tools: tools.map(({ schema, ...named }) => ({ type: 'function' as const, ...named, parameters: schema, strict: false })),
      }),
      ...fields,
    };
    const response = streamed
      ? await client.responses.stream(body, { headers }).finalResponse()
      : await client.responses.create(body, { headers });
    const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const reasoning = response.output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []));
    return {
      ...seen,
      items: response.output,
      text: response.output_text,
      reasoning: reasoning.join('\n\n'),
      calls: calls.map((call) => ({ id: call.call_id, name: call.name, arguments: JSON.parse(call.arguments) })),
      finish: response.status !== 'completed' ? 'other' : calls.length > 0 ? 'calls' : 'stop',
      usage: { inputTokens: response.usage?.input_tokens ?? 0, outputTokens: response.usage?.output_tokens ?? 0 },
    };
  },
};

export const messages: DialectClient = {
  name: 'messages',
  path: () => '/v1/messages',
  ownWire: 'anthropic',
  user: (text, png) => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
    return { role: 'user', content: png === undefined ? text : [{ type: 'text', text }, image] };
  },
  results: (calls, texts) => [
    { role: 'user', content: calls.map(({ id }, index) => ({ type: 'tool_result', tool_use_id: id, content: texts[index] })) },
  ],
  plainBody: (model, content) => ({ model, stream: true, max_tokens: 1000, messages: [{ role: 'user', content }] }),
  async ask({ url, key }, { model, system, items, tools = [], streamed = false, headers = {} }) {
    const { seen, watched } = watch();
    const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, fetch: watched });
    const body = {
      model,
      max_tokens: 4000,
      system,
      messages: items as Anthropic.MessageParam[],
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
      ...(tools.length > 0 && { tools: tools.map(({ schema, ...named }) => ({ ...named, input_schema: schema })) }),
    };
    const message = streamed
      ? await client.messages.stream(body, { headers }).finalMessage()
      : await client.messages.create(body, { headers });
    const { content, usage } = message;
    const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
    return {
      ...seen,
      items: [{ role: 'assistant', content }],
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: block.input }] : [])),
      finish: message.stop_reason === 'end_turn' ? 'stop' : message.stop_reason === 'tool_use' ? 'calls' : 'other',
      // The first number excludes tokens read from the cache there.
      usage: { inputTokens: usage.input_tokens + cached, outputTokens: usage.output_tokens },
    };
  },
};

/** This SDK takes no `fetch`: a request uses that of its own context. */
const fetches = new AsyncLocalStorage<typeof fetch>();
const ownFetch = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const watched = fetches.getStore();
  return watched === undefined ? ownFetch(input, init) : fetches.exit(() => watched(input, init));
};

export const gemini: DialectClient = {
  name: 'gemini',
  path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
  ownWire: 'gemini',
  user: (text, png) => ({
    role: 'user',
    parts: [{ text }, ...(png === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: png } }])],
  }),
  results: (calls, texts) => [
    {
      role: 'user',
      parts: calls.map(({ id, name }, index) => ({ functionResponse: { id, name, response: { output: texts[index] } } })),
    },
  ],
  plainBody: (_model, text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  async ask({ url, key }, { model, system, items, tools = [], streamed = false, headers = {} }) {
    const { seen, watched } = watch();
    const ai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    const asked = {
      model,
      contents: items as Content[],
      config: {
        systemInstruction: system,
        thinkingConfig: { includeThoughts: true },
        httpOptions: { headers },
        ...(tools.length > 0 && {
          tools: [{ functionDeclarations: tools.map(({ schema, ...named }) => ({ ...named, parametersJsonSchema: schema })) }],
        }),
      },
    };
    const chunks: GenerateContentResponse[] = [];
    try {
      await fetches.run(watched, async () => {
        if (streamed) for await (const chunk of await ai.models.generateContentStream(asked)) chunks.push(chunk);
        else chunks.push(await ai.models.generateContent(asked));
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Within a stream, the client puts the status before the JSON.
      const { error: told } = JSON.parse(error.message.replace(/^got status: [^{]*/, '')) as { error: { status: string } };
      throw Object.assign(error, { type: told.status, headers: seen.headers });
    }
    const parts: Part[] = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const text = (isThought: boolean): string =>
      parts.map((part) => ((part.thought ?? false) === isThought ? (part.text ?? '') : '')).join('');
    const { candidates, usageMetadata: usage } = chunks.at(-1) ?? {};
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    return {
      ...seen,
      items: [{ role: 'model', parts: parts.filter((part) => part.text !== '' || part.thoughtSignature !== undefined) }],
      text: text(false),
      reasoning: text(true),
      calls: calls.map(({ id = '', name = '', args = {} }) => ({ id, name, arguments: args })),
      finish: candidates?.[0]?.finishReason !== 'STOP' ? 'other' : calls.length > 0 ? 'calls' : 'stop',
      usage: {
        inputTokens: usage?.promptTokenCount ?? 0,
        outputTokens: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
      },
    };
  },
};

export const clients: readonly DialectClient[] = [chat, responses, messages, gemini];

/**
 * The wires that a run tries with this client. `npm test`: all of them with the first client, and each client's own wire;
 * `npm run test:all`: all of them with all clients.
 */
export function wiresFor(name: string, client: DialectClient): readonly Wire[] {
  return sample(`${name}: wires of the ${client.name} client`, wires, (wire) => client === chat || wire === client.ownWire);
}

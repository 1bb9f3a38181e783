/** Stock clients of the three chat APIs as one interface, and a model that replies what a test tells it to. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { EdgeHandler } from '../../src/edge.ts';

export type ClientCall = { id: string; name: string; arguments: unknown };
/** `raw`: what the client sends back as history. */
export type Answered = { id: string; text: string; calls: ClientCall[]; finish: string | null; outputTokens: number; raw: unknown };
/** `tools`: names of the client's own. `before`: messages and items of the API, before the input. */
export type Asked = {
  model?: string;
  input?: string;
  tools?: readonly string[];
  before?: readonly unknown[];
  more?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export type ChatClient = {
  name: string;
  ask(asked: Asked): Promise<Answered>;
  /** The history with the answer, and the results of its calls. */
  history(asked: Asked, answered: Answered, result: string): unknown[];
};

const user = (input: string) => ({ role: 'user', content: input });
const noArguments = { type: 'object', properties: {} };

/** Of one way to be answered. The bodies have members that the clients do not know. */
export function chatClients(handler: EdgeHandler, apiKey: string, streamed: boolean): ChatClient[] {
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await handler(new Request(url, init));
    // As over a network, where no response reaches a client that has disconnected.
    init?.signal?.throwIfAborted();
    return response;
  };
  const openai = new OpenAI({ apiKey, baseURL: 'https://edge.example/v1', fetch, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey, baseURL: 'https://edge.example', fetch, maxRetries: 0 });
  const optionsOf = ({ headers, signal }: Asked) => ({ ...(headers && { headers }), ...(signal && { signal }) });
  return [
    {
      name: 'Chat Completions',
      async ask(asked) {
        const { model = 'fast', input, tools, before = [], more } = asked;
        const own = tools?.map((name) => ({ type: 'function', function: { name, parameters: noArguments } }));
        const messages = [...before, ...(input === undefined ? [] : [user(input)])];
        const body = { model, messages, ...(own && { tools: own }), ...more } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
        const completion = streamed
          ? await openai.chat.completions
              .stream({ ...body, stream: true, stream_options: { include_usage: true } }, optionsOf(asked))
              .finalChatCompletion()
          : await openai.chat.completions.create(body, optionsOf(asked));
        const [choice] = completion.choices;
        const calls = (choice?.message.tool_calls ?? []).flatMap((call) =>
          call.type === 'function'
            ? [{ id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown }]
            : [],
        );
        return {
          ...{ id: completion.id, text: choice?.message.content ?? '', calls, finish: choice?.finish_reason ?? null },
          ...{ outputTokens: completion.usage?.completion_tokens ?? 0, raw: choice?.message },
        };
      },
      history: ({ input = '', before = [] }, { calls, raw }, result) => [
        ...[...before, user(input), raw],
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ],
    },
    {
      name: 'Responses',
      async ask(asked) {
        const { model = 'fast', input, tools, before = [], more } = asked;
        const own = tools?.map((name) => ({ type: 'function', name, parameters: noArguments, strict: false }));
        const items = [...before, ...(input === undefined ? [] : [user(input)])];
        const body = {
          model,
          input: items,
          ...(own && { tools: own }),
          ...more,
        } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
        const response = streamed
          ? await openai.responses.stream({ ...body, stream: true }, optionsOf(asked)).finalResponse()
          : await openai.responses.create(body, optionsOf(asked));
        const calls = response.output.flatMap((item) =>
          item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) as unknown }] : [],
        );
        const text = response.output
          .flatMap((item) => (item.type === 'message' ? item.content : []))
          .map((part) => (part.type === 'output_text' ? part.text : ''))
          .join('');
        const finish = response.incomplete_details?.reason ?? response.status ?? null;
        return { id: response.id, text, calls, finish, outputTokens: response.usage?.output_tokens ?? 0, raw: response.output };
      },
      history: ({ input = '', before = [] }, { calls, raw }, result) => [
        ...[...before, user(input), ...(raw as unknown[])],
        ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ],
    },
    {
      name: 'Messages',
      async ask(asked) {
        const { model = 'fast', input, tools, before = [], more } = asked;
        const own = tools?.map((name) => ({ name, input_schema: noArguments }));
        const messages = [...before, ...(input === undefined ? [] : [user(input)])];
        const body = {
          model,
          max_tokens: 500,
          messages,
          ...(own && { tools: own }),
          ...more,
        } as unknown as Anthropic.MessageCreateParamsNonStreaming;
        const message = streamed
          ? await anthropic.messages.stream(body, optionsOf(asked)).finalMessage()
          : await anthropic.messages.create(body, optionsOf(asked));
        const calls = message.content.flatMap((block) =>
          block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
        );
        const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        return {
          id: message.id,
          text,
          calls,
          finish: message.stop_reason,
          outputTokens: message.usage.output_tokens,
          raw: message.content,
        };
      },
      history: ({ input = '', before = [] }, { calls, raw }, result) => [
        ...[...before, user(input), { role: 'assistant', content: raw }],
        ...(calls.length === 0
          ? []
          : [{ role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result })) }]),
      ],
    },
  ];
}

/** `cut`: the connection ends after the text. */
type Reply = string | { text?: string; cut?: true; calls: readonly { name: string; arguments?: unknown }[] };

/** `say`: the replies to the next requests, in order; the last one is repeated. */
export type ScriptedModel = {
  say(...replies: readonly Reply[]): void;
  /** The requests since `say`. */
  heard: { messages: { role: string; content: unknown; tool_calls?: unknown }[]; tools?: { function: { name: string } }[] }[];
  answer(request: Request): Promise<Response>;
};

/** Speaks Chat Completions, as a stream. */
export function scriptedModel(): ScriptedModel {
  let script: readonly Reply[] = ['Hello.'];
  const model: ScriptedModel = {
    heard: [],
    say(...replies) {
      script = replies;
      model.heard = [];
    },
    async answer(request) {
      const body = (await request.json()) as ScriptedModel['heard'][number];
      const reply = script[Math.min(model.heard.length, script.length - 1)] ?? '';
      model.heard.push(body);
      const { text = '', calls, cut } = typeof reply === 'string' ? { text: reply, calls: [], cut: undefined } : reply;
      const step = model.heard.length;
      const deltas = [
        { role: 'assistant', ...(text !== '' && { content: text }) },
        ...calls.map(({ name, arguments: args = {} }, index) => ({
          tool_calls: [{ index, id: `native_${step}_${index}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
        })),
      ];
      const finish = calls.length > 0 ? 'tool_calls' : 'stop';
      const chunks = [
        ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
        { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
        { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
      ];
      const frames = chunks.map(
        (chunk) => `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', ...chunk })}\n\n`,
      );
      return new Response(cut === true ? frames[0] : `${frames.join('')}data: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  };
  return model;
}

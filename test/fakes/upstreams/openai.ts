/**
 * A fake of OpenAI's Chat Completions (API reference, "Create chat completion"): rejects what the API rejects, in its own error shape, and
 * returns scripted replies in the recorded shape. Reasoning is sent as `reasoning_content`, as DeepSeek and others do: the API itself
 * shows none. With `wantsReasoning` it must be sent back, otherwise the request is rejected, and `thinking` may be switched.
 */
import type { Json } from '../../../src/core/json/wire-value.ts';
import { parseJson, Refusal, refuse } from './refusal.ts';
import type { FakeUpstream, Say, Script, Understood, UnderstoodCall, UnderstoodMessage, UnderstoodResult } from './upstream.ts';
import { wordsOf } from './upstream.ts';

export type OpenAiOptions = { wantsReasoning?: boolean };

export function fakeOpenAi(script: Script, { wantsReasoning = false }: OpenAiOptions = {}): FakeUpstream {
  const understood: Understood[] = [];
  const refused: string[] = [];
  return {
    understood,
    refused,
    async handle(request) {
      try {
        const { read, includeUsage } = await readRequest(request, wantsReasoning);
        understood.push(read);
        const reply = toReply(read, script(read, understood.length - 1), understood.length);
        return read.streamed ? streamOf(reply, includeUsage) : Response.json(wholeOf(reply));
      } catch (error) {
        const refusal = error instanceof Refusal;
        const [message, status] = refusal ? [error.message, error.status] : [`internal: ${String(error)}`, 500];
        if (refusal) refused.push(message);
        return Response.json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, { status });
      }
    },
  };
}

// ---- Request ----

const fields = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'tools', 'tool_choice', 'parallel_tool_calls', 'temperature', 'top_p', 'stop'],
  ...['max_tokens', 'max_completion_tokens', 'frequency_penalty', 'presence_penalty', 'seed', 'reasoning_effort', 'response_format', 'n'],
  ...['safety_identifier', 'service_tier', 'verbosity', 'prompt_cache_key'],
]);

async function readRequest(request: Request, wantsReasoning: boolean): Promise<{ read: Understood; includeUsage: boolean }> {
  refuse(request.method !== 'POST' || !new URL(request.url).pathname.endsWith('/chat/completions'), 'Invalid URL', 404);
  refuse(!/^Bearer ./.test(request.headers.get('authorization') ?? ''), "You didn't provide an API key.", 401);
  const body = recordOf(await request.json(), 'We could not parse the JSON body of your request.');
  const isKnown = (name: string): boolean => fields.has(name) || (wantsReasoning && name === 'thinking');
  for (const name of Object.keys(body)) refuse(!isKnown(name), `Unrecognized request argument supplied: ${name}`);
  refuse(typeof body.model !== 'string' || body.model === '', 'you must provide a model parameter');
  refuse(body.max_tokens !== undefined && body.max_completion_tokens !== undefined, 'max_tokens and max_completion_tokens');
  refuse(body.stream_options !== undefined && body.stream !== true, 'stream_options is only allowed when stream is enabled');
  refuse(body.stop !== undefined && listOf(body.stop, 'stop').length > 4, "Invalid 'stop': array too long");
  const tools = readTools(body);
  const { system, messages } = readMessages(listOf(body.messages, "'messages' is required"), wantsReasoning);
  const options = body.stream_options === undefined ? {} : recordOf(body.stream_options, 'stream_options');
  return {
    read: { model: String(body.model), system, streamed: body.stream === true, tools, toolChoice: readChoice(body, tools), messages },
    includeUsage: options.include_usage === true,
  };
}

function readTools({ tools, parallel_tool_calls: parallel }: Json): string[] {
  refuse(parallel !== undefined && tools === undefined, "'parallel_tool_calls' is only allowed when 'tools' are specified.");
  if (tools === undefined) return [];
  const list = listOf(tools, 'tools');
  refuse(list.length === 0 || list.length > 128, "Invalid 'tools': 1 to 128 are expected");
  return list.map((tool) => {
    const { type, function: named } = recordOf(tool, 'tools[]');
    const { name, parameters } = recordOf(named, 'tools[].function');
    refuse(type !== 'function' || !isName(name), "Invalid 'tools[].function.name'");
    const schema = recordOf(parameters ?? {}, 'tools[].function.parameters');
    refuse(schema.type !== 'object', `Invalid schema for function '${String(name)}': schema must be a JSON Schema of 'type: "object"'`);
    refuse(schema.properties === undefined, `Invalid schema for function '${String(name)}': object schema missing properties`);
    return String(name);
  });
}

function readChoice({ tool_choice: choice }: Json, tools: string[]): Understood['toolChoice'] {
  if (choice === undefined) return 'auto';
  refuse(tools.length === 0, "'tool_choice' is only allowed when 'tools' are specified.");
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const { type, function: named } = recordOf(choice, "Invalid value for 'tool_choice'");
  const { name } = recordOf(named, "Invalid value for 'tool_choice'");
  refuse(type !== 'function' || !tools.includes(String(name)), "Tool choice 'function' not found in 'tools' parameter.");
  return { tool: String(name) };
}

function readMessages(list: readonly unknown[], wantsReasoning: boolean): { system: string; messages: UnderstoodMessage[] } {
  refuse(list.length === 0, "Invalid 'messages': empty array");
  const system: string[] = [];
  const messages: UnderstoodMessage[] = [];
  let waiting: string[] = [];
  for (const [at, value] of list.entries()) {
    const message = recordOf(value, `messages[${at}]`);
    const unanswered = waiting.length > 0 && message.role !== 'tool';
    refuse(unanswered, `An assistant message with 'tool_calls' must be followed by tool messages: ${waiting.join(', ')}`);
    if (message.role === 'system' || message.role === 'developer') {
      system.push(textOf(message.content, at));
    } else if (message.role === 'user') {
      messages.push(readUser(message, at));
    } else if (message.role === 'assistant') {
      const read = readAssistant(message, at, wantsReasoning);
      waiting = read.calls.map(({ id }) => String(id));
      messages.push(read);
    } else if (message.role === 'tool') {
      const result = readResult(message, at);
      refuse(!waiting.includes(String(result.id)), "messages with role 'tool' must be a response to a preceding message with 'tool_calls'");
      waiting = waiting.filter((id) => id !== result.id);
      const last = messages.at(-1);
      if (last?.role === 'tool') last.results.push(result);
      else messages.push({ role: 'tool', results: [result] });
    } else {
      throw new Refusal(`Invalid value: '${String(message.role)}'`);
    }
  }
  refuse(waiting.length > 0, `tool_call_ids did not have response messages: ${waiting.join(', ')}`);
  return { system: system.join('\n\n'), messages };
}

function readUser({ content }: Json, at: number): UnderstoodMessage {
  if (typeof content === 'string') return { role: 'user', text: content, images: 0 };
  const blocks = listOf(content, `messages[${at}].content`).map((block) => recordOf(block, `messages[${at}].content`));
  refuse(blocks.length === 0, `Invalid 'messages[${at}].content': empty array`);
  const images = blocks.filter((block) => block.type === 'image_url');
  for (const { image_url: image } of images)
    refuse(!/^(https?:|data:image\/)/.test(String(recordOf(image, 'image_url').url)), `Invalid 'messages[${at}]': image_url.url`);
  const texts = blocks.filter((block) => block.type === 'text').map((block) => textOf(block.text, at));
  refuse(texts.length + images.length < blocks.length, `Invalid 'messages[${at}]': unknown content type`);
  return { role: 'user', text: texts.join('\n\n'), images: images.length };
}

function readAssistant(message: Json, at: number, wantsReasoning: boolean): Extract<UnderstoodMessage, { role: 'assistant' }> {
  const { content, tool_calls: calls, reasoning_content: reasoning } = message;
  const read = calls === undefined ? [] : listOf(calls, 'tool_calls').map((call) => readCall(call, at));
  refuse(calls !== undefined && read.length === 0, `Invalid 'messages[${at}].tool_calls': empty array`);
  refuse(read.length === 0 && typeof content !== 'string', `Invalid value for 'content': expected a string, got null.`);
  refuse(new Set(read.map(({ id }) => id)).size < read.length, `Duplicate value for 'tool_call_id' in messages[${at}]`);
  const missing = wantsReasoning && read.length > 0 && (typeof reasoning !== 'string' || reasoning === '');
  refuse(missing, 'The `reasoning_content` in the thinking mode must be passed back to the API.');
  return {
    role: 'assistant',
    text: typeof content === 'string' ? content : '',
    calls: read,
    returned: typeof reasoning === 'string' && reasoning.trim() !== '' ? [reasoning] : [],
  };
}

function readCall(value: unknown, at: number): UnderstoodCall {
  const { id, type, function: named } = recordOf(value, `messages[${at}].tool_calls`);
  const { name, arguments: text } = recordOf(named, `messages[${at}].tool_calls`);
  refuse(typeof id !== 'string' || id === '' || id.length > 40, `Invalid 'messages[${at}].tool_calls[].id'`);
  refuse(type !== 'function' || !isName(name) || typeof text !== 'string', `Invalid 'messages[${at}].tool_calls[].function'`);
  return { id: String(id), name: String(name), arguments: recordOf(parseJson(text), `messages[${at}]: arguments are no JSON object`) };
}

function readResult({ tool_call_id: id, name, content }: Json, at: number): UnderstoodResult {
  refuse(typeof id !== 'string', `Missing parameter 'tool_call_id': messages[${at}]`);
  refuse(typeof content !== 'string', `Invalid 'messages[${at}].content': a tool's content is text`);
  return { id: String(id), name: typeof name === 'string' ? name : null, text: String(content) };
}

// ---- Reply ----

type Reply = { id: string; model: string; say: Say; calls: { id: string; name: string; text: string }[]; finish: string };

function toReply({ model }: Understood, say: Say, count: number): Reply {
  const calls = (say.calls ?? []).map(({ name, arguments: input }, index) => ({
    id: `call_${count}x${index}`,
    name,
    text: JSON.stringify(input),
  }));
  const finish = say.finish === 'length' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop';
  return { id: `chatcmpl-${count}`, model, say, calls, finish };
}

const usage = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 10 },
};

function wholeOf({ id, model, say, calls, finish }: Reply): Json {
  const message: Json = { role: 'assistant', content: say.text ?? null, refusal: null };
  if (say.reasoning !== undefined) message.reasoning_content = say.reasoning;
  if (calls.length > 0) {
    message.tool_calls = calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.text } }));
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finish };
  return { id, object: 'chat.completion', created: 1_760_000_000, model, choices: [choice], usage };
}

function streamOf({ id, model, say, calls, finish }: Reply, includeUsage: boolean): Response {
  const envelope = { id, object: 'chat.completion.chunk', created: 1_760_000_000, model };
  const chunks: Json[] = [];
  const chunk = (delta: Json, finishReason: string | null = null): void => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
    chunks.push({ ...envelope, choices, ...(includeUsage && { usage: null }) });
  };
  chunk({ role: 'assistant', content: say.text === undefined ? null : '', refusal: null });
  for (const piece of wordsOf(say.reasoning ?? '')) chunk({ reasoning_content: piece });
  for (const piece of wordsOf(say.text ?? '')) chunk({ content: piece });
  for (const [index, call] of calls.entries()) {
    chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] });
    for (const piece of wordsOf(call.text)) chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  chunk({}, finish);
  if (includeUsage) chunks.push({ ...envelope, choices: [], usage });
  const body = chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
  return new Response(`${body}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

// ---- Values ----

function recordOf(value: unknown, message: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal(`Invalid type for ${message}`);
  return { ...value };
}

function listOf(value: unknown, message: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refusal(`Invalid type for ${message}: expected an array`);
  return value;
}

function textOf(value: unknown, at: number): string {
  if (typeof value !== 'string') throw new Refusal(`Invalid type for 'messages[${at}].content': expected a string`);
  return value;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value);
}

/**
 * A fake of Cohere's Chat v2 (API reference "Chat" and "Chat with streaming"): rejects what the API rejects, in its own error shape, and
 * returns scripted replies in the recorded shape. Models whose name has `reasoning` think in content blocks; others send a plan before
 * their calls.
 */
import type { Json } from '../../../src/core/json/wire-value.ts';
import { listOf, parseJson, recordOf, Refusal, refuse } from './refusal.ts';
import type { FakeUpstream, Say, Script, Understood, UnderstoodCall, UnderstoodMessage, UnderstoodResult } from './upstream.ts';
import { wordsOf } from './upstream.ts';

export function fakeCohere(script: Script): FakeUpstream {
  const understood: Understood[] = [];
  const refused: string[] = [];
  return {
    understood,
    refused,
    async handle(request) {
      try {
        const read = await readRequest(request);
        understood.push(read);
        const reply = toReply(read, script(read, understood.length - 1), understood.length);
        return read.streamed ? streamOf(reply) : Response.json(wholeOf(reply));
      } catch (error) {
        if (!(error instanceof Refusal)) return Response.json({ id: 'fake', message: `internal: ${String(error)}` }, { status: 500 });
        refused.push(error.message);
        return Response.json({ id: 'fake', message: error.message }, { status: error.status });
      }
    },
  };
}

// ---- Request ----

const fields = new Set([
  ...['model', 'messages', 'stream', 'tools', 'tool_choice', 'strict_tools', 'documents', 'citation_options', 'response_format'],
  ...['safety_mode', 'max_tokens', 'stop_sequences', 'temperature', 'seed', 'frequency_penalty', 'presence_penalty', 'k', 'p'],
  ...['logprobs', 'thinking', 'priority'],
]);

async function readRequest(request: Request): Promise<Understood> {
  refuse(request.method !== 'POST' || !new URL(request.url).pathname.endsWith('/chat'), 'not found', 404);
  refuse(!/^Bearer ./.test(request.headers.get('authorization') ?? ''), 'no api key supplied', 401);
  const body = recordOf(await request.json(), 'invalid request body');
  for (const name of Object.keys(body)) refuse(!fields.has(name), `unknown field: parameter '${name}' is not a valid field.`, 422);
  refuse(typeof body.model !== 'string' || body.model === '', 'invalid request: model is required');
  checkNumbers(body);
  const tools = readTools(body);
  const thinking = body.thinking === undefined ? {} : recordOf(body.thinking, 'invalid request: thinking');
  refuse(body.thinking !== undefined && !['enabled', 'disabled'].includes(String(thinking.type)), 'invalid request: thinking.type');
  refuse(
    thinking.token_budget !== undefined && !isPositive(thinking.token_budget),
    'invalid request: thinking.token_budget must be positive',
  );
  refuse(body.response_format !== undefined && tools.length > 0, 'response_format is not supported with tools');
  const { system, messages } = readMessages(listOf(body.messages, 'invalid request: messages'), thinking.type !== 'disabled');
  const choice = body.tool_choice;
  return {
    model: String(body.model),
    system,
    streamed: body.stream === true,
    tools,
    toolChoice: choice === 'REQUIRED' ? 'required' : choice === 'NONE' ? 'none' : 'auto',
    messages,
  };
}

function checkNumbers(body: Json): void {
  const ranges: [string, number, number][] = [
    ['p', 0.01, 0.99],
    ['k', 0, 500],
    ['frequency_penalty', 0, 1],
    ['presence_penalty', 0, 1],
    ['temperature', 0, 5],
    ['max_tokens', 1, 1_000_000],
  ];
  for (const [name, least, most] of ranges) {
    const value = body[name];
    const legal = value === undefined || (typeof value === 'number' && value >= least && value <= most);
    refuse(!legal, `invalid request: ${name} must be between ${least} and ${most} inclusive`);
  }
  refuse(
    body.stop_sequences !== undefined && listOf(body.stop_sequences, 'stop_sequences').length > 5,
    'invalid request: at most 5 stop_sequences',
  );
}

function readTools({ tools, tool_choice: choice }: Json): string[] {
  refuse(choice !== undefined && choice !== 'REQUIRED' && choice !== 'NONE', 'invalid request: tool_choice must be REQUIRED or NONE');
  refuse(choice !== undefined && tools === undefined, 'invalid request: tool_choice needs tools');
  if (tools === undefined) return [];
  const names = listOf(tools, 'tools').map((tool) => {
    const { type, function: named } = recordOf(tool, 'invalid tool');
    const { name, description, parameters } = recordOf(named, 'invalid tool: function is required');
    refuse(type !== 'function' || !isName(name), 'invalid tool: name');
    refuse(description !== undefined && typeof description !== 'string', 'invalid tool: description');
    refuse(
      recordOf(parameters, 'invalid tool: parameters are required').type !== 'object',
      'invalid tool: parameters must be an object schema',
    );
    return String(name);
  });
  refuse(names.length === 0, 'invalid request: tools must not be empty');
  refuse(new Set(names).size < names.length, 'invalid request: tool names must be unique');
  return names;
}

function readMessages(list: readonly unknown[], thinks: boolean): { system: string; messages: UnderstoodMessage[] } {
  refuse(list.length === 0, 'invalid request: messages must not be empty');
  const system: string[] = [];
  const messages: UnderstoodMessage[] = [];
  let waiting: string[] = [];
  for (const [at, value] of list.entries()) {
    const message = recordOf(value, `invalid message at messages[${at}]`);
    refuse(waiting.length > 0 && message.role !== 'tool', `messages[${at}]: tool calls without results: ${waiting.join(', ')}`);
    switch (message.role) {
      case 'system':
        system.push(textOf(message.content, at));
        break;
      case 'user':
        messages.push(readUser(message, at));
        break;
      case 'assistant': {
        const read = readAssistant(message, at, thinks);
        waiting = read.calls.map(({ id }) => String(id));
        messages.push(read);
        break;
      }
      case 'tool': {
        const result = readResult(message, at);
        refuse(!waiting.includes(String(result.id)), `messages[${at}]: tool_call_id ${result.id} is not a call of the message before`);
        waiting = waiting.filter((id) => id !== result.id);
        const last = messages.at(-1);
        if (last?.role === 'tool') last.results.push(result);
        else messages.push({ role: 'tool', results: [result] });
        break;
      }
      default:
        throw new Refusal(`messages[${at}]: unknown role`);
    }
  }
  refuse(waiting.length > 0, `tool calls without results: ${waiting.join(', ')}`);
  refuse(messages.at(-1)?.role === 'assistant', 'the last message must be of a user or a tool');
  return { system: system.join('\n\n'), messages };
}

function readUser({ content }: Json, at: number): UnderstoodMessage {
  if (typeof content === 'string') return { role: 'user', text: textOf(content, at), images: 0 };
  const blocks = listOf(content, `messages[${at}].content`).map((block) => recordOf(block, `messages[${at}].content`));
  refuse(blocks.length === 0, `messages[${at}]: content must not be empty`);
  const images = blocks.filter((block) => block.type === 'image_url');
  for (const image of images) {
    const { url } = recordOf(image.image_url, `messages[${at}]: image_url`);
    refuse(!/^(https?:|data:image\/)/.test(String(url)), `messages[${at}]: image_url.url`);
  }
  const texts = blocks.filter((block) => block.type === 'text').map((block) => textOf(block.text, at));
  refuse(texts.length + images.length < blocks.length, `messages[${at}]: unknown block`);
  return { role: 'user', text: texts.join('\n\n'), images: images.length };
}

function readAssistant(message: Json, at: number, thinks: boolean): Extract<UnderstoodMessage, { role: 'assistant' }> {
  const { content, tool_plan: plan, tool_calls: calls } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content === undefined ? [] : listOf(content, 'content');
  const texts: string[] = [];
  const returned: string[] = [];
  for (const value of blocks) {
    const block = recordOf(value, `messages[${at}].content`);
    if (block.type === 'text') texts.push(textOf(block.text, at));
    else if (block.type === 'thinking') {
      refuse(!thinks, `messages[${at}]: thinking content needs thinking to be enabled`);
      returned.push(textOf(block.thinking, at));
    } else throw new Refusal(`messages[${at}]: unknown block`);
  }
  if (plan !== undefined) returned.push(textOf(plan, at));
  const read = calls === undefined ? [] : listOf(calls, 'tool_calls').map((call) => readCall(call, at));
  refuse(read.length === 0 && texts.length === 0, `messages[${at}]: content or tool_calls are required`);
  refuse(
    read.length > 0 && texts.length > 0,
    `text content is not allowed when tool_calls are provided. If you wish to pass a tool plan, either pass thinking content (with thinking enabled) or use 'tool_plan': 'messages[${at}].content[0]'`,
  );
  refuse(new Set(read.map(({ id }) => id)).size < read.length, `messages[${at}]: ids of tool calls must be unique`);
  return { role: 'assistant', text: texts.join(''), calls: read, returned };
}

function readCall(value: unknown, at: number): UnderstoodCall {
  const { id, type, function: named } = recordOf(value, `messages[${at}].tool_calls`);
  const { name, arguments: text } = recordOf(named, `messages[${at}].tool_calls`);
  refuse(type !== 'function' || typeof id !== 'string' || id === '' || !isName(name), `messages[${at}]: invalid tool call`);
  return { id: String(id), name: String(name), arguments: recordOf(parseJson(text), `messages[${at}]: arguments must be a JSON object`) };
}

function readResult({ tool_call_id: id, content }: Json, at: number): UnderstoodResult {
  if (typeof content === 'string') return { id: String(id), name: null, text: textOf(content, at) };
  const texts = listOf(content, `messages[${at}].content`).map((value) => {
    const block = recordOf(value, `messages[${at}].content`);
    if (block.type === 'text') return textOf(block.text, at);
    refuse(block.type !== 'document', `messages[${at}]: a tool's content is text or documents`);
    return JSON.stringify(recordOf(block.document, `messages[${at}]: document`).data);
  });
  return { id: String(id), name: null, text: texts.join('\n') };
}

// ---- Reply ----

type Reply = { id: string; say: Say; thinks: boolean; calls: { id: string; name: string; text: string }[]; finish: string; usage: Json };

function toReply({ model }: Understood, say: Say, count: number): Reply {
  const calls = (say.calls ?? []).map(({ name, arguments: input }, index) => ({
    id: `${name}_${count}x${index}`,
    name,
    text: JSON.stringify(input),
  }));
  const finish = say.finish === 'length' ? 'MAX_TOKENS' : calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE';
  const tokens = { input_tokens: 120, output_tokens: 30, ...(say.reasoning !== undefined && { reasoning_tokens: 10 }) };
  const usage = { billed_units: { input_tokens: 20, output_tokens: 25 }, tokens, cached_tokens: 64 };
  // A plan is sent before calls only; otherwise thoughts are a block.
  return { id: `fake-${count}`, say, thinks: model.includes('reasoning') || calls.length === 0, calls, finish, usage };
}

function wholeOf({ id, say: { reasoning, text }, thinks, calls, finish, usage }: Reply): Json {
  const content = [
    ...(reasoning !== undefined && thinks ? [{ type: 'thinking', thinking: reasoning }] : []),
    ...(text !== undefined ? [{ type: 'text', text }] : []),
  ];
  const toolCalls = calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.text } }));
  return {
    id,
    message: {
      role: 'assistant',
      ...(reasoning !== undefined && !thinks && { tool_plan: reasoning }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      ...(content.length > 0 && { content }),
    },
    finish_reason: finish,
    usage,
  };
}

function streamOf({ id, say: { reasoning, text }, thinks, calls, finish, usage }: Reply): Response {
  const frames: Json[] = [
    { id, type: 'message-start', delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } } },
  ];
  let index = 0;
  const block = (field: 'thinking' | 'text', words: string): void => {
    frames.push({ type: 'content-start', index, delta: { message: { content: { type: field, [field]: '' } } } });
    for (const piece of wordsOf(words)) frames.push({ type: 'content-delta', index, delta: { message: { content: { [field]: piece } } } });
    frames.push({ type: 'content-end', index });
    index += 1;
  };
  if (reasoning !== undefined && thinks) block('thinking', reasoning);
  if (text !== undefined) block('text', text);
  if (reasoning !== undefined && !thinks)
    for (const piece of wordsOf(reasoning)) frames.push({ type: 'tool-plan-delta', delta: { message: { tool_plan: piece } } });
  for (const [at, call] of calls.entries()) {
    const start = { id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    frames.push({ type: 'tool-call-start', index: at, delta: { message: { tool_calls: start } } });
    // A call without arguments has no deltas at all.
    for (const piece of call.text === '{}' ? [] : wordsOf(call.text))
      frames.push({ type: 'tool-call-delta', index: at, delta: { message: { tool_calls: { function: { arguments: piece } } } } });
    frames.push({ type: 'tool-call-end', index: at });
  }
  frames.push({ type: 'message-end', delta: { finish_reason: finish, usage } });
  const body = frames.map((frame) => `event: ${String(frame.type)}\ndata: ${JSON.stringify(frame)}\n\n`).join('');
  return new Response(`${body}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

// ---- Values ----

function textOf(value: unknown, at: number): string {
  if (typeof value !== 'string' || value === '') throw new Refusal(`messages[${at}]: content must not be empty`);
  return value;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value);
}

function isPositive(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0;
}

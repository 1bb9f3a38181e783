/**
 * A fake of OpenAI's Responses API (API reference "Responses: create" and "streaming events"): rejects what the API rejects, in its own
 * error shape, and returns scripted replies in the recorded shape. Models whose name begins with `gpt-4` do not reason; nothing is stored,
 * so reasoning is only returned as encrypted content.
 */
import type { Json } from '../../../src/core/json/wire-value.ts';
import { listOf, parseJson, recordOf, Refusal, refuse } from './refusal.ts';
import { isName, type OfferedTool, outputOfCall, qualified, readToolChoice, readTools, toCallItem } from './openai-responses-tools.ts';
import { type FakeUpstream, type Say, type Script, type Understood, type UnderstoodMessage, wordsOf } from './upstream.ts';

export function fakeOpenAiResponses(script: Script): FakeUpstream {
  const understood: Understood[] = [];
  const refused: string[] = [];
  return {
    understood,
    refused,
    async handle(request) {
      try {
        const { offered, given, ...read } = await readRequest(request);
        understood.push(read);
        const path = new URL(request.url).pathname;
        if (path.endsWith('/input_tokens')) return Response.json({ object: 'response.input_tokens', input_tokens: countedTokens });
        if (path.endsWith('/compact')) return Response.json(toCompaction(script(read, understood.length - 1), understood.length));
        const reply = toReply(read, { offered, given }, script(read, understood.length - 1), understood.length);
        return read.streamed ? streamOf(reply) : Response.json(reply.response);
      } catch (error) {
        if (!(error instanceof Refusal)) return refusalOf(500, `internal: ${String(error)}`, 'server_error');
        refused.push(error.message);
        return refusalOf(error.status, error.message, 'invalid_request_error');
      }
    },
  };
}

/** What the API counts, whatever the input. */
export const countedTokens = 42;

/** API reference, "Compact a response". The text of the summary stands in the content, which only this service reads. */
function toCompaction({ text }: Say, count: number): Json {
  return {
    ...{ id: `resp_${count}`, object: 'response.compaction', created_at: 1_790_000_000 + count },
    output: [
      { id: `msg_${count}`, type: 'message', status: 'completed', role: 'user', content: [{ type: 'input_text', text: 'Kept.' }] },
      { id: `cmp_${count}`, type: 'compaction', encrypted_content: `gAAAA-cmp-${text}` },
    ],
    usage: {
      ...{ input_tokens: 120, input_tokens_details: { cached_tokens: 64 }, output_tokens: 30, total_tokens: 150 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function refusalOf(status: number, message: string, type: string): Response {
  return Response.json({ error: { message, type, param: null, code: null } }, { status });
}

// ---- Request ----

const fields = new Set([
  ...['model', 'input', 'instructions', 'stream', 'stream_options', 'store', 'include', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['max_tool_calls', 'max_output_tokens', 'temperature', 'top_p', 'top_logprobs', 'reasoning', 'text', 'metadata', 'truncation'],
  ...['user', 'safety_identifier', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'background', 'previous_response_id'],
  // Not in the reference; Codex sends it to every provider (openai/codex: codex-rs/codex-api/src/common.rs, `ResponsesApiRequest`).
  'client_metadata',
]);

/** `given`: the list of the request, which the reply repeats. */
type Tools = { offered: readonly OfferedTool[]; given: unknown };

async function readRequest(request: Request): Promise<Understood & Tools> {
  refuse(request.method !== 'POST' || !/\/responses(\/compact|\/input_tokens)?$/.test(new URL(request.url).pathname), 'Not found', 404);
  refuse(!/^Bearer ./.test(request.headers.get('authorization') ?? ''), "You didn't provide an API key.", 401);
  const body = recordOf(await request.json(), 'We could not parse the JSON body of your request.');
  for (const name of Object.keys(body)) refuse(!fields.has(name), `Unknown parameter: '${name}'.`);
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw new Refusal("Missing required parameter: 'model'.");
  refuse(body.previous_response_id != null, `Previous response with id '${String(body.previous_response_id)}' not found.`);
  checkSettings(body, model);
  const { system, messages, offered } = readInput(body);
  const tools = offered.map(({ name }) => name);
  return {
    model,
    system,
    streamed: body.stream === true,
    tools,
    toolChoice: readToolChoice(body, offered),
    messages,
    offered,
    given: body.tools ?? [],
  };
}

function checkSettings(body: Json, model: string): void {
  const reasons = isReasoning(model);
  const samples = !/^(o\d|gpt-[5-9])/.test(model);
  const within = (name: string, least: number, most: number): void => {
    const value = body[name];
    if (value == null) return;
    refuse(typeof value !== 'number', `Invalid type for '${name}'.`);
    refuse(
      Number(value) < least,
      `Invalid '${name}': below minimum value. Expected a value >= ${least}, but got ${String(value)} instead.`,
    );
    refuse(Number(value) > most, `Invalid '${name}': above maximum value.`);
    refuse(!samples && name !== 'max_output_tokens', `Unsupported parameter: '${name}' is not supported with this model.`);
  };
  within('max_output_tokens', 16, 1_000_000);
  within('temperature', 0, 2);
  within('top_p', 0, 1);
  for (const name of listOf(body.include ?? [], "Invalid type for 'include'.")) {
    refuse(name !== 'reasoning.encrypted_content', `Invalid value: '${String(name)}'.`);
    refuse(!reasons, 'Encrypted content is not supported with this model.');
  }
  const reasoning = recordOf(body.reasoning ?? {}, "Invalid type for 'reasoning'.");
  const { effort, summary, context } = reasoning;
  refuse(Object.keys(reasoning).length > 0 && !reasons, "Unsupported parameter: 'reasoning.effort' is not supported with this model.");
  refuse(effort != null && !['none', 'minimal', 'low', 'medium', 'high', 'xhigh'].includes(String(effort)), "Invalid 'reasoning.effort'.");
  refuse(summary != null && !['auto', 'concise', 'detailed'].includes(String(summary)), "Invalid 'reasoning.summary'.");
  refuse(context != null && !['auto', 'current_turn', 'all_turns'].includes(String(context)), "Invalid 'reasoning.context'.");
  const { format, verbosity } = recordOf(body.text ?? {}, "Invalid type for 'text'.");
  checkFormat(format);
  refuse(verbosity != null && !['low', 'medium', 'high'].includes(String(verbosity)), "Invalid 'text.verbosity'.");
  const marks = Object.values(recordOf(body.client_metadata ?? {}, "Invalid type for 'client_metadata'."));
  refuse(!marks.every((mark) => typeof mark === 'string'), "Invalid type for 'client_metadata': expected strings.");
}

function checkFormat(value: unknown): void {
  if (value === undefined) return;
  const { type, name, schema, ...rest } = recordOf(value, "Invalid type for 'text.format'.");
  refuse(!['text', 'json_object', 'json_schema'].includes(String(type)), "Invalid 'text.format.type'.");
  refuse(type === 'json_schema' && !isName(name, 64), "Missing required parameter: 'text.format.name'.");
  if (type === 'json_schema') recordOf(schema, "Missing required parameter: 'text.format.schema'.");
  for (const key of Object.keys(rest)) refuse(!['strict', 'description'].includes(key), `Unknown parameter: 'text.format.${key}'.`);
}

// ---- Input ----

type Reading = {
  system: string[];
  messages: UnderstoodMessage[];
  offered: OfferedTool[];
  /** The type of the result of each call. */
  calls: Map<string, string>;
  answered: Set<string>;
};

function readInput({ input, instructions, tools }: Json): { system: string; messages: UnderstoodMessage[]; offered: OfferedTool[] } {
  const system = typeof instructions === 'string' ? [instructions] : [];
  const offered = readTools(tools, 'tools');
  if (typeof input === 'string') return { system: system.join('\n\n'), messages: [{ role: 'user', text: input, images: 0 }], offered };
  const items = listOf(input, "Invalid type for 'input'.").map((item, at) => recordOf(item, `Invalid type for 'input[${at}]'.`));
  refuse(items.length === 0, "Missing required parameter: 'input'.");
  const reading: Reading = { system, messages: [], offered, calls: new Map(), answered: new Set() };
  for (const [at, item] of items.entries()) {
    readInputItem(item, at, reading);
    const next = items[at + 1];
    const follows = next !== undefined && (next.role === 'assistant' || /_call$|^reasoning$|^program$/.test(String(next.type)));
    refuse(
      item.type === 'reasoning' && !follows,
      `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
    );
  }
  for (const id of reading.calls.keys()) refuse(!reading.answered.has(id), `No tool output found for function call ${id}.`);
  return { system: system.join('\n\n'), messages: reading.messages, offered };
}

function readInputItem(item: Json, at: number, reading: Reading): void {
  const type = item.type ?? (item.role === undefined ? undefined : 'message');
  switch (type) {
    case 'message':
      readMessage(item, at, reading);
      return;
    case 'reasoning':
      assistantOf(reading).returned.push(readReasoning(item, at));
      return;
    case 'additional_tools':
      refuse(item.role !== 'developer', `Invalid value: '${String(item.role)}' at 'input[${at}].role'.`);
      reading.offered.push(...readTools(item.tools, `input[${at}].tools`));
      return;
    case 'function_call':
    case 'custom_tool_call':
    case 'tool_search_call':
      readCall(item, String(type), at, reading);
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'tool_search_output':
      readOutput(item, String(type), at, reading);
      return;
    case 'compaction':
      refuse(!String(item.encrypted_content).startsWith('gAAAA-cmp-'), `The encrypted content of 'input[${at}]' could not be verified.`);
      assistantOf(reading).returned.push(String(item.encrypted_content));
      return;
    case 'web_search_call':
    case 'program':
      assistantOf(reading).returned.push(String(item.id));
      return;
    default:
      throw new Refusal(`Invalid value: '${String(type)}' at 'input[${at}].type'.`);
  }
}

function readCall(item: Json, type: string, at: number, reading: Reading): void {
  const id = readCallId(item, at);
  const isSearch = type === 'tool_search_call';
  refuse(isSearch && item.execution !== 'client', `Invalid 'input[${at}].execution'.`);
  refuse(!isSearch && !isName(item.name, 128), `Invalid 'input[${at}].name': string does not match pattern.`);
  refuse(reading.calls.has(id), `Duplicate item found with call_id ${id}.`);
  reading.calls.set(id, outputOfCall[type] ?? '');
  const given = type === 'function_call' ? parseJson(item.arguments) : item.arguments;
  const input = type === 'custom_tool_call' ? item.input : recordOf(given, `Invalid 'input[${at}].arguments'.`);
  const name = isSearch ? 'tool_search' : qualified(item.namespace, String(item.name));
  assistantOf(reading).calls.push({ id, name, arguments: input });
}

function readOutput(item: Json, type: string, at: number, reading: Reading): void {
  const id = readCallId(item, at);
  refuse(reading.calls.get(id) !== type, `No tool call found for function call output with call_id ${id}.`);
  refuse(reading.answered.has(id), `Duplicate output for call_id ${id}.`);
  reading.answered.add(id);
  const last = reading.messages.at(-1);
  const found = type === 'tool_search_output' ? readTools(item.tools, `input[${at}].tools`, true) : null;
  reading.offered.push(...(found ?? []));
  const text = found === null ? readContent(item.output, 'input', at).text : JSON.stringify(found.map(({ name }) => name));
  const result = { id, name: null, text };
  if (last?.role === 'tool') last.results.push(result);
  else reading.messages.push({ role: 'tool', results: [result] });
}

function readMessage({ role, content, phase }: Json, at: number, { system, messages, ...rest }: Reading): void {
  const read = readContent(content, role === 'assistant' ? 'output' : 'input', at);
  refuse(read.text === '' && read.images === 0, `Invalid 'input[${at}].content': empty.`);
  refuse(phase !== undefined && role !== 'assistant', `Unknown parameter: 'input[${at}].phase'.`);
  if (role === 'system' || role === 'developer') system.push(read.text);
  else if (role === 'user') messages.push({ role, ...read });
  else if (role === 'assistant') {
    const message = assistantOf({ system, messages, ...rest });
    message.text += read.text;
    if (phase !== undefined) message.returned.push(String(phase));
  } else throw new Refusal(`Invalid value: '${String(role)}' at 'input[${at}].role'.`);
}

/** Items of a reply are one message here. */
function assistantOf({ messages }: Reading): Extract<UnderstoodMessage, { role: 'assistant' }> {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last;
  const message: UnderstoodMessage = { role: 'assistant', text: '', calls: [], returned: [] };
  messages.push(message);
  return message;
}

function readContent(content: unknown, side: 'input' | 'output', at: number): { text: string; images: number } {
  if (typeof content === 'string') return { text: content, images: 0 };
  let images = 0;
  const texts: string[] = [];
  for (const value of listOf(content, `Invalid type for 'input[${at}].content'.`)) {
    const part = recordOf(value, `Invalid type for 'input[${at}].content'.`);
    if (part.type === `${side}_text` && typeof part.text === 'string') texts.push(part.text);
    else if (part.type === 'refusal' && side === 'output') texts.push(String(part.refusal));
    else if (part.type === 'input_image' && side === 'input') {
      refuse(!/^(https?:\/\/|data:image\/[a-z+]+;base64,)/.test(String(part.image_url)), `Invalid 'input[${at}].content': image_url.`);
      images += 1;
    } else throw new Refusal(`Invalid value: '${String(part.type)}' at 'input[${at}].content'.`);
  }
  return { text: texts.join('\n\n'), images };
}

function readReasoning({ id, summary, encrypted_content: encrypted, content }: Json, at: number): string {
  // Codex sends none, which the encrypted content replaces.
  refuse(id !== undefined && (typeof id !== 'string' || !id.startsWith('rs_')), `Invalid 'input[${at}].id'.`);
  listOf(summary, `Missing required parameter: 'input[${at}].summary'.`);
  refuse(content != null && listOf(content, 'content').length > 0, `Unknown parameter: 'input[${at}].content'.`);
  refuse(encrypted == null, `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false.`, 404);
  refuse(
    !String(encrypted).startsWith(id === undefined ? 'gAAAA-rs_' : `gAAAA-${String(id)}-`),
    `The encrypted content for item ${String(id)} could not be verified.`,
  );
  return String(encrypted);
}

function readCallId({ call_id: id }: Json, at: number): string {
  if (typeof id !== 'string' || id === '' || id.length > 64)
    throw new Refusal(`Invalid 'input[${at}].call_id': string too long or missing.`);
  return id;
}

// ---- Reply ----

type Reply = { response: Json; items: Json[]; status: string };

function toReply(request: Understood, { offered, given }: Tools, say: Say, count: number): Reply {
  const reasons = isReasoning(request.model);
  const items = toItems(say, count, reasons, offered);
  const status = say.finish === 'length' ? 'incomplete' : 'completed';
  const response = {
    ...{ id: `resp_${count}`, object: 'response', created_at: 1_790_000_000 + count, status, background: false, error: null },
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    ...{ completed_at: status === 'completed' ? 1_790_000_001 + count : null, max_tool_calls: null, service_tier: 'default' },
    ...{ presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, safety_identifier: null, prompt_cache_key: null },
    ...{ instructions: null, max_output_tokens: null, model: request.model, output: items, parallel_tool_calls: true },
    ...{ previous_response_id: null, reasoning: { effort: reasons ? 'medium' : null, summary: null }, store: false, temperature: 1 },
    ...{ text: { format: { type: 'text' } }, tool_choice: 'auto', top_p: 1, truncation: 'disabled', user: null, metadata: {} },
    // Functions are strict unless the request says otherwise.
    tools: (given as Json[]).map((tool) => (tool.type === 'function' ? { strict: true, ...tool } : tool)),
    usage: {
      ...{ input_tokens: 120, input_tokens_details: { cached_tokens: 64 }, output_tokens: 30, total_tokens: 150 },
      output_tokens_details: { reasoning_tokens: say.reasoning === undefined ? 0 : 10 },
    },
  };
  return { response, items, status };
}

function toItems({ reasoning, text, calls = [], finish }: Say, count: number, reasons: boolean, offered: readonly OfferedTool[]): Json[] {
  const id = `rs_${count}`;
  const thought = {
    id,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: reasoning }],
    encrypted_content: `gAAAA-${id}-${reasoning?.length}`,
  };
  const said = {
    ...{ id: `msg_${count}`, type: 'message', status: finish === 'length' ? 'incomplete' : 'completed', role: 'assistant' },
    content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
    ...(reasons && { phase: calls.length > 0 ? 'commentary' : 'final_answer' }),
  };
  return [
    ...(reasoning !== undefined && reasons ? [thought] : []),
    ...(text !== undefined ? [said] : []),
    ...calls.map((call, index) => toCallItem(call, `${count}x${index}`, offered)),
  ];
}

function streamOf({ response, items, status }: Reply): Response {
  const events: Json[] = [];
  const say = (type: string, fields: Json): void => {
    events.push({ type, ...fields, sequence_number: events.length });
  };
  const begun = { ...response, status: 'in_progress', completed_at: null, output: [], usage: null, incomplete_details: null };
  say('response.created', { response: begun });
  say('response.in_progress', { response: begun });
  for (const [index, item] of items.entries()) sayItem(item, index, say);
  say(`response.${status}`, { response });
  const body = events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

function sayItem(item: Json, index: number, say: (type: string, fields: Json) => void): void {
  const at = { item_id: item.id, output_index: index };
  const opened = { ...item, ...(item.type !== 'reasoning' && { status: 'in_progress' }) };
  const sayPieces = (name: string, part: Json, text: string, field: string): void => {
    for (const delta of wordsOf(text))
      say(`response.${name}.delta`, { ...at, ...part, delta, obfuscation: 'x'.repeat(16 - (delta.length % 16)) });
    say(`response.${name}.done`, { ...at, ...part, [field]: text });
  };
  if (item.type === 'function_call' || item.type === 'custom_tool_call') {
    const [name, field] = item.type === 'function_call' ? ['function_call_arguments', 'arguments'] : ['custom_tool_call_input', 'input'];
    say('response.output_item.added', { output_index: index, item: { ...opened, [field]: '' } });
    sayPieces(name, {}, String(item[field]), field);
  } else if (item.type === 'tool_search_call') {
    say('response.output_item.added', { output_index: index, item: opened });
  } else {
    const isMessage = item.type === 'message';
    const [list, of, name] = isMessage
      ? ['content', 'content_part', 'output_text']
      : ['summary', 'reasoning_summary_part', 'reasoning_summary_text'];
    say('response.output_item.added', { output_index: index, item: { ...opened, [list]: [] } });
    for (const [place, value] of listOf(item[list], list).entries()) {
      const part = recordOf(value, list);
      const where = { [isMessage ? 'content_index' : 'summary_index']: place };
      say(`response.${of}.added`, { ...at, ...where, part: { ...part, text: '' } });
      sayPieces(name, { ...where, ...(isMessage && { logprobs: [] }) }, String(part.text), 'text');
      say(`response.${of}.done`, { ...at, ...where, part });
    }
  }
  say('response.output_item.done', { output_index: index, item });
}

function isReasoning(model: string): boolean {
  return !model.startsWith('gpt-4');
}

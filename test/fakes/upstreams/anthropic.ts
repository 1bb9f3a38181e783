/**
 * A fake of Anthropic's Messages API as far as tests need it: rejects what the API rejects (with its errors), and returns its script as
 * content blocks, streamed or plain. Its signatures are derived from the thinking that they sign, so that it detects changes.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../../src/core/json/wire-value.ts';
import { Refusal, refuse } from './refusal.ts';
import type { FakeUpstream, Say, Script, Understood, UnderstoodMessage } from './upstream.ts';

export function fakeAnthropic(script: Script): FakeUpstream {
  const understood: Understood[] = [];
  const refused: string[] = [];
  const error = (status: number, type: string, message: string): Response => {
    refused.push(message);
    return Response.json({ type: 'error', error: { type, message }, request_id: `req_${refused.length}` }, { status });
  };
  return {
    understood,
    refused,
    async handle(request) {
      const { pathname } = new URL(request.url);
      if (request.method === 'GET' && pathname.endsWith('/models')) return Response.json({ data: [] });
      if (request.method !== 'POST' || !pathname.endsWith('/messages'))
        return error(404, 'not_found_error', `${request.method} ${pathname}`);
      try {
        refuse(request.headers.get('anthropic-version') === null, 'anthropic-version: header is required');
        const body: unknown = JSON.parse(await request.text());
        const heard = understand(recordOf(body));
        const index = understood.push(heard) - 1;
        const message = toMessage(script(heard, index), heard.model, index);
        if (!heard.streamed) return Response.json(message);
        return new Response(toFrames(message).join(''), { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
      } catch (thrown) {
        return error(400, 'invalid_request_error', thrown instanceof Refusal ? thrown.message : String(thrown));
      }
    },
  };
}

// ---- Requests ----

const fields = new Set(
  'model max_tokens messages system stream tools tool_choice thinking output_config temperature top_p top_k stop_sequences metadata service_tier'.split(
    ' ',
  ),
);

function understand(body: Json): Understood {
  for (const field of Object.keys(body)) refuse(!fields.has(field), `${field}: Extra inputs are not permitted`);
  refuse(stringOf(body.model) === '', 'model: Field required');
  refuse(!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1, 'max_tokens: Field required');
  const turns = listOf(body.messages).map(recordOf);
  refuse(turns.length === 0, 'messages: at least one message is required');
  const tools = checkTools(body);
  const thinks = checkThinking(body);
  const messages = checkMessages(turns, { thinks, hasTools: tools.length > 0 });
  checkSampling(body, thinks);
  const system = checkSystem(body.system);
  const marks = JSON.stringify([body.tools, body.system, body.messages]).split('"cache_control"').length - 1;
  refuse(marks > 4, 'A maximum of 4 blocks with cache_control may be provided');
  return {
    model: stringOf(body.model),
    system,
    streamed: body.stream === true,
    tools,
    toolChoice: checkChoice(body.tool_choice, tools, thinks),
    messages,
  };
}

function checkSystem(system: unknown): string {
  if (system === undefined || typeof system === 'string') return system ?? '';
  const texts = listOf(system).map(recordOf);
  for (const { type, text } of texts)
    refuse(type !== 'text' || stringOf(text).trim() === '', 'system: text content blocks must be non-empty');
  return texts.map(({ text }) => stringOf(text)).join('\n\n');
}

function checkTools({ tools }: Json): string[] {
  const names = listOf(tools)
    .map(recordOf)
    .map((tool, index) => {
      const at = `tools.${index}.custom`;
      refuse(!/^[a-zA-Z0-9_-]{1,128}$/.test(stringOf(tool.name)), `${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
      const schema = recordOf(tool.input_schema);
      refuse(schema.type !== 'object', `${at}.input_schema.type: Input should be 'object'`);
      for (const key of ['oneOf', 'anyOf', 'allOf']) {
        refuse(key in schema, `${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`);
      }
      return stringOf(tool.name);
    });
  refuse(new Set(names).size < names.length, 'tools: Tool names must be unique.');
  return names;
}

/** Whether thinking is enabled with a budget. */
function checkThinking({ thinking, max_tokens: most, tool_choice: choice }: Json): boolean {
  const { type, budget_tokens: budget } = recordOf(thinking);
  if (thinking === undefined || type === 'disabled' || type === 'adaptive') return false;
  refuse(type !== 'enabled', 'thinking.type: unexpected value');
  refuse(
    !Number.isInteger(budget) || Number(budget) < 1024,
    'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  );
  refuse(Number(budget) >= Number(most), '`max_tokens` must be greater than `thinking.budget_tokens`');
  const forced = ['any', 'tool'].includes(stringOf(recordOf(choice).type));
  refuse(forced, 'Thinking may not be enabled when tool_choice forces tool use.');
  return true;
}

function checkSampling({ temperature, top_p: topP, top_k: topK, stop_sequences: stop }: Json, thinks: boolean): void {
  if (temperature !== undefined) refuse(!(Number(temperature) >= 0 && Number(temperature) <= 1), 'temperature: range: 0..1');
  refuse(temperature !== undefined && topP !== undefined, '`temperature` and `top_p` cannot both be specified for this model');
  refuse(thinks && (temperature ?? 1) !== 1, '`temperature` may only be set to 1 when thinking is enabled');
  refuse(thinks && topK !== undefined, '`top_k` must be unset when thinking is enabled');
  for (const text of listOf(stop)) refuse(stringOf(text).trim() === '', 'stop_sequences: each stop sequence must contain non-whitespace');
}

function checkChoice(choice: unknown, tools: readonly string[], thinks: boolean): Understood['toolChoice'] {
  const { type, name } = recordOf(choice);
  refuse(choice !== undefined && tools.length === 0, 'tool_choice may only be specified while providing tools');
  if (choice === undefined || type === 'auto') return 'auto';
  if (type === 'none') return 'none';
  refuse(thinks, 'Thinking may not be enabled when tool_choice forces tool use.');
  if (type === 'any') return 'required';
  refuse(type !== 'tool' || !tools.includes(stringOf(name)), `Tool '${stringOf(name)}' not found in provided tools`);
  return { tool: stringOf(name) };
}

function checkMessages(turns: readonly Json[], { thinks, hasTools }: { thinks: boolean; hasTools: boolean }): UnderstoodMessage[] {
  refuse(turns[0]?.role !== 'user', 'messages: first message must use the "user" role');
  const heard: UnderstoodMessage[] = [];
  const used = new Set<string>();
  let open: string[] = [];
  for (const [index, { role, content }] of turns.entries()) {
    refuse(role !== 'user' && role !== 'assistant', `messages.${index}.role: Input should be 'user' or 'assistant'`);
    refuse(role === turns[index - 1]?.role, `messages.${index}: roles must alternate`);
    const blocks = blocksOf(content, `messages.${index}`);
    if (role === 'user') {
      heard.push(...checkUser(blocks, open, `messages.${index}`));
      open = [];
      continue;
    }
    const said = checkAssistant(blocks, `messages.${index}`);
    for (const { id } of said.calls) {
      refuse(used.has(id ?? ''), `messages.${index}: \`tool_use\` ids must be unique`);
      used.add(id ?? '');
    }
    refuse(said.calls.length > 0 && !hasTools, 'Requests which include `tool_use` or `tool_result` blocks must define tools');
    open = said.calls.map(({ id }) => id ?? '');
    heard.push(said);
  }
  refuse(open.length > 0, `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`);
  checkEnd(turns, thinks);
  return heard;
}

function blocksOf(content: unknown, at: string): Json[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(recordOf);
  refuse(blocks.length === 0, `${at}: all messages must have non-empty content`);
  for (const { type, text } of blocks) {
    refuse(type === 'text' && stringOf(text).trim() === '', `${at}: text content blocks must contain non-whitespace text`);
  }
  return blocks;
}

function checkUser(blocks: readonly Json[], open: readonly string[], at: string): UnderstoodMessage[] {
  const count = blocks.findIndex(({ type }) => type !== 'tool_result');
  const results = count < 0 ? blocks : blocks.slice(0, count);
  const rest = blocks.slice(results.length);
  refuse(
    rest.some(({ type }) => type === 'tool_result'),
    `${at}: tool_result blocks must come first`,
  );
  const ids = results.map(({ tool_use_id: id }) => stringOf(id));
  const missing = open.filter((id) => !ids.includes(id));
  refuse(missing.length > 0, `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`);
  refuse(
    ids.some((id) => !open.includes(id)) || new Set(ids).size < ids.length,
    `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`,
  );
  const heard: UnderstoodMessage[] = [];
  if (results.length > 0) {
    heard.push({
      role: 'tool',
      results: results.map((result) => ({ id: stringOf(result.tool_use_id), name: null, text: checkResult(result, at) })),
    });
  }
  if (rest.length > 0) heard.push({ role: 'user', text: joinText(rest), images: rest.filter((block) => isImage(block, at)).length });
  return heard;
}

function checkResult({ content, is_error: isError }: Json, at: string): string {
  refuse(isError === true && content === undefined, `${at}: content cannot be empty if \`is_error\` is true`);
  if (content === undefined) return '';
  const blocks = blocksOf(content, at);
  for (const block of blocks) if (block.type !== 'text') isImage(block, at);
  return joinText(blocks);
}

function isImage({ type, source }: Json, at: string): boolean {
  if (type === 'text') return false;
  refuse(type !== 'image', `${at}: unexpected block ${stringOf(type)}`);
  const { type: kind, media_type: media, data, url } = recordOf(source);
  if (kind === 'url') refuse(!stringOf(url).startsWith('https://'), `${at}: Only HTTPS URLs are supported.`);
  else refuse(!/^image\/(jpeg|png|gif|webp)$/.test(stringOf(media)) || stringOf(data) === '', `${at}.image.source: invalid`);
  return true;
}

function checkAssistant(blocks: readonly Json[], at: string): Extract<UnderstoodMessage, { role: 'assistant' }> {
  const said: Extract<UnderstoodMessage, { role: 'assistant' }> = { role: 'assistant', text: joinText(blocks), calls: [], returned: [] };
  for (const block of blocks) {
    if (block.type === 'thinking') {
      refuse(block.signature !== signatureOf(stringOf(block.thinking)), `${at}: Invalid \`signature\` in \`thinking\` block`);
      said.returned.push(stringOf(block.signature));
    }
    if (block.type === 'redacted_thinking') said.returned.push(stringOf(block.data));
    if (block.type !== 'tool_use') continue;
    refuse(!/^[a-zA-Z0-9_-]+$/.test(stringOf(block.id)), `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    refuse(
      !/^[a-zA-Z0-9_-]{1,128}$/.test(stringOf(block.name)),
      `${at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
    );
    refuse(!isRecord(block.input), `${at}.tool_use.input: Input should be a valid dictionary`);
    said.calls.push({ id: stringOf(block.id), name: stringOf(block.name), arguments: block.input });
  }
  return said;
}

function checkEnd(turns: readonly Json[], thinks: boolean): void {
  const last = turns.at(-1);
  const blocks = blocksOf(last?.content, 'messages');
  if (last?.role === 'assistant') {
    refuse(/\s$/.test(stringOf(blocks.at(-1)?.text)), 'messages: final assistant content cannot end with trailing whitespace');
    const thought = blocks.some(({ type }) => isThought(type));
    refuse(!thinks && thought, 'When `thinking` is disabled, an `assistant` message in the final position cannot contain `thinking`');
  }
  if (!thinks || blocks[0]?.type !== 'tool_result') return;
  let at = turns.length - 1;
  while (at > 1 && recordOf(listOf(turns[at - 2]?.content)[0]).type === 'tool_result') at -= 2;
  const first = recordOf(listOf(turns[at - 1]?.content)[0]).type;
  refuse(
    !isThought(first),
    `messages.${at - 1}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${stringOf(first)}\``,
  );
}

function isThought(type: unknown): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function joinText(blocks: readonly Json[]): string {
  return blocks.map(({ type, text }) => (type === 'text' ? stringOf(text) : '')).join('');
}

/** What the fake signs thinking with; unlike any real key. */
export function signatureOf(thinking: string): string {
  return `sig${btoa(encodeURIComponent(thinking))}`;
}

// ---- Replies ----

function toMessage({ reasoning, text, calls = [], finish }: Say, model: string, index: number): Json {
  const content: Json[] = [];
  if (reasoning !== undefined) content.push({ type: 'thinking', thinking: reasoning, signature: signatureOf(reasoning) });
  if (text !== undefined) content.push({ type: 'text', text });
  for (const [place, call] of calls.entries()) {
    content.push({ type: 'tool_use', id: `toolu_${index}x${place}`, name: call.name, input: call.arguments, caller: { type: 'direct' } });
  }
  const reason = finish === 'length' ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
  return {
    id: `msg_${index}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage: { input_tokens: 10, cache_creation_input_tokens: 2, cache_read_input_tokens: 3, output_tokens: 7, service_tier: 'standard' },
  };
}

function toFrames(message: Json): string[] {
  const usage = recordOf(message.usage);
  const events: Json[] = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
  ];
  for (const [index, block] of listOf(message.content).map(recordOf).entries()) {
    const { start, deltas } = toPieces(block);
    events.push({ type: 'content_block_start', index, content_block: start });
    if (index === 0) events.push({ type: 'ping' });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason: message.stop_reason, stop_sequence: null };
  events.push({ type: 'message_delta', delta, usage: { output_tokens: usage.output_tokens } }, { type: 'message_stop' });
  return events.map(
    (event, at) => `event: ${stringOf(event.type)}\ndata: ${JSON.stringify(event).replace(/}$/, `${' '.repeat((at * 5) % 13)}}`)}\n\n`,
  );
}

function toPieces(block: Json): { start: Json; deltas: Json[] } {
  if (block.type === 'text') {
    return { start: { type: 'text', text: '' }, deltas: cut(stringOf(block.text)).map((text) => ({ type: 'text_delta', text })) };
  }
  if (block.type === 'thinking') {
    const deltas: Json[] = cut(stringOf(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature: block.signature }],
    };
  }
  // An empty input is sent as one empty delta.
  const json = Object.keys(recordOf(block.input)).length === 0 ? '' : JSON.stringify(block.input);
  const deltas = ['', ...cut(json)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  return { start: { ...block, input: {} }, deltas };
}

/** In pieces of a few characters, as models stream them. */
function cut(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [];
}

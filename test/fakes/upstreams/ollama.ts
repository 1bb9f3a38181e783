/**
 * A fake of Ollama's own chat API (ollama/ollama: `docs/api.md`, `api/types.go`, `server/routes.go`): rejects what the server rejects, in its
 * own error shape, and fields that it would ignore without a word. Replies are lines of JSON. Models whose name begins with `qwen3` think.
 */
import type { Json } from '../../../src/core/json/wire-value.ts';
import { listOf, recordOf, Refusal, refuse } from './refusal.ts';
import type { FakeUpstream, Say, Script, Understood, UnderstoodCall, UnderstoodMessage } from './upstream.ts';
import { wordsOf } from './upstream.ts';

export function fakeOllama(script: Script): FakeUpstream {
  const understood: Understood[] = [];
  const refused: string[] = [];
  return {
    understood,
    refused,
    async handle(request) {
      try {
        if (new URL(request.url).pathname === '/api/tags') return Response.json({ models: ['qwen3:8b', 'llama3.2:3b'].map(listed) });
        const read = await readRequest(request);
        understood.push(read);
        const lines = linesOf(read, script(read, understood.length - 1), understood.length);
        if (!read.streamed) return Response.json(joined(lines));
        const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
      } catch (error) {
        if (!(error instanceof Refusal)) return Response.json({ error: `internal: ${String(error)}` }, { status: 500 });
        refused.push(error.message);
        return Response.json({ error: error.message }, { status: error.status });
      }
    },
  };
}

function listed(name: string): Json {
  return { name, model: name, modified_at: '2026-08-01T12:00:00.123456789+02:00', size: 5_225_388_164, digest: 'c0ffee', details: {} };
}

// ---- Request ----

const fields = new Set(['model', 'messages', 'stream', 'format', 'keep_alive', 'tools', 'options', 'think', 'truncate', 'shift']);
const options = new Set([
  ...['num_ctx', 'num_predict', 'temperature', 'top_p', 'top_k', 'seed', 'stop', 'frequency_penalty', 'presence_penalty'],
]);
const keywords = new Set(['type', 'description', 'enum', 'items', 'anyOf', 'properties', 'required']);

const thinks = (model: unknown): boolean => /^(qwen3|gpt-oss)/.test(String(model));

async function readRequest(request: Request): Promise<Understood> {
  refuse(request.method !== 'POST' || new URL(request.url).pathname !== '/api/chat', '404 page not found', 404);
  const body = recordOf(await request.json(), 'invalid request body');
  for (const name of Object.keys(body)) refuse(!fields.has(name), `unknown field ${name}`);
  refuse(typeof body.model !== 'string' || body.model === '', 'model is required');
  refuse(String(body.model).startsWith('missing'), `model '${String(body.model)}' not found`, 404);
  for (const name of Object.keys(recordOf(body.options ?? {}, 'invalid options'))) refuse(!options.has(name), `unknown option ${name}`);
  refuse(body.think !== undefined && !levels.has(body.think), `invalid think value: "${String(body.think)}"`);
  refuse(body.think !== undefined && body.think !== false && !thinks(body.model), `"${String(body.model)}" does not support thinking`);
  refuse(body.format !== undefined && body.format !== 'json' && typeof body.format !== 'object', 'invalid format');
  refuse(body.tools !== undefined && /^(gemma3|llama2)/.test(String(body.model)), `${String(body.model)} does not support tools`);
  const { system, messages } = readMessages(listOf(body.messages, 'invalid messages'));
  refuse(body.truncate !== false && JSON.stringify(body.messages).length > 100_000, 'the oldest messages would be left out');
  refuse(JSON.stringify(body.messages).length > 100_000, 'the input length exceeds the context length');
  return {
    model: String(body.model),
    system,
    streamed: body.stream !== false,
    tools: body.tools === undefined ? [] : listOf(body.tools, 'tools').map(readTool),
    toolChoice: 'auto',
    messages,
  };
}

const levels: ReadonlySet<unknown> = new Set([true, false, 'low', 'medium', 'high', 'max']);

function readTool(value: unknown): string {
  const { type, function: named } = recordOf(value, 'invalid tool');
  const { name, description, parameters } = recordOf(named, 'invalid tool: function');
  refuse(type !== 'function' || typeof name !== 'string' || name === '' || typeof description !== 'string', 'invalid tool');
  const schema = recordOf(parameters, 'invalid tool: parameters');
  refuse(schema.type !== 'object' || typeof schema.properties !== 'object', 'json: parameters.properties');
  checkSchema(schema, 'parameters');
  return String(name);
}

function checkSchema(schema: Json, path: string): void {
  for (const name of Object.keys(schema)) refuse(!keywords.has(name), `${path}.${name} would be lost`);
  for (const [name, part] of Object.entries(recordOf(schema.properties ?? {}, path)))
    checkSchema(recordOf(part, `${path}.${name}`), `${path}.${name}`);
}

function readMessages(list: readonly unknown[]): { system: string; messages: UnderstoodMessage[] } {
  const system: string[] = [];
  const messages: UnderstoodMessage[] = [];
  for (const value of list) {
    const { role, content, images, thinking, tool_calls: calls, tool_name: name, tool_call_id: id } = recordOf(value, 'invalid message');
    refuse(typeof content !== 'string', 'json: cannot unmarshal into Go struct field Message.messages.content of type string');
    const text = String(content);
    const pictures = images === undefined ? [] : listOf(images, 'images');
    for (const image of pictures) refuse(!/^[A-Za-z0-9+/]+=*$/.test(String(image)), 'illegal base64 data at input byte 4');
    if (role === 'system') system.push(text);
    else if (role === 'user') messages.push({ role, text, images: pictures.length });
    else if (role === 'assistant') {
      const read = calls === undefined ? [] : listOf(calls, 'tool_calls').map(readCall);
      messages.push({ role, text, calls: read, returned: thinking === undefined ? [] : [String(thinking)] });
    } else if (role === 'tool') {
      refuse(typeof name !== 'string' || name === '', 'tool_name is required');
      const result = { id: String(id), name: String(name), text };
      const last = messages.at(-1);
      if (last?.role === 'tool') last.results.push(result);
      else messages.push({ role, results: [result] });
    } else throw new Refusal(`invalid role: ${String(role)}`);
  }
  return { system: system.join('\n\n'), messages };
}

function readCall(value: unknown): UnderstoodCall {
  const { id, function: named } = recordOf(value, 'invalid tool call');
  const { name, arguments: given } = recordOf(named, 'invalid tool call');
  const problem = 'json: cannot unmarshal string into Go struct field ToolCallFunction.arguments of type api.ToolCallFunctionArguments';
  return { id: String(id), name: String(name), arguments: recordOf(given, problem) };
}

// ---- Reply ----

/** Of `streamResponse`: the last line has the reason and the counts. */
function linesOf({ model }: Understood, { reasoning, text, calls = [], finish }: Say, count: number): Json[] {
  const line = (message: Json, rest: Json = { done: false }): Json => ({
    model,
    created_at: '2026-08-22T10:00:00.184789Z',
    message: { role: 'assistant', content: '', ...message },
    ...rest,
  });
  return [
    ...(reasoning !== undefined && thinks(model) ? wordsOf(reasoning).map((thinking) => line({ thinking })) : []),
    ...wordsOf(text ?? '').map((content) => line({ content })),
    ...calls.map(({ name, arguments: input }, index) =>
      line({ tool_calls: [{ id: `call_${count}x${index}`, function: { index: 0, name, arguments: input } }] }),
    ),
    line(
      {},
      {
        done: true,
        done_reason: finish ?? 'stop',
        total_duration: 4_883_583_458,
        load_duration: 1_334_875,
        prompt_eval_count: 120,
        prompt_eval_duration: 342_546_000,
        eval_count: 30,
        eval_duration: 535_599_000,
      },
    ),
  ];
}

/** Of `writeChatResponse`: the last line with all that the others had. */
function joined(lines: readonly Json[]): Json {
  const messages = lines.map((line) => recordOf(line.message, ''));
  const all = (field: string): string => messages.map((message) => String(message[field] ?? '')).join('');
  const calls = messages.flatMap((message) => (message.tool_calls === undefined ? [] : listOf(message.tool_calls, '')));
  const message = {
    role: 'assistant',
    content: all('content'),
    ...(all('thinking') !== '' && { thinking: all('thinking') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { ...lines.at(-1), message };
}

/**
 * A fake of Gemini's `generateContent` and `streamGenerateContent` at Google AI and Vertex AI: rejects what they reject, in their own
 * error shape, and returns scripted replies in the recorded shape. Models of Gemini 3 sign each step's first call and their last text,
 * give calls ids at Google AI, and reject a step of the current turn whose first call is returned unsigned.
 */
import type { Json } from '../../../src/core/json/wire-value.ts';
import { listOf, recordOf, Refusal, refuse } from './refusal.ts';
import type { FakeUpstream, Say, Script, Understood, UnderstoodCall, UnderstoodMessage, UnderstoodResult } from './upstream.ts';
import { wordsOf } from './upstream.ts';

export function fakeGemini(script: Script): FakeUpstream {
  const understood: Understood[] = [];
  const refused: string[] = [];
  /** What was signed, by its signature: it must be returned with the very same part. */
  const signed = new Map<string, string>();
  return {
    understood,
    refused,
    async handle(request) {
      try {
        const asked = await readRequest(request, signed);
        understood.push(asked.understood);
        const chunks = toChunks(asked, script(asked.understood, understood.length - 1), understood.length, signed);
        return respond(asked, chunks);
      } catch (error) {
        const { status, message } = error instanceof Refusal ? error : { status: 500, message: `internal: ${String(error)}` };
        if (error instanceof Refusal) refused.push(message);
        const word = status === 404 ? 'NOT_FOUND' : status === 403 ? 'PERMISSION_DENIED' : status === 500 ? 'INTERNAL' : 'INVALID_ARGUMENT';
        return Response.json({ error: { code: status, message, status: word } }, { status });
      }
    },
  };
}

// ---- Request ----

/** `signs`: Gemini 3. `numbers`: its calls have ids, at Google AI. */
type Asked = { understood: Understood; framing: 'whole' | 'sse' | 'list'; signs: boolean; numbers: boolean; thoughts: boolean };
type Rules = Pick<Asked, 'signs' | 'numbers'> & { signed: ReadonlyMap<string, string> };

async function readRequest(request: Request, signed: ReadonlyMap<string, string>): Promise<Asked> {
  const url = new URL(request.url);
  const [, model = '', method] = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(url.pathname) ?? [];
  refuse(request.method !== 'POST' || method === undefined, 'Not Found', 404);
  const key = request.headers.get('x-goog-api-key') ?? request.headers.get('authorization');
  refuse(key === null || key === '', "Method doesn't allow unregistered callers", 403);
  const signs = /gemini-[3-9]/.test(model);
  const numbers = signs && !/\/publishers\//.test(url.pathname);
  const body = recordOf(await request.json(), 'Invalid JSON payload received.');
  only(body, ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings', 'cachedContent', 'labels'], '');
  const tools = readTools(body.tools);
  const thoughts = checkConfig(body.generationConfig, { signs, hasTools: tools.length > 0 });
  const system = body.systemInstruction === undefined ? [] : readTexts(recordOf(body.systemInstruction, 'system_instruction').parts);
  const understood: Understood = {
    model,
    system: system.join('\n\n'),
    streamed: method === 'streamGenerateContent',
    tools,
    toolChoice: readChoice(body.toolConfig, tools),
    messages: readContents(listOf(body.contents, 'contents is not specified'), { signs, numbers, signed }),
  };
  const framing = method === 'generateContent' ? 'whole' : url.searchParams.get('alt') === 'sse' ? 'sse' : 'list';
  return { understood, framing, signs, numbers, thoughts };
}

function readTools(value: unknown): string[] {
  if (value === undefined) return [];
  const names = listOf(value, 'tools').flatMap((tool) => {
    only(recordOf(tool, 'tools'), ['functionDeclarations'], 'tools');
    return listOf(recordOf(tool, 'tools').functionDeclarations, 'function_declarations').map((declaration) => {
      const { name, description, parameters, parametersJsonSchema, ...rest } = recordOf(declaration, 'function_declarations');
      only(rest, ['behavior', 'response', 'responseJsonSchema'], 'function_declarations');
      refuse(!isName(name), `Invalid function name: ${String(name)}`);
      refuse(description !== undefined && typeof description !== 'string', 'description must be a string');
      refuse(parameters !== undefined && parametersJsonSchema !== undefined, 'parameters and parameters_json_schema are exclusive');
      const schema = recordOf(parameters ?? parametersJsonSchema ?? { type: 'object' }, 'parameters');
      refuse(String(schema.type).toLowerCase() !== 'object', `${String(name)}: parameters schema should be of type OBJECT`);
      const hasNone = Object.keys(recordOf(schema.properties ?? {}, 'properties')).length === 0;
      refuse(parameters !== undefined && hasNone, `${String(name)}: parameters.properties: should be non-empty for OBJECT type`);
      return String(name);
    });
  });
  refuse(new Set(names).size < names.length, 'Duplicate function declaration found');
  return names;
}

function readChoice(value: unknown, tools: readonly string[]): Understood['toolChoice'] {
  const config = recordOf(value ?? {}, 'tool_config');
  only(config, ['functionCallingConfig', 'retrievalConfig'], 'tool_config');
  const { mode = 'AUTO', allowedFunctionNames, ...rest } = recordOf(config.functionCallingConfig ?? {}, 'function_calling_config');
  only(rest, ['streamFunctionCallArguments'], 'function_calling_config');
  refuse(!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(mode)), `Invalid value at 'tool_config.function_calling_config.mode'`);
  const allowed = allowedFunctionNames === undefined ? [] : listOf(allowedFunctionNames, 'allowed_function_names').map(String);
  refuse(allowed.length > 0 && mode !== 'ANY', 'allowed_function_names should only be set when the mode is ANY');
  refuse(value !== undefined && mode === 'ANY' && tools.length === 0, 'Function calling config is set without function_declarations');
  for (const name of allowed) refuse(!tools.includes(name), `allowed_function_names: ${name} is not declared`);
  const [only_] = allowed;
  if (mode === 'NONE') return 'none';
  return mode !== 'ANY' ? 'auto' : only_ === undefined ? 'required' : { tool: only_ };
}

/** Whether thoughts are to be shown. */
function checkConfig(value: unknown, { signs, hasTools }: { signs: boolean; hasTools: boolean }): boolean {
  const config = recordOf(value ?? {}, 'generation_config');
  const numbers = ['temperature', 'topP', 'topK', 'maxOutputTokens', 'seed', 'presencePenalty', 'frequencyPenalty', 'candidateCount'];
  const format = ['responseMimeType', 'responseJsonSchema', 'responseSchema'];
  only(config, [...numbers, ...format, 'stopSequences', 'thinkingConfig'], 'generation_config');
  for (const name of numbers) refuse(config[name] !== undefined && typeof config[name] !== 'number', `Invalid value at ${name}`);
  refuse(config.seed !== undefined && config.seed !== (Number(config.seed) | 0), "Invalid value at 'generation_config.seed' (TYPE_INT32)");
  const stops = config.stopSequences === undefined ? [] : listOf(config.stopSequences, 'stop_sequences');
  refuse(stops.length > 5, 'stop_sequences: at most 5');
  const wantsJson = config.responseMimeType === 'application/json';
  refuse(config.responseJsonSchema !== undefined && !wantsJson, 'response_json_schema needs response_mime_type application/json');
  refuse(wantsJson && hasTools && !signs, "Function calling with a response mime type: 'application/json' is unsupported");
  const { thinkingLevel, thinkingBudget, includeThoughts, ...rest } = recordOf(config.thinkingConfig ?? {}, 'thinking_config');
  only(rest, [], 'thinking_config');
  refuse(thinkingLevel !== undefined && thinkingBudget !== undefined, 'thinking_level and thinking_budget are exclusive');
  refuse(thinkingLevel !== undefined && !signs, 'Thinking level is not supported for this model.');
  refuse(thinkingLevel !== undefined && !thinkingLevels.includes(String(thinkingLevel).toUpperCase()), 'thinking_level');
  return includeThoughts === true;
}

/** `ThinkingLevel` of @google/genai; qwen-code sends the first for a model's own level. */
const thinkingLevels = ['THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];

function readContents(list: readonly unknown[], rules: Rules): UnderstoodMessage[] {
  refuse(list.length === 0, 'contents is not specified');
  const contents = list.map((value, at) => readContent(value, at, rules));
  const turn = contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some((part) => part.functionResponse === undefined));
  let calls: Json[] = [];
  const messages = contents.flatMap(({ role, parts }, at): UnderstoodMessage[] => {
    refuse(role === contents[at - 1]?.role, 'Please ensure that multiturn requests alternate between user and model.');
    refuse(at === 0 && role !== 'user', 'Please ensure that the conversation starts with a user turn.');
    const responses = parts.flatMap((part) =>
      part.functionResponse === undefined ? [] : [recordOf(part.functionResponse, 'function_response')],
    );
    refuse(
      responses.length !== calls.length,
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
    if (role === 'user') {
      const read = readUser(parts, responses, calls, rules);
      calls = [];
      return read;
    }
    calls = parts.flatMap((part) => (part.functionCall === undefined ? [] : [recordOf(part.functionCall, 'function_call')]));
    const first = parts.find((part) => part.functionCall !== undefined);
    refuse(
      rules.signs && at > turn && first !== undefined && first.thoughtSignature === undefined,
      `Function call is missing a thought_signature in functionCall parts. Function call \`default_api:${String(calls[0]?.name)}\`, position ${at + 1}.`,
    );
    return [readModel(parts, calls, rules)];
  });
  refuse(calls.length > 0, 'Please ensure that function call turns are followed by their function responses.');
  return messages;
}

function readContent(value: unknown, at: number, rules: Rules): { role: unknown; parts: Json[] } {
  const { role, parts: list, ...rest } = recordOf(value, 'contents');
  only(rest, [], `contents[${at}]`);
  refuse(role !== 'user' && role !== 'model', 'Please use a valid role: user, model.');
  const parts = listOf(list, `contents[${at}].parts`).map((part) => recordOf(part, `contents[${at}].parts`));
  refuse(parts.length === 0, `contents.parts must not be empty (contents[${at}])`);
  for (const part of parts) checkPart(part, `contents[${at}].parts`, rules);
  return { role, parts };
}

const kinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'];

function checkPart(part: Json, path: string, { signs, numbers, signed }: Rules): void {
  only(part, [...kinds, 'thought', 'thoughtSignature'], path);
  refuse(
    kinds.filter((kind) => part[kind] !== undefined).length !== 1,
    `${path}: required oneof field 'data' must have one initialized field`,
  );
  refuse(part.text === '' && part.thoughtSignature === undefined, `${path}: text parameter must not be empty`);
  const { thoughtSignature: signature, ...content } = part;
  const isKnown = signature === undefined || signature === standIn || signed.get(String(signature)) === contentKey(content);
  refuse(!isKnown, 'Thought signature is not valid.');
  if (part.inlineData !== undefined) checkBlob(part.inlineData, imageTypes);
  if (part.fileData !== undefined) refuse(typeof recordOf(part.fileData, path).mimeType !== 'string', `${path}: mime_type is required`);
  if (part.functionCall !== undefined) {
    const call = recordOf(part.functionCall, path);
    only(call, ['name', 'args', ...(numbers ? ['id'] : [])], `${path}.function_call`);
    refuse(!isName(call.name), `${path}: Invalid function name`);
    recordOf(call.args ?? {}, `${path}: args must be a Struct`);
  }
  if (part.functionResponse === undefined) return;
  const response = recordOf(part.functionResponse, path);
  only(response, ['name', 'response', ...(numbers ? ['id'] : []), ...(signs ? ['parts'] : [])], `${path}.function_response`);
  recordOf(response.response, `${path}: function_response.response must be a Struct`);
  for (const blob of listOf(response.parts ?? [], path)) checkBlob(recordOf(blob, path).inlineData, imageTypes.slice(0, 3));
}

const standIn = 'skip_thought_signature_validator';
const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'];

function checkBlob(value: unknown, types: readonly string[]): void {
  const { mimeType, data, ...rest } = recordOf(value, 'inline_data');
  only(rest, ['displayName'], 'inline_data');
  refuse(!types.includes(String(mimeType)), `Unsupported MIME type: ${String(mimeType)}`);
  refuse(typeof data !== 'string' || data === '', 'inline_data.data');
}

function readUser(parts: readonly Json[], responses: readonly Json[], calls: readonly Json[], rules: Rules): UnderstoodMessage[] {
  const results = responses.map((response, index): UnderstoodResult => {
    const call = calls[index];
    refuse(
      response.name !== call?.name || (rules.numbers && response.id !== call?.id),
      'function responses must follow their calls in order',
    );
    const { output, error } = recordOf(response.response, 'response');
    return { id: idOf(response), name: String(response.name), text: String(output ?? error ?? JSON.stringify(response.response)) };
  });
  const texts = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  const images = parts.filter((part) => part.inlineData !== undefined || part.fileData !== undefined).length;
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    ...(texts.length + images > 0 ? [{ role: 'user' as const, text: texts.join('\n\n'), images }] : []),
  ];
}

function readModel(parts: readonly Json[], calls: readonly Json[], { numbers }: Rules): UnderstoodMessage {
  const text = parts.flatMap((part) => (typeof part.text === 'string' && part.thought !== true ? [part.text] : [])).join('');
  const ids = calls.map((call) => call.id);
  refuse(numbers && new Set(ids).size < ids.length, 'function_call.id must be unique');
  const returned = parts.flatMap((part) => [
    ...(part.thought === true && typeof part.text === 'string' ? [part.text] : []),
    ...(typeof part.thoughtSignature === 'string' && part.thoughtSignature !== standIn ? [part.thoughtSignature] : []),
  ]);
  const read = calls.map((call): UnderstoodCall => ({ id: idOf(call), name: String(call.name), arguments: call.args ?? {} }));
  return { role: 'assistant', text, calls: read, returned };
}

// ---- Reply ----

/** The reply as it is streamed; a plain reply has all of it in one. */
function toChunks({ understood, signs, numbers, framing, thoughts }: Asked, say: Say, count: number, signed: Map<string, string>): Json[] {
  const cut = (text: string): string[] => (framing === 'whole' ? [text] : wordsOf(text));
  const parts: Json[] = [];
  const sign = (part: Json): Json => {
    const signature = Buffer.from(`signature ${count}.${signed.size}`).toString('base64');
    signed.set(signature, contentKey(part));
    return { ...part, thoughtSignature: signature };
  };
  if (say.reasoning !== undefined && thoughts) parts.push(...cut(say.reasoning).map((text) => ({ text, thought: true })));
  if (say.text !== undefined) parts.push(...cut(say.text).map((text) => ({ text })));
  const calls = say.calls ?? [];
  for (const [index, { name, arguments: args }] of calls.entries()) {
    const id = numbers ? { id: `c${count}x${index}` } : {};
    const call = { functionCall: { name, ...(Object.keys(args).length > 0 && { args }), ...id } };
    parts.push(index === 0 && (signs || say.reasoning !== undefined) ? sign(call) : call);
  }
  if (signs && calls.length === 0) parts.push(framing === 'whole' && say.text !== undefined ? sign(parts.pop() ?? {}) : sign({ text: '' }));
  const usage = {
    promptTokenCount: 120,
    cachedContentTokenCount: 64,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 10,
    totalTokenCount: 150,
  };
  const rest = { modelVersion: understood.model, responseId: `fake-${count}` };
  const chunk = (own: readonly Json[], isLast: boolean): Json => ({
    candidates: [
      {
        content: { parts: own.length === 0 ? [{ text: '' }] : own, role: 'model' },
        ...(isLast && { finishReason: say.finish === 'length' ? 'MAX_TOKENS' : 'STOP' }),
        index: 0,
      },
    ],
    usageMetadata: isLast ? usage : { promptTokenCount: 120, totalTokenCount: 120 },
    ...rest,
  });
  if (framing === 'whole') return [chunk(parts, true)];
  return [...parts.map((part) => chunk([part], false)), chunk([], true)];
}

function respond({ framing }: Asked, chunks: readonly Json[]): Response {
  if (framing === 'whole') return Response.json(chunks[0]);
  if (framing === 'sse') {
    const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('');
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
  const body = `[${chunks.map((chunk) => `${JSON.stringify(chunk, null, 2)}\n`).join(',\r\n')}]`;
  return new Response(body, { headers: { 'content-type': 'application/json; charset=UTF-8' } });
}

// ---- Values ----

/** A part without its signature; an absent `args` and an empty one are the same. */
function contentKey(part: Json): string {
  const call = part.functionCall === undefined ? null : recordOf(part.functionCall, 'function_call');
  return JSON.stringify(call === null ? [part.text, part.thought === true] : [call.name, call.args ?? {}, call.id ?? null]);
}

function only(value: Json, names: readonly string[], path: string): void {
  for (const name of Object.keys(value)) {
    refuse(
      !names.includes(name),
      `Invalid JSON payload received. Unknown name "${name}"${path === '' ? '' : ` at '${path}'`}: Cannot find field.`,
    );
  }
}

function readTexts(value: unknown): string[] {
  return listOf(value, 'parts').map((part) => String(recordOf(part, 'parts').text));
}

function idOf({ id }: Json): string | null {
  return typeof id === 'string' ? id : null;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(value);
}

/** The HTTP side of the rehearsal model; `script.ts` decides the reply. */
import { charactersPerToken } from '../../core/limits/units.ts';
import { isRecord, listOf, recordOf, type Json } from '../../core/json/wire-value.ts';
import { encodeFrame } from '../../dialects/native.ts';
import { nextReply, type RehearsalMessage, type RehearsalReply, type RehearsalRequest } from './script.ts';
import type { RehearsalTool } from './tools.ts';

/** Responds to a Chat Completions request without a network: an event stream or a document, or an error in OpenAI's form. */
export async function respond(request: Request): Promise<Response> {
  const body: unknown = await request.json();
  if (!isRecord(body)) return failure(400, 'invalid_request_error', 'The body must be an object.');
  if (body.model !== 'default') return failure(404, 'model_not_found', 'The only model here is rehearsal/default.');
  const parsed = readRequest(body);
  const reply = limited(nextReply(parsed), Number(body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY));
  const step = parsed.messages.filter((message) => message.role === 'assistant').length + 1;
  const identity = { id: `chatcmpl-rehearsal-${step}`, created: 0, model: 'default' };
  const usage = estimateUsage(body, reply);
  if (body.stream !== true) return Response.json(toDocument(reply, identity, step, usage));
  const wantsUsage = recordOf(body.stream_options).include_usage === true;
  return toStream(reply, identity, step, wantsUsage ? usage : null);
}

type Identity = { id: string; created: number; model: string };
type LimitedReply = RehearsalReply & { finish: 'stop' | 'tool_calls' | 'length' };

/** Cuts the reply at the token limit as a model would: within a text, or within an argument. */
function limited(reply: RehearsalReply, maxTokens: number): LimitedReply {
  let remaining = maxTokens * charactersPerToken;
  const take = (text: string): string => {
    const taken = text.slice(0, Math.max(0, remaining));
    remaining -= text.length;
    return taken;
  };
  const cut = { text: take(reply.text), calls: reply.calls.map((call) => ({ name: call.name, arguments: take(call.arguments) })) };
  if (remaining < 0) return { ...cut, finish: 'length' };
  return { ...reply, finish: reply.calls.length > 0 ? 'tool_calls' : 'stop' };
}

function toolCalls(reply: RehearsalReply, step: number) {
  return reply.calls.map((call, index) => ({ id: `call_rehearsal_${step}_${index + 1}`, type: 'function', function: call }));
}

function toDocument(reply: LimitedReply, identity: Identity, step: number, usage: unknown): unknown {
  const calls = toolCalls(reply, step);
  const message = { role: 'assistant', content: calls.length > 0 ? null : reply.text, ...(calls.length > 0 && { tool_calls: calls }) };
  return { ...identity, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reply.finish }], usage };
}

function toStream(reply: LimitedReply, identity: Identity, step: number, usage: unknown): Response {
  const encoder = new TextEncoder();
  const frames = streamFrames(reply, identity, step, usage);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = frames.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

function* streamFrames(reply: LimitedReply, identity: Identity, step: number, usage: unknown): Generator<string> {
  const frame = (fields: unknown): string =>
    encodeFrame({ data: JSON.stringify(Object.assign({ ...identity, object: 'chat.completion.chunk' }, fields)) });
  const chunk = (delta: unknown, finish: string | null = null): string => frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
  yield chunk({ role: 'assistant', content: '' });
  for (const piece of pieces(reply.text)) yield chunk({ content: piece });
  for (const [index, call] of toolCalls(reply, step).entries()) {
    yield chunk({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: '' } }] });
    for (const piece of pieces(call.function.arguments)) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, reply.finish);
  if (usage !== null) yield frame({ choices: [], usage });
  yield encodeFrame({ data: '[DONE]' });
}

/** Splits text into pieces of a few words, as models stream it; long texts into larger pieces, to bound their number. */
function pieces(text: string): string[] {
  const size = Math.max(24, Math.ceil(text.length / 200));
  const found: string[] = [];
  const characters = [...text];
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''));
  return found;
}

function estimateUsage(body: Json, reply: RehearsalReply): unknown {
  const tokens = (text: string): number => Math.ceil(text.length / charactersPerToken);
  const prompt = tokens(JSON.stringify([body.messages, body.tools ?? []]));
  const completion = tokens(reply.text) + reply.calls.reduce((sum, call) => sum + tokens(call.name + call.arguments), 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function failure(status: number, code: string, message: string): Response {
  return Response.json({ error: { message, type: 'invalid_request_error', param: null, code } }, { status });
}

function readRequest(body: Json): RehearsalRequest {
  const messages = records(body.messages).map(readMessage);
  const announced = announcedAliases(messages);
  const choice = body.tool_choice;
  return {
    messages,
    tools: records(body.tools).flatMap((tool) => readTool(tool, announced)),
    toolChoice:
      choice === 'none' || choice === 'required'
        ? choice
        : isRecord(choice) && isRecord(choice.function)
          ? { name: String(choice.function.name) }
          : 'auto',
  };
}

function readMessage(message: Json): RehearsalMessage {
  const content = message.content;
  const text =
    typeof content === 'string'
      ? content
      : records(content)
          .map((part) => (typeof part.text === 'string' ? part.text : '[image]'))
          .join('\n');
  const calls = records(message.tool_calls).map((call) => {
    const named = recordOf(call.function);
    return { id: String(call.id ?? ''), name: String(named.name ?? ''), arguments: String(named.arguments ?? '') };
  });
  return { role: String(message.role), text, calls, callId: typeof message.tool_call_id === 'string' ? message.tool_call_id : null };
}

function readTool(tool: Json, announced: ReadonlyMap<string, string[]>): RehearsalTool[] {
  if (!isRecord(tool.function) || typeof tool.function.name !== 'string') return [];
  const { name, description, parameters } = tool.function;
  const text = String(description ?? '');
  const described = [...text.matchAll(/^Alias: (\S+) \(maps to /gm)].map((match) => match[1] ?? '');
  const aliases = [...(announced.get(name) ?? []), ...described].filter((alias) => alias !== name);
  return [{ name, description: text, parameters: recordOf(parameters), aliases }];
}

/**
 * Reads aliases from the announcement in the system prompt (`core/toolset/model-definitions.ts`): `- terminalRun = builtin.bash (aliases: bash, shell): …`.
 */
function announcedAliases(messages: readonly RehearsalMessage[]): Map<string, string[]> {
  const aliases = new Map<string, string[]>();
  for (const message of messages) {
    if (message.role !== 'system') continue;
    for (const [, name, list] of message.text.matchAll(/^- (\S{1,64}) = \S{1,200} \(aliases: ([^)\n]*)\)/gm)) {
      if (name !== undefined && list !== undefined)
        aliases.set(
          name,
          list
            .split(',')
            .map((alias) => alias.trim())
            .filter((alias) => alias !== ''),
        );
    }
  }
  return aliases;
}

function records(value: unknown): Json[] {
  return listOf(value).filter(isRecord);
}

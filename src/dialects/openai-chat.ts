/**
 * OpenAI Chat Completions as clients read it: neutral events to chunk frames, to the plain document, and problems to its
 * error shape. Pure. Serves sessions (`SessionEvent`) and the proxy's rewritten streams (`ChatEvent`). The request half is
 * in `openai-chat-request.ts`; the provider's side of the same wire is in `providers/openai.ts`.
 */
import { addUsage, type ChatEvent, type Usage } from '../core/chat-event.ts';
import { Problem, type ProblemBody } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';

/** What every chunk of an answer repeats. `created` in seconds. */
export type CompletionIdentity = { id: string; model: string; created: number; includeUsage?: boolean };

type AnyEvent = ChatEvent | SessionEvent;

export type ChunkEncoder = {
  /** SSE text for one event, '' where it shows nothing. Deterministic: the same events give the same bytes. */
  encode(event: AnyEvent): string;
};

/**
 * One assistant message over all steps: role first, texts of steps joined by a blank line, one finish reason, usage summed
 * in a last chunk where asked for, then `[DONE]`. Server tools' calls are never shown; calls of a proxied reply are, in the
 * form that clients can rely on: `index` always, id, type and name once, then argument deltas, `{}` for none. A failure is a
 * data event with `error`, then `[DONE]`; after that every event encodes as ''.
 */
export function createChunkEncoder(identity: CompletionIdentity): ChunkEncoder {
  const head = `data: {"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.created},"model":${JSON.stringify(identity.model)}`;
  const nullUsage = identity.includeUsage ? ',"usage":null' : '';
  const message = createMessage();
  let begun = false;
  let over = false;

  const chunk = (delta: string, finish: string): string =>
    `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${nullUsage}}\n\n`;
  const encodeOne = (event: AnyEvent): string => {
    const change = message.take(event);
    if (change === null) return '';
    switch (change.type) {
      case 'delta':
        return chunk(JSON.stringify(change.delta), 'null');
      case 'end': {
        const usage = `${head},"choices":[],"usage":${JSON.stringify(usageBody(message.usage()))}}\n\n`;
        return `${chunk('{}', JSON.stringify(change.finish))}${identity.includeUsage ? usage : ''}data: [DONE]\n\n`;
      }
      case 'failure':
        return `data: ${JSON.stringify(openAiErrorBody(change.problem))}\n\ndata: [DONE]\n\n`;
      default:
        return change satisfies never;
    }
  };
  return {
    encode(event) {
      if (over) return '';
      const text = encodeOne(event);
      over = message.isOver();
      if (begun) return text;
      // Begins with the turn, so that a client sees life before the first word; a failure first of all needs no role.
      if (text === '' && event.type !== 'turn-start') return '';
      begun = true;
      return text.startsWith('data: {"error"') ? text : chunk('{"role":"assistant","content":""}', 'null') + text;
    },
  };
}

/** The `chat.completion` document of a whole answer. Throws the `Problem` that ended it, if one did. */
export function toCompletion(events: Iterable<AnyEvent>, identity: CompletionIdentity): Record<string, unknown> {
  const message = createMessage({ restarts: 'silently' });
  let finish: string | null = null;
  for (const event of events) {
    const change = message.take(event);
    if (change?.type === 'failure') throw Problem.fromBody(change.problem);
    if (change?.type === 'end') finish = change.finish;
  }
  if (finish === null) throw new Problem('internal', 'The answer has no end.');
  return {
    id: identity.id,
    object: 'chat.completion',
    created: identity.created,
    model: identity.model,
    choices: [{ index: 0, message: message.body(), logprobs: null, finish_reason: finish }],
    usage: usageBody(message.usage()),
  };
}

export type OpenAiError = { error: { message: string; type: string; param: string | null; code: string } };

/** A problem in OpenAI's error shape; `code` is ours, `type` is what its clients branch on. */
export function openAiErrorBody(problem: Problem | ProblemBody): OpenAiError {
  const body = problem instanceof Problem ? problem.toBody() : problem;
  const issues = Array.isArray(body.issues) ? (body.issues as { path?: unknown }[]) : [];
  const path = body.param ?? issues[0]?.path;
  return {
    error: {
      message: body.detail,
      type: errorType(body.status),
      param: typeof path === 'string' && path !== '' ? path : null,
      code: body.code,
    },
  };
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function usageBody(usage: Usage): Record<string, unknown> {
  const body: Record<string, unknown> = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
  if (usage.cachedInputTokens !== undefined) body.prompt_tokens_details = { cached_tokens: usage.cachedInputTokens };
  if (usage.reasoningTokens !== undefined) body.completion_tokens_details = { reasoning_tokens: usage.reasoningTokens };
  return body;
}

type Change =
  | { type: 'delta'; delta: Record<string, unknown> }
  | { type: 'end'; finish: string }
  | { type: 'failure'; problem: ProblemBody };

type ShownCall = { index: number; id: string; name: string; text: string; custom: boolean };

/** The assistant message as it grows: what each event adds, and the whole at the end. */
function createMessage({ restarts = 'as failures' }: { restarts?: 'silently' | 'as failures' } = {}) {
  const texts: string[] = [];
  let text = '';
  let reasoning = '';
  /** Of the steps before the one at hand. */
  let reasoningBefore = '';
  let refusal = '';
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let over = false;
  const calls = new Map<number, ShownCall>();
  const ids = new Set<string>();

  const addText = (piece: string): Change | null => {
    if (piece === '') return null;
    // The first text of a step; what came before belongs to another one.
    const joint = text === '' && texts.length > 0 ? '\n\n' : '';
    text += piece;
    return { type: 'delta', delta: { content: joint + piece } };
  };
  const endStep = (): null => {
    if (text !== '') texts.push(text);
    text = '';
    return null;
  };
  const fail = (problem: ProblemBody): Change => {
    over = true;
    return { type: 'failure', problem };
  };
  const finish = (reason: string): Change => {
    over = true;
    return { type: 'end', finish: reason };
  };
  const uniqueId = (nativeId: string | null, index: number): string => {
    const wished = nativeId ?? `call_${index}`;
    const id = ids.has(wished) ? `${wished}_${index}` : wished;
    ids.add(id);
    return id;
  };
  const callDelta = (index: number, piece: string): Change | null => {
    const call = calls.get(index);
    if (call === undefined || piece === '') return null;
    call.text += piece;
    const body = call.custom ? { custom: { input: piece } } : { function: { arguments: piece } };
    return { type: 'delta', delta: { tool_calls: [{ index: call.index, ...body }] } };
  };

  const take = (event: AnyEvent): Change | null => {
    switch (event.type) {
      case 'text':
        if (!event.refusal) return addText(event.text);
        refusal += event.text;
        return { type: 'delta', delta: { refusal: event.text } };
      case 'text-delta':
        return addText(event.text);
      case 'reasoning':
      case 'reasoning-delta':
        if (event.text === '') return null;
        reasoning += event.text;
        return { type: 'delta', delta: { reasoning_content: event.text } };
      case 'call-start': {
        const call = {
          index: calls.size,
          id: uniqueId(event.nativeId, calls.size),
          name: event.name,
          text: '',
          custom: event.custom === true,
        };
        calls.set(event.call, call);
        return { type: 'delta', delta: { tool_calls: [{ index: call.index, ...callBody(call) }] } };
      }
      case 'call-delta':
        return callDelta(event.call, event.text);
      case 'call-end':
        return event.raw.trim() !== '' && event.raw.trim() !== 'null' ? null : event.state === 'ok' ? callDelta(event.call, '{}') : null;
      case 'usage':
        usage = addUsage(usage, event.usage);
        return null;
      case 'finish':
        return finish(finishReasons[event.reason]);
      case 'step-start':
        reasoningBefore = reasoning;
        return endStep();
      case 'step-end':
        return endStep();
      case 'step-restart':
        // What was said cannot be taken back from a reader who has it.
        if (text !== '' && restarts === 'as failures') {
          return fail(new Problem('upstream_error', 'The model broke off in mid-answer; the turn goes on in its session.').toBody());
        }
        text = '';
        reasoning = reasoningBefore;
        return null;
      case 'error':
        return fail(event.problem);
      case 'turn-end':
        return endTurn(event, finish, fail);
      case 'native':
      case 'history':
      case 'turn-start':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-result':
        return null;
      default:
        return unknownKind(event);
    }
  };

  return {
    take,
    isOver: () => over,
    usage: () => usage,
    body(): Record<string, unknown> {
      endStep();
      const content = texts.join('\n\n');
      const shown = [...calls.values()].map(callBody);
      const body: Record<string, unknown> = {
        role: 'assistant',
        content: content === '' && (shown.length > 0 || refusal !== '') ? null : content,
      };
      body.refusal = refusal === '' ? null : refusal;
      if (reasoning !== '') body.reasoning_content = reasoning;
      if (shown.length > 0) body.tool_calls = shown;
      return body;
    },
  };
}

/** Kinds may be added to the log (`core/session-event.ts`); this dialect shows only what it knows. */
function unknownKind(_event: never): null {
  return null;
}

function callBody(call: ShownCall): Record<string, unknown> {
  return call.custom
    ? { id: call.id, type: 'custom', custom: { name: call.name, input: call.text } }
    : { id: call.id, type: 'function', function: { name: call.name, arguments: call.text } };
}

const finishReasons = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
  error: 'stop',
  unknown: 'stop',
} as const;

function endTurn(
  event: Extract<SessionEvent, { type: 'turn-end' }>,
  finish: (reason: string) => Change,
  fail: (problem: ProblemBody) => Change,
): Change {
  if (event.status === 'failed' || event.status === 'interrupted') {
    // An `error` event before it has told what a provider did; without one the fault is ours.
    const code = event.reason === 'upstream_error' ? 'upstream_error' : 'internal';
    const detail =
      event.reason === 'restarted' ? 'The service restarted while the turn ran. Ask again.' : `The turn ended early: ${event.reason}.`;
    return fail(new Problem(code, detail).toBody());
  }
  if (event.reason === 'length' || event.reason === 'max_tokens') return finish('length');
  return finish(event.reason === 'content_filter' ? 'content_filter' : 'stop');
}

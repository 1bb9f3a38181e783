/**
 * The assistant message of a chat completion as it grows: what each event adds, and the whole at the end. Pure, and the same
 * for sessions and for the proxy's rewritten replies. How it is written as chunks or as a document is in `openai-chat.ts`.
 */
import { addUsage, type ChatEvent, type Usage } from '../core/chat-event.ts';
import { Problem, type ProblemBody } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';

export type AnyEvent = ChatEvent | SessionEvent;

/** What an event adds to the message; the last two are its end. */
export type Change =
  | { type: 'delta'; delta: Record<string, unknown> }
  | { type: 'end'; finish: string }
  | { type: 'failure'; problem: ProblemBody };

/** A call that the client is to run: `arguments` is JSON text. */
export type ClientCall = { id: string; name: string; arguments: string };

type ShownCall = { index: number; id: string; name: string; text: string; custom: boolean };

export type AssistantMessage = ReturnType<typeof createMessage>;

/**
 * `restarts`: what to do when a step begins anew that has said something: a stream cannot take it back and fails, a document
 * is not written yet.
 */
export function createMessage({ restarts = 'as failures' }: { restarts?: 'silently' | 'as failures' } = {}) {
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
        return event.state === 'ok' && ['', 'null'].includes(event.raw.trim()) ? callDelta(event.call, '{}') : null;
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
      case 'tool-start':
      case 'approval-required':
      case 'approval-decided':
      case 'client-tool-required':
      case 'tool-result':
      case 'turn-resume':
      case 'turn-input':
      case 'compaction':
        return null;
      default:
        return unknownKind(event);
    }
  };

  return {
    take,
    /** What comes next belongs to another step. */
    endStep,
    /** The message ends although its turn has not: with a paragraph for each note, then the calls as the only ones. */
    pause({ notes, calls: asked }: { notes: readonly string[]; calls: readonly ClientCall[] }): Change[] {
      const changes: (Change | null)[] = notes.map((note) => {
        endStep();
        return addText(note);
      });
      for (const { id, name, arguments: given } of asked) {
        const key = calls.size;
        const call = { index: key, id, name, text: '', custom: false };
        calls.set(key, call);
        changes.push({ type: 'delta', delta: { tool_calls: [{ index: key, ...callBody(call) }] } }, callDelta(key, given));
      }
      return [...changes.filter((change) => change !== null), finish(asked.length > 0 ? 'tool_calls' : 'stop')];
    },
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
  if (event.reason === 'length' || event.reason === 'max_tokens' || event.reason === 'max_cost') return finish('length');
  return finish(event.reason === 'content_filter' ? 'content_filter' : 'stop');
}

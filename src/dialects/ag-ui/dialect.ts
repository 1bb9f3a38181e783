/**
 * Writes runs of AG-UI 1.0: text, reasoning, calls with their results, and interrupts for approvals and questions of tools' servers. `request.ts` reads requests. Always
 * streamed, and always an answer of a session.
 */
import type { Usage } from '../../core/model/chat-event.ts';
import { Problem, type ProblemBody } from '../../core/problem.ts';
import { questionText } from '../../core/servers/elicitation.ts';
import { contentText } from '../../core/tools/tool.ts';
import type { AnswerCall, AnswerMessage, AskedApproval, AskedInput, MessageChange, ServerCall } from '../answer-message.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from '../dialect.ts';
import { heartbeatFrame } from '../native.ts';
import { approvalQuestion, createCallReader } from '../server-calls.ts';
import { readRunInput, type RunEcho, serverCallPrefix, sessionOfRun } from './request.ts';

export const agUi: Dialect = {
  name: 'ag-ui',
  readRequest: readRunInput,
  sessionOfCalls: sessionOfRun,
  withInstructions: (body) => body,
  createCallReader,
  asksInput: true,
  createWriter: createEventWriter,
  toDocument: () => {
    throw new Problem('internal', 'This answer is only streamed.');
  },
  heartbeat: heartbeatFrame,
  errorBody: (problem) => ({ ...problem }),
  failureFrames: (problem) => [runError(problem)],
};

/** The events of a run that cannot begin. */
export function failedRun({ threadId, runId }: Pick<RunEcho, 'threadId' | 'runId'>, problem: ProblemBody): AnswerFrame[] {
  return [frame(runStarted({ threadId, runId })), runError(problem)];
}

type Event = { type: string; [field: string]: unknown };

const frame = (event: Event): AnswerFrame => ({ data: JSON.stringify(event) });

function runError({ detail, code }: ProblemBody): AnswerFrame {
  return frame({ type: 'RUN_ERROR', message: detail, code });
}

function runStarted(run: Pick<RunEcho, 'threadId' | 'runId'>): Event {
  return { type: 'RUN_STARTED', ...run, protocolVersion: '1.0' };
}

const responseSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string', description: 'Why. After a denial the agent reads it.' } },
  required: ['approved'],
};

/**
 * The ids of messages contain the session, by which the next request finds it. A result of a call that an earlier run has begun comes without
 * the call, unless the client does not have it.
 */
function createEventWriter(identity: AnswerIdentity, message: AnswerMessage): (change: MessageChange | null) => AnswerFrame[] {
  const { threadId, runId, open: had } = identity.echo as RunEcho; // Written by `readRunInput`.
  const run = { threadId, runId };
  const shown = new Set(had);
  const interrupts: Event[] = [];
  const pending: string[] = [];
  let events: Event[] = [];
  let begun = false;
  let open: { type: 'TEXT' | 'REASONING'; id: string } | null = null;
  let count = 0;
  /** The message that calls belong to. */
  let parent = '';

  const emit = (type: string, fields: Record<string, unknown> = {}): void => void events.push({ type, ...fields });
  const nextId = (): string => {
    count += 1;
    return identity.id.replace(/^run_/, `run_${count}_`);
  };
  const close = (): void => {
    if (open === null) return;
    const { type, id: messageId } = open;
    emit(type === 'TEXT' ? 'TEXT_MESSAGE_END' : 'REASONING_MESSAGE_END', { messageId });
    if (type === 'REASONING') emit('REASONING_END', { messageId });
    open = null;
  };
  const say = (type: 'TEXT' | 'REASONING', delta: string): void => {
    if (open?.type !== type) {
      close();
      open = { type, id: nextId() };
      const { id: messageId } = open;
      if (type === 'TEXT') emit('TEXT_MESSAGE_START', { messageId, role: 'assistant' });
      else {
        emit('REASONING_START', { messageId });
        emit('REASONING_MESSAGE_START', { messageId, role: 'reasoning' });
      }
      parent = type === 'TEXT' ? messageId : '';
    }
    if (delta !== '') emit(type === 'TEXT' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT', { messageId: open.id, delta });
  };
  const showCall = (toolCallId: string, toolCallName: string, delta: string): void => {
    close();
    if (parent === '') parent = nextId();
    emit('TOOL_CALL_START', { toolCallId, toolCallName, parentMessageId: parent });
    emit('TOOL_CALL_ARGS', { toolCallId, delta });
    emit('TOOL_CALL_END', { toolCallId });
  };
  const showServerCall = ({ callId, canonical, arguments: given }: ServerCall, text = JSON.stringify(given ?? {})): string => {
    const id = serverCallPrefix + callId;
    if (!shown.has(id)) showCall(id, canonical, text);
    shown.add(id);
    return id;
  };
  const ask = (approval: AskedApproval): void => {
    const { id, callId, canonical, arguments: given, expiresAt } = approval;
    const toolCallId = showServerCall({ callId, canonical, arguments: null }, given);
    const about = { message: approvalQuestion(approval), toolCallId, responseSchema, expiresAt };
    interrupts.push({ type: 'interrupt', id, reason: 'tool_call', ...about });
  };
  const askInput = ({ id, call, request: { params }, expiresAt }: AskedInput): void => {
    const toolCallId = showServerCall(call);
    const { url, requestedSchema: responseSchema = { type: 'object' } } = params;
    const about = { message: questionText({ '': { method: '', params } }), toolCallId, responseSchema, expiresAt };
    interrupts.push({ type: 'interrupt', id, reason: 'input_required', ...about, ...(url !== undefined && { metadata: { url } }) });
  };
  const offerCall = ({ id, name, text }: AnswerCall): void => {
    showCall(id, name, text);
    pending.push(id);
  };
  const outcome = (): Record<string, unknown> => {
    if (interrupts.length > 0) return { type: 'interrupt', interrupts: interrupts.map(({ type: _type, ...interrupt }) => interrupt) };
    if (message.isCancelled()) return { type: 'cancelled' };
    return { type: 'success', ...(pending.length > 0 && { pendingToolCallIds: pending }) };
  };
  const write = (change: MessageChange): void => {
    switch (change.type) {
      case 'text':
      case 'refusal':
        say('TEXT', change.text);
        return;
      case 'reasoning':
        say('REASONING', change.text);
        return;
      case 'server-call':
        showServerCall(change);
        return;
      case 'server-result': {
        const toolCallId = showServerCall(change.call);
        close();
        parent = '';
        emit('TOOL_CALL_RESULT', {
          messageId: `result_${toolCallId}`,
          toolCallId,
          content: contentText(change.result.content),
          role: 'tool',
        });
        return;
      }
      case 'approval':
        ask(change);
        return;
      case 'input':
        askInput(change);
        return;
      case 'call-end':
        offerCall(change.call);
        return;
      case 'image':
        emit('CUSTOM', { name: 'moniker:image', value: { mediaType: change.mediaType, data: change.data } });
        return;
      case 'citations':
        emit('CUSTOM', { name: 'moniker:citations', value: change.citations });
        return;
      case 'end':
        close();
        // So that the client's history shows that the input before it was answered.
        if (count === 0 && interrupts.length > 0) {
          say('TEXT', '');
          close();
        }
        emit('RUN_FINISHED', { ...run, outcome: outcome(), usage: [toUsage(message.usage())] });
        return;
      case 'server-decision':
      case 'search':
      case 'call-start':
      case 'call-delta':
      case 'native':
      case 'failure':
        return;
      default:
        change satisfies never;
    }
  };
  return (change) => {
    events = begun ? [] : [runStarted(run)];
    begun = true;
    if (change !== null) write(change);
    const frames = events.map(frame);
    return change?.type === 'failure' ? [...frames, runError(change.problem)] : frames;
  };
}

function toUsage({ inputTokens, outputTokens, reasoningTokens, cachedInputTokens, cacheWriteInputTokens }: Usage): Usage {
  return {
    ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(cacheWriteInputTokens !== undefined && { cacheWriteInputTokens }),
  };
}

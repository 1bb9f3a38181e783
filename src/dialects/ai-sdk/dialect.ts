/**
 * Writes the UI message stream of the AI SDK (protocol v1, `uiMessageChunkSchema` of ai 7): text, reasoning, calls with their results, and
 * requests for approval, as `useChat` shows them. `request.ts` reads requests. Always streamed, and always an answer of a session.
 */
import type { FinishReason } from '../../core/model/chat-event.ts';
import { recordOf, tryParse } from '../../core/json/wire-value.ts';
import { Problem, type ProblemBody } from '../../core/problem.ts';
import { contentText } from '../../core/tools/tool.ts';
import type { AnswerCall, AskedApproval, MessageChange, ServerCall, ServerCallChange } from '../answer-message.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from '../dialect.ts';
import { heartbeatFrame } from '../native.ts';
import { approvalQuestion, createCallReader } from '../server-calls.ts';
import { sessionOfMessages } from '../session-of-messages.ts';
import { readContinued, readUiRequest } from './request.ts';

export const aiSdk: Dialect = {
  name: 'ai-sdk',
  readRequest: readUiRequest,
  sessionOfCalls: ({ messages }) => sessionOfMessages('ai-sdk', messages),
  withInstructions: (body) => body,
  createCallReader,
  createWriter: createChunkWriter,
  toDocument: () => {
    throw new Problem('internal', 'This answer is only streamed.');
  },
  heartbeat: heartbeatFrame,
  errorBody: (problem) => ({ ...problem }),
  failureFrames: (problem) => failureFrames(problem),
};

type Chunk = { type: string; [field: string]: unknown };

const frame = (chunk: Chunk): AnswerFrame => ({ data: JSON.stringify(chunk) });

function failureFrames({ detail }: ProblemBody): AnswerFrame[] {
  return [frame({ type: 'error', errorText: detail }), { data: '[DONE]' }];
}

const finishReasons = {
  stop: 'stop',
  'tool-calls': 'tool-calls',
  length: 'length',
  'content-filter': 'content-filter',
  error: 'error',
  unknown: 'other',
} as const satisfies Record<FinishReason, string>;

/**
 * An answer to a request whose last message is the assistant's continues that message under its id, so that the client adds to it. A result of
 * a call that the message does not have comes after the call itself: the client rejects a result without one.
 */
function createChunkWriter(identity: AnswerIdentity): (change: MessageChange | null) => AnswerFrame[] {
  const { messageId = identity.id, calls = [] } = readContinued(identity.echo);
  const continues = messageId !== identity.id;
  const shown = new Set(calls);
  const asked = new Set<string>();
  let chunks: Chunk[] = [];
  let begun = false;
  /** The client looks for approvals behind the last begin of a step. */
  let inStep = false;
  let open: { type: 'text' | 'reasoning'; id: string } | null = null;
  let count = 0;

  const emit = (type: string, fields: Record<string, unknown> = {}): void => void chunks.push({ type, ...fields });
  const close = (): void => {
    if (open !== null) emit(`${open.type}-end`, { id: open.id });
    open = null;
  };
  const beginStep = (): void => {
    if (!inStep) emit('start-step');
    inStep = true;
  };
  const endStep = (): void => {
    close();
    if (inStep) emit('finish-step');
    inStep = false;
  };
  const say = (type: 'text' | 'reasoning', delta: string): void => {
    if (open?.type !== type) {
      close();
      beginStep();
      open = { type, id: `${identity.id}_${count}` };
      count += 1;
      emit(`${type}-start`, { id: open.id });
    }
    emit(`${type}-delta`, { id: open.id, delta });
  };
  const showCall = ({ callId, canonical, arguments: input }: ServerCall): void => {
    if (shown.has(callId)) return;
    close();
    beginStep();
    shown.add(callId);
    emit('tool-input-available', { toolCallId: callId, toolName: canonical, input: input ?? {}, dynamic: true, providerExecuted: true });
  };
  const ask = (approval: AskedApproval): void => {
    const { id, callId, canonical, arguments: given } = approval;
    showCall({ callId, canonical, arguments: recordOf(tryParse(given)) });
    asked.add(id);
    emit('tool-approval-request', { approvalId: id, toolCallId: callId, reason: approvalQuestion(approval) });
  };
  const showDecision = ({ call, question, approved, reason }: Extract<ServerCallChange, { type: 'server-decision' }>): void => {
    const has = asked.has(question) || (continues && shown.has(call.callId));
    if (has) emit('tool-approval-response', { approvalId: question, approved, ...(reason !== undefined && { reason }) });
  };
  const showResult = ({ call, result, denied }: Extract<ServerCallChange, { type: 'server-result' }>): void => {
    showCall(call);
    close();
    const { isError, content, structuredContent } = result;
    const at = { toolCallId: call.callId };
    if (denied) emit('tool-output-denied', at);
    else if (isError) emit('tool-output-error', { ...at, errorText: contentText(content), providerExecuted: true });
    else {
      const output = { content, ...(structuredContent !== undefined && { structuredContent }) };
      emit('tool-output-available', { ...at, output, providerExecuted: true });
    }
  };
  const offerCall = ({ id, name, text }: AnswerCall): void => {
    close();
    beginStep();
    emit('tool-input-available', { toolCallId: id, toolName: name, input: tryParse(text) ?? {} });
  };
  const write = (change: MessageChange): void => {
    switch (change.type) {
      case 'text':
      case 'refusal':
        say('text', change.text);
        return;
      case 'reasoning':
        say('reasoning', change.text);
        return;
      case 'server-call':
        showCall(change);
        return;
      case 'server-decision':
        showDecision(change);
        return;
      case 'server-result':
        showResult(change);
        return;
      case 'approval':
        close();
        ask(change);
        return;
      case 'call-end':
        offerCall(change.call);
        return;
      case 'image':
        close();
        beginStep();
        emit('file', { url: `data:${change.mediaType};base64,${change.data}`, mediaType: change.mediaType });
        return;
      case 'citations':
        for (const { url, title } of change.citations) {
          emit('source-url', { sourceId: `${identity.id}_${count}`, url, ...(title !== undefined && { title }) });
          count += 1;
        }
        return;
      case 'end':
        endStep();
        emit('finish', { finishReason: finishReasons[change.finish] });
        return;
      case 'input':
      // Its sources are shown where the text cites them; a tool's search is shown as its call.
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
    chunks = [];
    if (!begun) emit('start', { messageId });
    begun = true;
    if (change !== null) write(change);
    const frames = chunks.map(frame);
    if (change?.type === 'failure') return [...frames, ...failureFrames(change.problem)];
    return change?.type === 'end' ? [...frames, { data: '[DONE]' }] : frames;
  };
}

/** The plain response of a turn and the transcript for people: folds over the turn's events. */
import { addUsage, noUsage } from '../../../core/model/chat-event.ts';
import type { SessionEvent } from '../../../core/turn/session-event.ts';
import type { TurnMessages } from '../../../core/turn/transcript.ts';
import { Proposal } from '../../../core/tools/ui-tool.ts';
import type { TranscriptMessage, TurnAnswer } from '../../../ports/session.ts';
import { openQuestionEvents, toPending, type QuestionEvent } from '../pending/pending.ts';

/** Returns the response of a turn that has ended. */
export function toTurnAnswer(turn: string, events: Iterable<SessionEvent>): TurnAnswer {
  const { text, calls, end, problem, proposals } = foldAnswer(events);
  const { status, reason, usage } = end ?? { status: 'interrupted', reason: 'internal', usage: noUsage };
  const more = { ...(proposals.length > 0 && { proposals }), ...(problem && { problem }) };
  return { turn, status, reason, text, toolCalls: [...calls.values()], ...more, usage };
}

/** Returns the response of a waiting turn: what it has done so far and what it waits for. Calls without a result are only in `pending`. */
export function toWaitingAnswer(turn: string, events: Iterable<SessionEvent>): TurnAnswer {
  const all = [...events];
  const { text, calls, answered, usage } = foldAnswer(all);
  const pending = openQuestionEvents(turn, all).map(toPending);
  const reason = pending.some(({ kind }) => kind !== 'client-tool') ? 'approval_required' : 'client_tool_required';
  const toolCalls = [...calls.values()].filter(({ callId }) => answered.has(callId));
  return { turn, status: 'waiting', reason, text, toolCalls, pending, usage };
}

/** Returns the response of a queued turn: what the turn ahead of it waits for. */
export function toQueuedAnswer(turn: string, ahead: readonly QuestionEvent[]): TurnAnswer {
  return { turn, status: 'waiting', reason: 'queued', text: '', toolCalls: [], pending: ahead.map(toPending), usage: noUsage };
}

function foldAnswer(events: Iterable<SessionEvent>) {
  let text = '';
  let usage = noUsage;
  let end: Extract<SessionEvent, { type: 'turn-end' }> | null = null;
  const answered = new Set<string>();
  let problem: TurnAnswer['problem'];
  const proposals: Proposal[] = [];
  const calls = new Map<string, TurnAnswer['toolCalls'][number]>();
  /** Calls of the current step, which a restart of the step removes. */
  let ofStep: string[] = [];
  for (const event of events) {
    switch (event.type) {
      case 'step-start':
        text = '';
        ofStep = [];
        break;
      case 'step-restart':
        text = '';
        for (const callId of ofStep) calls.delete(callId);
        ofStep = [];
        break;
      case 'text-delta':
        text += event.text;
        break;
      case 'tool-input-start':
        ofStep.push(event.callId);
        calls.set(event.callId, {
          callId: event.callId,
          requested: event.name,
          canonical: event.canonical,
          via: event.via,
          arguments: null,
          isError: false,
          content: [],
        });
        break;
      case 'tool-input-end': {
        const call = calls.get(event.callId);
        if (call !== undefined) call.arguments = event.arguments;
        break;
      }
      case 'tool-result': {
        answered.add(event.callId);
        const call = calls.get(event.callId);
        if (call !== undefined)
          Object.assign(call, { isError: event.isError, content: event.content }, event.code !== undefined && { code: event.code });
        break;
      }
      case 'proposal':
        proposals.push(Proposal.parse(event));
        break;
      case 'error':
        problem = event.problem;
        break;
      case 'usage':
        usage = addUsage(usage, event.usage);
        break;
      case 'turn-end':
        end = event;
        break;
      default:
        break;
    }
  }
  return { text, calls, answered, usage, problem, proposals, end };
}

/** Returns the messages without `native` parts, which only concern the providers. */
export function toTranscript(turns: readonly TurnMessages[]): TranscriptMessage[] {
  return turns.flatMap(({ turn, messages }) =>
    messages.flatMap((message): TranscriptMessage[] => {
      if (message.role === 'system') return [];
      const parts = message.parts.filter((part) => part.type !== 'native');
      return [{ role: message.role, turn, parts }];
    }),
  );
}

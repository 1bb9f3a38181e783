/** The plain answer of a turn and the transcript for people: folds over the turn's events. */
import type { Usage } from '../core/chat-event.ts';
import type { SessionEvent } from '../core/session-event.ts';
import type { TurnMessages } from '../core/transcript.ts';
import type { TranscriptMessage, TurnAnswer } from '../ports/session.ts';

export function toTurnAnswer(turn: string, events: Iterable<SessionEvent>): TurnAnswer {
  let text = '';
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let status: TurnAnswer['status'] = 'interrupted';
  let reason = 'internal';
  let problem: TurnAnswer['problem'];
  const calls = new Map<string, TurnAnswer['toolCalls'][number]>();
  /** Calls of the step at hand: a restart takes them back. */
  let begun: string[] = [];
  for (const event of events) {
    switch (event.type) {
      case 'step-start':
        text = '';
        begun = [];
        break;
      case 'step-restart':
        text = '';
        for (const callId of begun) calls.delete(callId);
        begun = [];
        break;
      case 'text-delta':
        text += event.text;
        break;
      case 'tool-input-start':
        begun.push(event.callId);
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
        const call = calls.get(event.callId);
        if (call !== undefined)
          Object.assign(call, { isError: event.isError, content: event.content }, event.code !== undefined && { code: event.code });
        break;
      }
      case 'error':
        problem = event.problem;
        break;
      case 'turn-end':
        ({ status, reason, usage } = event);
        break;
      default:
        break;
    }
  }
  return { turn, status, reason, text, toolCalls: [...calls.values()], ...(problem && { problem }), usage };
}

/** Native parts are the providers' business and are left out. */
export function toTranscript(turns: readonly TurnMessages[]): TranscriptMessage[] {
  return turns.flatMap(({ turn, messages }) =>
    messages.flatMap((message): TranscriptMessage[] => {
      if (message.role === 'system') return [];
      const parts = message.parts.filter((part) => part.type !== 'native');
      return [{ role: message.role, turn, parts }];
    }),
  );
}

/** What a turn waits for, as its callers see it: read from the turn's events. */
import { toAskedMembers, type Pending } from '../../core/policy/approval.ts';
import { parentOf, rootCallId } from '../../core/tools/composite-tool.ts';
import { questionText } from '../../core/tools/elicitation.ts';
import type { SessionEvent } from '../../core/turn/session-event.ts';
import type { EventLog } from '../log/event-log.ts';
import type { TurnStore } from '../turn/turn-store.ts';

/** An event that asks a question to someone outside the session: an approver, the client, or a person. */
export type QuestionEvent = Extract<SessionEvent, { type: 'approval-required' | 'client-tool-required' | 'input-required' }>;

/** Returns the questions without an answer, in the order asked. */
export function openQuestionEvents(events: Iterable<SessionEvent>): QuestionEvent[] {
  const open = new Map<string, QuestionEvent>();
  for (const event of events) {
    switch (event.type) {
      case 'approval-required':
      case 'client-tool-required':
      case 'input-required':
        open.set(event.callId, event);
        break;
      case 'approval-decided':
      case 'input-given':
      case 'inner-result':
        open.delete(event.callId);
        break;
      case 'tool-result':
        open.delete(event.callId);
        // The open questions of its nested calls are closed with it.
        for (const callId of open.keys()) if (rootCallId(callId) === event.callId) open.delete(callId);
        break;
      case 'turn-end':
        open.clear();
        break;
      default:
        break;
    }
  }
  return [...open.values()];
}

export function toPending(question: QuestionEvent): Pending {
  const { callId, canonical, arguments: args } = question;
  const at = { callId, ...parentOf(callId), canonical, arguments: args };
  switch (question.type) {
    case 'approval-required':
      return { ...at, kind: 'approval', reason: question.reason, ...toAskedMembers(question) };
    case 'client-tool-required':
      return { ...at, kind: 'client-tool', reason: 'The client runs this tool and sends the result.' };
    case 'input-required': {
      const { requests, round } = question;
      return { ...at, kind: 'input', reason: questionText(requests), requests, round };
    }
    default:
      return question satisfies never;
  }
}

/** Returns the open questions of the waiting turn, for which queued turns have to wait; empty when no turn waits. */
export function questionsAhead({ log, turns }: { log: EventLog; turns: TurnStore }): QuestionEvent[] {
  const row = turns.waiting();
  return row === null ? [] : openQuestionEvents(eventsOfTurn(row.id, log.readAll(row.before ?? 0)));
}

/** Returns what this turn waits for; nothing once it has ended. */
export function pendingOf({ log, turns }: { log: EventLog; turns: TurnStore }, turn: string): Pending[] {
  const row = turns.get(turn);
  if (row === null || row.state === 'ended' || row.before === null) return [];
  return openQuestionEvents(eventsOfTurn(turn, log.readAll(row.before))).map(toPending);
}

export function* eventsOfTurn(turn: string, events: Iterable<SessionEvent>): Generator<SessionEvent> {
  for (const event of events) if ('turn' in event && event.turn === turn) yield event;
}

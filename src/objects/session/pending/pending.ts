/** What a turn waits for, as its callers see it: read from the turn's events. */
import { toAskedMembers, type Pending } from '../../../core/policy/approval.ts';
import { parentOf } from '../../../core/toolset/composite-tool.ts';
import { questionText } from '../../../core/servers/elicitation.ts';
import { applyEvent } from '../../../core/turn/fold-turn.ts';
import type { SessionEvent } from '../../../core/turn/session-event.ts';
import { beginTurn, pendingQuestions } from '../../../core/turn/turn-state.ts';
import type { ResultsAccepted } from '../../../ports/session.ts';
import type { EventLog } from '../log/event-log.ts';
import type { TurnStore } from '../turn/turn-store.ts';

/** An event that asks a question to someone outside the session: an approver, the client, or a person. */
export type QuestionEvent = Extract<SessionEvent, { type: 'approval-required' | 'client-tool-required' | 'input-required' }>;

/** Returns the questions of this turn without an answer, in the order asked. `events`: the log from before the turn up to any event. */
export function openQuestionEvents(turn: string, events: Iterable<SessionEvent>): QuestionEvent[] {
  const state = beginTurn(turn);
  const asked = new Map<string, QuestionEvent>();
  for (const event of eventsOfTurn(turn, events)) {
    applyEvent(state, event);
    if (event.type === 'approval-required' || event.type === 'client-tool-required' || event.type === 'input-required')
      asked.set(event.callId, event);
  }
  const open = pendingQuestions(state).flatMap(({ callId }) => asked.get(callId) ?? []);
  return state.phase === 'ended' ? [] : open.sort((one, other) => one.id - other.id);
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
export function blockingQuestions({ log, turns }: { log: EventLog; turns: TurnStore }): QuestionEvent[] {
  const row = turns.waiting();
  return row === null ? [] : openQuestionEvents(row.id, log.readAll(row.before ?? 0));
}

/** Returns the status of the turn and what it waits for; nothing once it has ended. */
export function toAccepted({ log, turns }: { log: EventLog; turns: TurnStore }, turn: string): ResultsAccepted {
  const { status = null, state = 'ended', before = null } = turns.get(turn) ?? {};
  const pending = state === 'ended' || before === null ? [] : openQuestionEvents(turn, log.readAll(before)).map(toPending);
  return { turn, status: status ?? state, pending };
}

export function* eventsOfTurn(turn: string, events: Iterable<SessionEvent>): Generator<SessionEvent> {
  for (const event of events) if ('turn' in event && event.turn === turn) yield event;
}

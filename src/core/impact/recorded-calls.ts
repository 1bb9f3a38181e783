/**
 * The calls of turns as their session recorded them, with the arguments that the model gave. For comparisons with a draft, for names to learn, and
 * for replays.
 */
import type { Via } from '../model/message.ts';
import type { ToolResultCode } from '../tools/tool.ts';
import type { SessionEvent } from '../turn/session-event.ts';

export type RecordedCall = {
  callId: string;
  turn: string;
  model: string;
  agent: string | null;
  requested: string;
  canonical: string | null;
  via: Via | null;
  /** null: they were no JSON object. */
  arguments: Record<string, unknown> | null;
  isError: boolean;
  code: ToolResultCode | null;
};

/** Returns the finished calls of the model, in the order of their results. Calls inside of others are the tool's, and left out. */
export function recordedCalls(events: Iterable<SessionEvent>): RecordedCall[] {
  const calls: RecordedCall[] = [];
  const given = new Map<string, Record<string, unknown> | null>();
  let [model, agent]: [string, string | null] = ['', null];
  for (const event of events) {
    if (event.type === 'turn-start') [model, agent] = [event.model, event.agent ?? null];
    else if (event.type === 'tool-input-end') given.set(event.callId, event.arguments);
    else if (event.type === 'tool-result') {
      const { callId, turn, name, canonical, via, isError, code = null } = event;
      calls.push({ callId, turn, model, agent, requested: name, canonical, via, arguments: given.get(callId) ?? null, isError, code });
      given.delete(callId);
    }
  }
  return calls;
}

/** Calls and their results side by side, in the one order that every provider takes: for histories that clients bring. */
import type { ClientResult, Message, ToolCallPart, ToolResultPart } from './message.ts';
import { errorResult } from './tool.ts';

/**
 * A client's history as every provider takes it: each call has its one result right behind, in call order. What the client
 * never said of a call is said for it; results without a call are left out.
 */
export function pairCalls(messages: readonly Message[]): Message[] {
  const paired: Message[] = [];
  for (const [index, message] of messages.entries()) {
    // A message that says nothing is refused by some.
    if (message.role === 'tool' || message.parts.length === 0) continue;
    paired.push(message);
    if (message.role !== 'assistant') continue;
    const calls = message.parts.filter((part) => part.type === 'tool-call');
    if (calls.length === 0) continue;
    const results = resultsBehind(messages, index);
    paired.push({ role: 'tool', parts: calls.map((call) => results.get(call.callId) ?? missingResult(call)) });
  }
  return paired;
}

/** Id → name, as it was said, of every call in them. */
export function callNames(messages: readonly Message[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of messages) for (const part of parts) if (part.type === 'tool-call') names.set(part.callId, part.requested);
  return names;
}

/** Results as their client sent them, as the one message behind the calls that they answer. */
export function resultMessage(results: readonly ClientResult[], names: ReadonlyMap<string, string>): Extract<Message, { role: 'tool' }> {
  const parts = results.map((result): ToolResultPart => {
    return { type: 'tool-result', requested: names.get(result.callId) ?? '', canonical: null, ...result };
  });
  return { role: 'tool', parts };
}

/** Of the calls of one assistant message: up to the next one, since ids may come again later. */
function resultsBehind(messages: readonly Message[], index: number): Map<string, ToolResultPart> {
  const results = new Map<string, ToolResultPart>();
  for (let at = index + 1; at < messages.length; at += 1) {
    const message = messages[at];
    if (message === undefined || message.role === 'assistant') break;
    if (message.role === 'tool') for (const part of message.parts) if (!results.has(part.callId)) results.set(part.callId, part);
  }
  return results;
}

function missingResult({ callId, requested, canonical }: ToolCallPart): ToolResultPart {
  const { content, code } = errorResult('aborted', 'No result was given: the conversation went on without it.');
  return { type: 'tool-result', callId, requested, canonical, isError: true, ...(code !== undefined && { code }), content };
}

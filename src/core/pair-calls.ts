/** Calls and their results side by side, in the one order that every provider takes: for histories that clients bring. */
import type { Message, ToolCallPart, ToolResultPart } from './message.ts';
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

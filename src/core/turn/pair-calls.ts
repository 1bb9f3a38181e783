/** Pairs calls with their results in the order that every provider accepts: for histories that clients send. */
import type { ClientResult, Message, ToolCallPart, ToolResultPart } from './message.ts';
import { errorResult } from '../tools/tool.ts';

/**
 * Returns a client's history in the form that every provider accepts: each call is followed by exactly one result, in call order.
 * Missing results are filled in; results without a call are dropped.
 */
export function pairCalls(messages: readonly Message[]): Message[] {
  const paired: Message[] = [];
  for (const [index, message] of messages.entries()) {
    // Some providers reject an empty message.
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

/** Maps the id of every call in the messages to the name that was called. */
export function callNames(messages: readonly Message[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of messages) for (const part of parts) if (part.type === 'tool-call') names.set(part.callId, part.requested);
  return names;
}

/** Returns results from a client as the one message that follows the calls. */
export function resultMessage(results: readonly ClientResult[], names: ReadonlyMap<string, string>): Extract<Message, { role: 'tool' }> {
  const parts = results.map((result): ToolResultPart => {
    return { type: 'tool-result', requested: names.get(result.callId) ?? '', canonical: null, ...result };
  });
  return { role: 'tool', parts };
}

/** Returns the results for one assistant message: up to the next assistant message, since ids may be reused later. */
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
  const { content, code } = errorResult('aborted', 'No result was given: the conversation continued without it.');
  return { type: 'tool-result', callId, requested, canonical, isError: true, ...(code !== undefined && { code }), content };
}

/** Pairs calls with their results in the order that every provider accepts: for histories that clients send. */
import type { ClientResult, Message, ToolCallPart, ToolResultPart } from '../model/message.ts';
import { errorResult } from '../tools/tool.ts';

/**
 * Returns a client's history in the form that every provider accepts: each call is followed by exactly one result, in call order, and its id
 * belongs to no earlier call. Missing results are filled in; results without a call are dropped.
 */
export function pairCalls(messages: readonly Message[]): Message[] {
  const paired: Message[] = [];
  const distinct = createDistinctIds();
  for (const [index, message] of messages.entries()) {
    // Some providers reject an empty message.
    if (message.role === 'tool' || message.parts.length === 0) continue;
    const calls = message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : [];
    if (message.role !== 'assistant' || calls.length === 0) {
      paired.push(message);
      continue;
    }
    const results = resultsBehind(messages, index);
    const given = calls.map((call) => {
      const callId = distinct(call.callId);
      return { call: callId === call.callId ? call : { ...call, callId }, result: results.get(call.callId)?.shift(), callId };
    });
    const renamed = new Map(calls.map((call, at) => [call, given[at]?.call ?? call]));
    const isRenamed = calls.some((call) => renamed.get(call) !== call);
    const parts = message.parts.map((part) => (part.type === 'tool-call' ? (renamed.get(part) ?? part) : part));
    paired.push(isRenamed ? { ...message, parts } : message);
    paired.push({ role: 'tool', parts: given.map(({ call, result, callId }) => (result ? { ...result, callId } : missingResult(call))) });
  }
  return paired;
}

/** Some servers number the calls of every reply from 0, and clients resend these ids. */
function createDistinctIds(): (callId: string) => string {
  const counts = new Map<string, number>();
  return (callId) => {
    let id = callId;
    for (let count = counts.get(callId) ?? 0; counts.has(id); count++) {
      id = `${callId}_${count + 1}`;
      counts.set(callId, count + 1);
    }
    counts.set(id, counts.get(id) ?? 0);
    return id;
  };
}

/** Maps the id of every call in the messages to the name that was called. */
export function callNames(messages: readonly Message[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of messages) for (const part of parts) if (part.type === 'tool-call') names.set(part.callId, part.requested);
  return names;
}

/** Returns a client's history with the results that the client sends after it, in the form of `pairCalls`. */
export function historyWithResults(history: readonly Message[], results: readonly ClientResult[]): Message[] {
  return pairCalls([...history, resultMessage(results, callNames(history))]);
}

/** Returns results from a client as the one message that follows the calls. */
export function resultMessage(results: readonly ClientResult[], names: ReadonlyMap<string, string>): Extract<Message, { role: 'tool' }> {
  const parts = results.map((result): ToolResultPart => {
    return { type: 'tool-result', requested: names.get(result.callId) ?? '', canonical: null, ...result };
  });
  return { role: 'tool', parts };
}

/** Returns the results for one assistant message, in order for each id: up to the next assistant message, since ids may be reused later. */
function resultsBehind(messages: readonly Message[], index: number): Map<string, ToolResultPart[]> {
  const results = new Map<string, ToolResultPart[]>();
  for (let at = index + 1; at < messages.length; at += 1) {
    const message = messages[at];
    if (message === undefined || message.role === 'assistant') break;
    if (message.role !== 'tool') continue;
    for (const part of message.parts) {
      const known = results.get(part.callId);
      if (known === undefined) results.set(part.callId, [part]);
      else known.push(part);
    }
  }
  return results;
}

function missingResult({ callId, requested, canonical }: ToolCallPart): ToolResultPart {
  const { content, code } = errorResult('aborted', 'No result was given: the conversation continued without it.');
  return { type: 'tool-result', callId, requested, canonical, isError: true, ...(code !== undefined && { code }), content };
}

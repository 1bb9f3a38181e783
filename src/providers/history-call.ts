/**
 * A call of the conversation as most providers take it back. What a model once made up may be no legal name and no JSON, and one
 * such call in the history has the whole request refused.
 */
import type { ToolCallPart } from '../core/message.ts';

/** Letters, digits, `_` and `-`, at most 64: what every API takes (reference §8.1). */
export function historyName(requested: string): string {
  return requested.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown_tool';
}

/** As JSON text. Arguments that nobody could read are an empty object; the call's result tells the model what it had written. */
export function historyArguments(call: ToolCallPart): string {
  return JSON.stringify(call.arguments ?? {});
}

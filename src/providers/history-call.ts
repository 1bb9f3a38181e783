/**
 * The form of earlier calls that every provider accepts. A model may have produced an invalid name or invalid JSON, and one such call in
 * the history makes a provider reject the whole request.
 */
import type { ToolCallPart } from '../core/turn/message.ts';
import type { Json } from '../core/json/wire-value.ts';

/** The part of invalid call arguments that the model sees later: enough to recognize them. */
const maxReplayedRawLength = 2_000;

/**
 * A letter or `_`, then letters, digits, `_` and `-`, at most 64: accepted by every API (reference §8.1), and satisfied by every wire name.
 */
export function historyName(requested: string): string {
  if (requested === '') return 'unknown_tool';
  return requested
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .replace(/^(?![a-zA-Z_])/, '_')
    .slice(0, 64);
}

/**
 * Returns an object. For invalid arguments it contains their beginning under a descriptive name, as others do (vercel/ai#14470): without
 * it, the model would not know what the call's result refers to (openclaw/openclaw#61956).
 */
export function historyInput({ arguments: args, raw = '' }: ToolCallPart): Json {
  if (args !== null) return args;
  return raw === '' ? {} : { rawInvalidInput: raw.slice(0, maxReplayedRawLength).toWellFormed() };
}

/** The same as JSON text. */
export function historyArguments(call: ToolCallPart): string {
  return JSON.stringify(historyInput(call));
}

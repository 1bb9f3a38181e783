/**
 * A call of the conversation as every provider takes it back. What a model once made up may be no legal name and no JSON, and one
 * such call in the history has the whole request refused.
 */
import { limits } from '../core/limits.ts';
import type { ToolCallPart } from '../core/message.ts';
import type { Json } from '../core/wire-value.ts';

/** A letter or `_`, then letters, digits, `_` and `-`, at most 64: what every API takes (reference §8.1), and every wire name is. */
export function historyName(requested: string): string {
  if (requested === '') return 'unknown_tool';
  return requested
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .replace(/^(?![a-zA-Z_])/, '_')
    .slice(0, 64);
}

/**
 * Always an object. Of arguments that nobody could read the model is shown how they began, under a name that says so, as others do
 * (vercel/ai#14470): dropped, it would not know what its call's result complains about (openclaw/openclaw#61956).
 */
export function historyInput({ arguments: args, raw = '' }: ToolCallPart): Json {
  if (args !== null) return args;
  return raw === '' ? {} : { rawInvalidInput: raw.slice(0, limits.maxReplayedRawLength).toWellFormed() };
}

/** The same as JSON text. */
export function historyArguments(call: ToolCallPart): string {
  return JSON.stringify(historyInput(call));
}

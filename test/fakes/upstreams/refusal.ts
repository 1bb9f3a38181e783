/**
 * How the stand-ins refuse a request, and how they read values out of one: what has the wrong type is refused in the API's words,
 * which the caller gives. `anthropic.ts` and `openai.ts` read values in their own way.
 */
import { type Json, tryParse } from '../../../src/core/wire-value.ts';

/** Why the API would answer with this status. */
export class Refusal extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

export function refuse(condition: boolean, message: string, status?: number): void {
  if (condition) throw new Refusal(message, status);
}

export function recordOf(value: unknown, message: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal(message);
  return { ...value };
}

export function listOf(value: unknown, message: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refusal(message);
  return value;
}

/** null where it is not JSON: refused by whoever asks for an object. */
export function parseJson(text: unknown): unknown {
  return tryParse(String(text)) ?? null;
}

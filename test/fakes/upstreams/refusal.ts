/**
 * How the fakes reject a request and read values from one: a value of the wrong type is rejected with the API's own message, which the
 * caller passes. `anthropic.ts` and `openai.ts` read values in their own way.
 */
import { type Json, tryParse } from '../../../src/core/json/wire-value.ts';

/** Why the API would respond with this status. */
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

/** Returns null for text that is not JSON, which the callers reject where they need an object. */
export function parseJson(text: unknown): unknown {
  return tryParse(String(text)) ?? null;
}

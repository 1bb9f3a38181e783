/**
 * Type checks for fields of external JSON. A value of another type counts as absent, because servers send null, empty and zero values
 * for absent fields.
 */

export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The arguments of a call, as text or already parsed. */
export function argumentsOf(value: unknown): string | object | null {
  return typeof value === 'string' || (typeof value === 'object' && value !== null) ? value : null;
}

/** Returns undefined for invalid JSON; JSON itself has no undefined. */
export function tryParse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // Invalid JSON: the caller reports it.
    return undefined;
  }
}

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

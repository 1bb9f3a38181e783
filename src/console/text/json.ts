/** Text that may be JSON: what people type, and what responses contain. The one place of the console that reads it without an error. */

/** undefined: not JSON, or not yet. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type JsonRecord = Record<string, unknown>;

export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function jsonRecordOf(value: unknown): JsonRecord {
  return isJsonRecord(value) ? value : {};
}

/** null: not a JSON object. */
export function recordIn(text: string): JsonRecord | null {
  const value = jsonIn(text);
  return isJsonRecord(value) ? value : null;
}

/** The value, or the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  const value = jsonIn(text);
  return value === undefined ? text : value;
}

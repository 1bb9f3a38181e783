/**
 * Looking at values of foreign JSON: what those who read it ask of a field before they use it. Whatever is not what was asked for
 * reads as absent, because servers send null, empty and zero values for it alike.
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

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Arguments of a call, as text or already parsed. */
export function argumentsOf(value: unknown): string | object | null {
  return typeof value === 'string' || (typeof value === 'object' && value !== null) ? value : null;
}

/** undefined where it is not JSON; JSON itself has no undefined. */
export function tryParse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // Not JSON: the caller says so in its own words.
    return undefined;
  }
}

/**
 * JSON Pointers (RFC 6901) into values: the parts that entries pick from results, and locations in definitions and schemas.
 * `schema-references.ts` resolves `$ref`.
 */
import { isRecord } from './wire-value.ts';

/** null: nothing at this path, as opposed to a value of null. */
export type PointerResult = { json: unknown } | null;

/** Evaluates the tokens of a pointer (RFC 6901, section 4). */
export function valueAt(value: unknown, tokens: readonly string[]): PointerResult {
  let part = value;
  for (const token of tokens) {
    if (Array.isArray(part)) {
      if (!isIndex(token) || Number(token) >= part.length) return null;
      part = part[Number(token)];
    } else if (isRecord(part) && Object.hasOwn(part, token)) part = part[token];
    else return null;
  }
  return { json: part };
}

/** Returns the decoded tokens of a pointer; none for the whole value (`''`). */
export function pointerTokens(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the pointer to a member of the value at `path` (section 3). */
export function pointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function isIndex(token: string): boolean {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(token);
}

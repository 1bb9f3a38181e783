/**
 * JSON Pointers (RFC 6901) into values: what entries pick from results, and where in a definition or schema something was found. What a
 * `$ref` leads to is `schema-references.ts`.
 */
import { isRecord } from './wire-value.ts';

/** null: there is nothing there, which a value of null is not. */
export type Found = { json: unknown } | null;

/** RFC 6901, section 4. */
export function valueAt(value: unknown, path: string): Found {
  let part = value;
  for (const token of tokensOf(path)) {
    if (Array.isArray(part)) {
      if (!isIndex(token) || Number(token) >= part.length) return null;
      part = part[Number(token)];
    } else if (isRecord(part) && Object.hasOwn(part, token)) part = part[token];
    else return null;
  }
  return { json: part };
}

/** The keys on its way; none for the whole value (`''`). */
export function tokensOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer of a member of what `path` points to (section 3). */
export function pointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function isIndex(token: string): boolean {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(token);
}

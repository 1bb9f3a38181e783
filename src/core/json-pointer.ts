/** JSON Pointers (RFC 6901) into values: what entries pick from results, and where something was found in a definition. Fragments in schemas are `schema-references.ts`. */
import { isRecord } from './wire-value.ts';

/** null: there is nothing there, which a value of null is not. */
export type Found = { json: unknown } | null;

/** RFC 6901, section 4. */
export function valueAt(value: unknown, pointer: string): Found {
  let part = value;
  for (const token of tokensOf(pointer)) {
    if (Array.isArray(part)) {
      if (!isIndex(token) || Number(token) >= part.length) return null;
      part = part[Number(token)];
    } else if (isRecord(part) && Object.hasOwn(part, token)) part = part[token];
    else return null;
  }
  return { json: part };
}

export function tokensOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A key as a part of a pointer (section 3). */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function isIndex(token: string): boolean {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(token);
}

/**
 * Cursors of paged lists: opaque to clients, base64url JSON of `["<list>", position…]` internally. A cursor of another list, or
 * anything else, is `invalid_request` at `cursor`.
 */
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';

export type CursorPart = string | number;

export function encodeCursor(list: string, position: CursorPart): string {
  const bytes = new TextEncoder().encode(JSON.stringify([list, position]));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** Returns the position in a list of text keys; undefined without a cursor. */
export function decodeTextCursor(list: string, cursor: string | undefined): string | undefined {
  const position = decode(list, cursor);
  if (position === undefined || typeof position === 'string') return position;
  throw badCursor();
}

/** Returns the position in a list of numbered rows; undefined without a cursor. */
export function decodeNumberCursor(list: string, cursor: string | undefined): number | undefined {
  const position = decode(list, cursor);
  if (position === undefined || (typeof position === 'number' && Number.isSafeInteger(position) && position >= 0)) return position;
  throw badCursor();
}

function decode(list: string, cursor: string | undefined): unknown {
  if (cursor === undefined) return undefined;
  if (cursor.length > limits.maxCursorLength || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw badCursor();
  let parsed: unknown;
  try {
    const binary = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
    parsed = JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0))));
  } catch {
    // Any decoding error means the same to the caller: the cursor is invalid.
    throw badCursor();
  }
  if (!Array.isArray(parsed) || parsed.length !== 2 || parsed[0] !== list || parsed[1] === undefined || parsed[1] === null)
    throw badCursor();
  return parsed[1];
}

function badCursor(): Error {
  return invalidRequest([{ path: 'cursor', message: 'is not a cursor of this list: omit it to start from the beginning' }]);
}

/**
 * Cursors of paged lists: opaque to clients, base64url JSON of `["<list>", position]` internally. A cursor of another list, or anything else,
 * is `invalid_request` at `cursor`.
 */
import { limits } from '../limits/limits.ts';
import { invalidRequest } from '../problem.ts';
import { fromBase64Url, toBase64Url } from '../text/bytes.ts';
import { isCount, tryParse } from './wire-value.ts';

/** `position`: what JSON can write, without null. */
export function encodeCursor(list: string, position: unknown): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([list, position])));
}

/** Returns the position of a cursor, which `isPosition` checks; undefined without a cursor. */
export function decodeCursor<Position>(
  list: string,
  cursor: string | undefined,
  isPosition: (value: unknown) => value is Position,
): Position | undefined {
  if (cursor === undefined) return undefined;
  const bytes = cursor.length > limits.maxCursorLength ? null : fromBase64Url(cursor);
  const parsed = bytes === null ? undefined : tryParse(new TextDecoder().decode(bytes));
  if (!Array.isArray(parsed) || parsed.length !== 2 || parsed[0] !== list || !isPosition(parsed[1])) throw badCursor();
  return parsed[1];
}

/** Returns the position in a list of text keys. */
export function decodeTextCursor(list: string, cursor: string | undefined): string | undefined {
  return decodeCursor(list, cursor, (value) => typeof value === 'string');
}

/** Returns the position in a list of numbered rows. */
export function decodeNumberCursor(list: string, cursor: string | undefined): number | undefined {
  return decodeCursor(list, cursor, isCount);
}

export function badCursor(fault = 'is not a cursor of this list'): Error {
  return invalidRequest([{ path: 'cursor', message: `${fault}: omit it to start from the beginning` }]);
}

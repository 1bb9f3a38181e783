/**
 * Cursors of paged lists: opaque to clients, base64url JSON of `["<list>", position…]` internally. A cursor of another list, or
 * anything else, is `invalid_request` at `cursor`.
 */
import { fromBase64Url, toBase64Url } from '../core/text/bytes.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import { tryParse } from '../core/json/wire-value.ts';

export type CursorPart = string | number;

export function encodeCursor(list: string, position: CursorPart): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([list, position])));
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
  const bytes = cursor.length > limits.maxCursorLength ? null : fromBase64Url(cursor);
  const parsed = bytes === null ? undefined : tryParse(new TextDecoder().decode(bytes));
  if (!Array.isArray(parsed) || parsed.length !== 2 || parsed[0] !== list || parsed[1] === undefined || parsed[1] === null)
    throw badCursor();
  return parsed[1];
}

function badCursor(): Error {
  return invalidRequest([{ path: 'cursor', message: 'is not a cursor of this list: omit it to start from the beginning' }]);
}

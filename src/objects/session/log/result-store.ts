/**
 * Long results of a session in its own tables, as text split into rows and blocks of media, for `fetch_result`. Limited in size for one result and in
 * total: beyond the total the oldest are deleted. Turns and direct calls store results; the tool reads them.
 */
import type { ContentBlock } from '../../../core/tools/tool.ts';
import { cutToBytes, utf8Length } from '../../../core/text/utf8.ts';
import type { FetchedResult, ResultStore } from '../../../ports/result-store.ts';
import { readChunks, writeChunks } from '../../shared/text-rows.ts';
import { characterStart, firstPiece, toKeptResult, withMedia } from '../../../storage/kept-result.ts';
import { MB } from '../../../core/limits/units.ts';

/** All stored results of a session; above this the oldest are deleted. */
const maxSessionResultsBytes = 256 * MB;

export function createResultStore(sql: SqlStorage, maxBytes: number = maxSessionResultsBytes): ResultStore {
  /** null until first read. */
  let any: boolean | null = null;

  const drop = (callId: string): void => {
    sql.exec('DELETE FROM results WHERE call_id = ?', callId);
    sql.exec('DELETE FROM result_parts WHERE call_id = ?', callId);
    sql.exec('DELETE FROM result_media WHERE call_id = ?', callId);
  };

  const makeRoom = (bytes: number): void => {
    const rows = [...sql.exec<{ call_id: string; bytes: number }>('SELECT call_id, bytes FROM results ORDER BY number')];
    let held = rows.reduce((sum, row) => sum + row.bytes, 0);
    for (const row of rows) {
      if (held + bytes <= maxBytes) return;
      drop(row.call_id);
      held -= row.bytes;
    }
  };

  return {
    hasAny() {
      any ??= sql.exec('SELECT number FROM results LIMIT 1').toArray().length > 0;
      return any;
    },
    has: (callId) => sql.exec('SELECT number FROM results WHERE call_id = ?', callId).toArray().length > 0,
    store(callId, content) {
      const { text, media, bytes } = toKeptResult(content);
      drop(callId);
      makeRoom(bytes);
      sql.exec('INSERT INTO results (call_id, bytes) VALUES (?, ?)', callId, bytes);
      let start = 0;
      writeChunks(text, (_seq, part) => {
        sql.exec('INSERT INTO result_parts (call_id, start, part) VALUES (?, ?, ?)', callId, start, part);
        start += part.length;
      });
      for (const { at, block } of media)
        writeChunks(JSON.stringify(block), (seq, part) =>
          sql.exec('INSERT INTO result_media (call_id, start, seq, part) VALUES (?, ?, ?, ?)', callId, at, seq, part),
        );
      any = true;
    },
    read(callId, offset, pieceBytes) {
      const [row] = [...sql.exec<{ bytes: number }>('SELECT bytes FROM results WHERE call_id = ?', callId)];
      if (row === undefined) return null;
      const piece = readPiece(sql, callId, offset, pieceBytes, row.bytes);
      return withMedia(offset, piece, mediaIn(sql, callId, offset, piece));
    },
  };
}

/** Yields the media that the piece names. */
function* mediaIn(sql: SqlStorage, callId: string, offset: number, { text, nextOffset }: Pick<FetchedResult, 'text' | 'nextOffset'>) {
  const end = nextOffset ?? offset + text.length;
  const query = 'SELECT DISTINCT start FROM result_media WHERE call_id = ? AND start >= ? AND start < ? ORDER BY start';
  for (const { start } of sql.exec<{ start: number }>(query, callId, offset, end).toArray()) {
    const parts = sql.exec('SELECT part FROM result_media WHERE call_id = ? AND start = ? ORDER BY seq', callId, start);
    // Written by `store`.
    yield { at: start, block: JSON.parse(readChunks(parts) ?? 'null') as ContentBlock };
  }
}

function readPiece(sql: SqlStorage, callId: string, offset: number, maxBytes: number, totalBytes: number): Omit<FetchedResult, 'media'> {
  let text = '';
  let bytes = 0;
  let at = offset;
  for (;;) {
    // Rows begin between characters, so a piece that spans two rows has whole characters.
    const query = 'SELECT start, part FROM result_parts WHERE call_id = ? AND start <= ? ORDER BY start DESC LIMIT 1';
    const [row] = sql.exec<{ start: number; part: string }>(query, callId, at);
    const rest = row === undefined ? '' : row.part.slice(characterStart(row.part, at - row.start));
    // The offset is at the end of the last row, or past it.
    if (rest === '') return { text, nextOffset: null, totalBytes };
    const piece = text === '' ? firstPiece(rest, maxBytes) : cutToBytes(rest, maxBytes - bytes);
    text += piece;
    bytes += utf8Length(piece);
    at = (row?.start ?? 0) + (row?.part.length ?? 0) - rest.length + piece.length;
    if (piece.length < rest.length) return { text, nextOffset: at, totalBytes };
  }
}

/** Long results in memory, for a turn that no session stores. Limited in size: beyond it the oldest are dropped. */
import { MB } from '../core/limits/units.ts';
import { utf8Length } from '../core/text/utf8.ts';
import type { ResultStore } from '../ports/result-store.ts';
import { characterStart, firstPiece, type KeptResult, toKeptResult, withMedia } from './kept-result.ts';

const maxTurnResultsBytes = 32 * MB;

export function createMemoryResults(maxBytes: number = maxTurnResultsBytes): ResultStore {
  const stored = new Map<string, KeptResult>();
  let bytes = 0;
  const drop = (callId: string): void => {
    bytes -= stored.get(callId)?.bytes ?? 0;
    stored.delete(callId);
  };
  return {
    hasAny: () => stored.size > 0,
    has: (callId) => stored.has(callId),
    store(callId, content) {
      drop(callId);
      const kept = toKeptResult(content);
      for (const oldest of stored.keys()) {
        if (bytes + kept.bytes <= maxBytes) break;
        drop(oldest);
      }
      stored.set(callId, kept);
      bytes += kept.bytes;
    },
    read(callId, offset, pieceBytes) {
      const kept = stored.get(callId);
      if (kept === undefined) return null;
      const at = characterStart(kept.text, offset);
      const rest = kept.text.slice(at);
      const text = rest === '' ? '' : firstPiece(rest, pieceBytes);
      const nextOffset = text.length < rest.length ? at + text.length : null;
      const end = nextOffset ?? offset + text.length;
      const named = kept.media.filter((media) => media.at >= offset && media.at < end);
      return withMedia(offset, { text, nextOffset, totalBytes: utf8Length(kept.text) }, named);
    },
  };
}

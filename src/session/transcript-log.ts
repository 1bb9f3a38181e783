/**
 * The conversation of one session over its log, folded when it is first needed and then fed: a session that is only looked at,
 * streamed from or answered from reads none of it. Models' turns read from the last compaction on; only a client's resent
 * history is compared with everything.
 */
import type { Gathered } from '../core/gathered-tools.ts';
import { createTranscript, type Transcript, type TurnMessages } from '../core/transcript.ts';
import type { EventLog } from './event-log.ts';
import { createGatheredStore } from './gathered-store.ts';

export type LogTranscript = Transcript & {
  /** The tools that the conversation has come to, those of turns that were summed up included. */
  gathered(): readonly Gathered[];
  /** The conversation as people had it, by turn, compactions or not. Reads the whole log once there is a compaction. */
  everything(): TurnMessages[];
};

/** `apply` follows the event's `log.append` at once: it is the newest one. */
export function createLogTranscript(sql: SqlStorage, log: EventLog): LogTranscript {
  let fold: Transcript | null = null;
  const gathered = createGatheredStore(sql);

  const folded = (): Transcript => {
    if (fold !== null) return fold;
    const begun = createTranscript();
    for (const event of log.readAll(lastCompaction(sql) ?? 0)) begun.apply(event);
    fold = begun;
    return begun;
  };

  return {
    apply(event) {
      if (event.type === 'compaction') rememberCompaction(sql, log.newest, event.through);
      gathered.apply(event);
      fold?.apply(event);
    },
    messages: () => folded().messages(),
    turns: () => folded().turns(),
    summary: () => folded().summary(),
    tokens: () => folded().tokens(),
    gathered: () => gathered.list(),
    everything() {
      let whole = folded();
      if (whole.summary() !== null) {
        whole = createTranscript({ everything: true });
        for (const event of log.readAll(0)) whole.apply(event);
      }
      return whole.turns();
    },
  };
}

/** Number of the last event that the newest compaction stands for; null without one. */
function lastCompaction(sql: SqlStorage): number | null {
  const [row] = [...sql.exec<{ after_event: number }>('SELECT after_event FROM compactions ORDER BY event DESC LIMIT 1')];
  return row?.after_event ?? null;
}

/** In the same breath as its event, so that the two are stored together. */
function rememberCompaction(sql: SqlStorage, event: number, through: string): void {
  const after = lastEventOf(sql, through);
  // Without a place to begin at, the fold begins where it did before: the event itself drops what it stands for.
  if (after !== null) sql.exec('INSERT INTO compactions (event, after_event) VALUES (?, ?)', event, after);
}

/** The imported history, turn `''`, is all that comes before the first turn. */
function lastEventOf(sql: SqlStorage, turn: string): number | null {
  const query =
    turn === '' ? "SELECT min(input_event) AS last FROM turns WHERE ? = ''" : 'SELECT last_event AS last FROM turns WHERE id = ?';
  const [row] = [...sql.exec<{ last: number | null }>(query, turn)];
  return row?.last ?? null;
}

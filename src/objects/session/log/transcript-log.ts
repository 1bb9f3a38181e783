/**
 * The conversation of one session, folded from its log on first use and updated with each event; reading or streaming a session
 * loads none of it. Models receive the conversation from the last compaction on; only a client's resent history is compared with
 * all of it.
 */
import { createGathering, type Gathered, type Gathering } from '../../../core/turn/gathered-tools.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import { createTranscript, type Transcript, type TurnMessages } from '../../../core/turn/transcript.ts';
import { keepHiddenMedia } from '../../../engine/turn/turn-scope.ts';
import type { ResultStore } from '../../../ports/result-store.ts';
import type { EventLog } from './event-log.ts';

export type LogTranscript = Transcript & {
  /** Returns the tools that the conversation has found or called, including those of summarized turns. */
  gathered(): readonly Gathered[];
  /** Returns the whole conversation by turn, ignoring compactions. After a compaction it is without the contents of results and of the model's own parts. */
  everything(): TurnMessages[];
};

/**
 * Creates the transcript. `apply` must directly follow `log.append` of the same event, the newest one. `results`: gets the results whose
 * media are no longer shown.
 */
export function createLogTranscript(sql: SqlStorage, log: EventLog, results: ResultStore): LogTranscript {
  let fold: Transcript | null = null;
  /** From the first event on, when the model's conversation is not: read once in the life of the object. */
  let whole: Transcript | null = null;
  const gathered = createGatheredStore(sql);

  const folded = (): Transcript => {
    if (fold !== null) return fold;
    const created = createTranscript({ store: keepHiddenMedia(results) });
    for (const event of log.readAll(lastCompaction(sql) ?? 0)) created.apply(event);
    fold = created;
    return created;
  };

  return {
    apply(event) {
      if (event.type === 'compaction') rememberCompaction(sql, log.newest, event.through);
      gathered.apply(event);
      fold?.apply(event);
      applyTexts(whole, event);
    },
    messages: () => folded().messages(),
    turns: () => folded().turns(),
    summary: () => folded().summary(),
    tokens: () => folded().tokens(),
    gathered: () => gathered.list(),
    everything() {
      if (folded().summary() === null) return folded().turns();
      if (whole === null) {
        whole = createTranscript({ everything: true });
        for (const event of log.readAll(0)) applyTexts(whole, event);
      }
      return whole.turns();
    },
  };
}

/**
 * The tools that the conversation has found or called, one short row each, so that the list of definitions of a large toolset continues
 * without reading the log again. Updated with each event, in the same transaction.
 */
export function createGatheredStore(sql: SqlStorage): { apply(event: SessionEventBody): void; list(): readonly Gathered[] } {
  let gathering: Gathering | null = null;
  const loaded = (): Gathering => {
    gathering ??= createGathering([...sql.exec<Gathered>('SELECT canonical, name FROM gathered ORDER BY seq')]);
    return gathering;
  };
  return {
    apply(event) {
      if (event.type !== 'tool-result' && event.type !== 'history') return;
      for (const { canonical, name } of loaded().apply(event))
        sql.exec('INSERT INTO gathered (canonical, name) VALUES (?, ?)', canonical, name);
    },
    list: () => loaded().list(),
  };
}

/** Applies what a history is compared by: results and the model's own parts would only be held in memory. */
function applyTexts(transcript: Transcript | null, event: SessionEventBody): void {
  if (event.type === 'native' || event.type === 'reasoning-delta' || event.type === 'tool-input-end') return;
  transcript?.apply(event.type === 'tool-result' ? { ...event, content: [] } : event);
}

/** Returns the number of the last event that the newest compaction replaces; null without a compaction. */
function lastCompaction(sql: SqlStorage): number | null {
  const [row] = [...sql.exec<{ after_event: number }>('SELECT after_event FROM compactions ORDER BY event DESC LIMIT 1')];
  return row?.after_event ?? null;
}

/** Stores the compaction in the same transaction as its event. */
function rememberCompaction(sql: SqlStorage, event: number, through: string): void {
  const after = lastEventOf(sql, through);
  // Without a start event the fold begins where it did before: the `compaction` event itself drops what it replaces.
  if (after !== null) sql.exec('INSERT INTO compactions (event, after_event) VALUES (?, ?)', event, after);
}

/** Returns the last event of a turn. Turn '' is the imported history, which is everything before the first turn. */
function lastEventOf(sql: SqlStorage, turn: string): number | null {
  const query =
    turn === ''
      ? "SELECT input_event AS last FROM turns WHERE ? = '' AND input_event IS NOT NULL ORDER BY seq LIMIT 1"
      : 'SELECT last_event AS last FROM turns WHERE id = ?';
  const [row] = [...sql.exec<{ last: number | null }>(query, turn)];
  return row?.last ?? null;
}

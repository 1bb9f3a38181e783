/**
 * The responses that chat clients received, each stored as its range in the log (`dialects/answer.ts`): enough to send any of them
 * again byte for byte, also after a restart. The newest `limits.maxKeptCompletions` are stored.
 */
import type { DialectName } from '../../../core/text/reference.ts';
import type { AnswerRange } from '../../../dialects/answer.ts';

/**
 * Newest answers of chat clients that can be requested again: a cut stream is resumed at once, and older answers are in the
 * messages.
 */
export const maxStoredCompletions = 1_000;

export type Completion = {
  /** The id that the client knows. */
  id: string;
  range: AnswerRange;
  /** The model as the request named it. */
  model: string;
  includeUsage: boolean;
  dialect: DialectName;
  echo: Record<string, unknown>;
  /** Hash of the input of the response (`core/policy/answer-name.ts`); '' when it was stored by a release without this field. */
  asked: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
};

/** A row as stored: SQLite has no booleans, and the range is three columns and an optional part. */
type Row = Omit<Completion, 'range' | 'includeUsage' | 'echo'> & {
  includeUsage: number;
  echo: string;
  turn: string;
  after: number;
  earlierTurn: string | null;
  earlierAfter: number | null;
};

const columns =
  'id, turn, after_event AS after, earlier_turn AS earlierTurn, earlier_after AS earlierAfter, model, include_usage AS includeUsage, dialect, echo, asked, created_at AS createdAt';

export class CompletionStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add({ id, range, model, includeUsage, dialect, echo, asked, createdAt }: Completion): void {
    const added = this.#sql.exec<{ seq: number }>(
      'INSERT INTO completions (id, turn, after_event, earlier_turn, earlier_after, model, include_usage, dialect, echo, asked, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq',
      id,
      range.turn,
      range.after,
      range.earlier?.turn ?? null,
      range.earlier?.after ?? null,
      model,
      includeUsage ? 1 : 0,
      dialect,
      JSON.stringify(echo),
      asked,
      createdAt,
    );
    this.#sql.exec('DELETE FROM completions WHERE seq <= ?', added.one().seq - maxStoredCompletions);
  }

  get(id: string): Completion | null {
    return this.#one(`SELECT ${columns} FROM completions WHERE id = ?`, id);
  }

  /** Its range stays, since it says what the client has received. */
  remove(id: string): void {
    this.#sql.exec(`UPDATE completions SET id = 'deleted ' || seq, model = '', echo = '{}', asked = '' WHERE id = ?`, id);
  }

  /** Returns the newest response, or the one `before` places earlier. */
  last(before = 0): Completion | null {
    return this.#one(`SELECT ${columns} FROM completions ORDER BY seq DESC LIMIT 1 OFFSET ?`, before);
  }

  /** Returns the number of the event after which the response is read: before the turn that was open when it was requested, and before the part of an earlier turn that it includes. */
  readFrom({ turn, after, earlier }: AnswerRange): number {
    // Turns start in the order of `seq`, and the open one was accepted before the turn of the response, or is that turn.
    const query = `SELECT input_event AS open FROM turns WHERE seq <= (SELECT seq FROM turns WHERE id = ?) AND input_event < ?
      ORDER BY seq DESC LIMIT 1`;
    const [{ open } = { open: null }] = this.#sql.exec<{ open: number | null }>(query, turn, after);
    const before = 'SELECT input_event AS before FROM turns WHERE id = ?';
    const [row] = earlier === null ? [] : this.#sql.exec<{ before: number | null }>(before, earlier.turn);
    return Math.min(after, open ?? after, row?.before ?? after);
  }

  #one(query: string, ...bindings: (string | number)[]): Completion | null {
    const row = this.#sql.exec<Row>(query, ...bindings).toArray()[0];
    if (row === undefined) return null;
    const { turn, after, earlierTurn, earlierAfter, includeUsage, echo, ...rest } = row;
    const earlier = earlierTurn === null || earlierAfter === null ? null : { turn: earlierTurn, after: earlierAfter };
    // `add` wrote it.
    return { ...rest, range: { turn, after, earlier }, includeUsage: includeUsage === 1, echo: JSON.parse(echo) as Completion['echo'] };
  }
}

/**
 * The responses that chat clients received, each stored as its range in the log (`dialects/answer.ts`): enough to send any of them
 * again byte for byte, also after a restart. The newest `limits.maxKeptCompletions` are stored.
 */
import type { DialectName } from '../../core/reference.ts';
import type { AnswerRange } from '../../dialects/answer.ts';

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

type StoredCompletion = {
  id: string;
  turn: string;
  after_event: number;
  earlier_turn: string | null;
  earlier_after: number | null;
  model: string;
  include_usage: number;
  dialect: string;
  echo: string;
  asked: string;
  created_at: number;
};

const columns = 'id, turn, after_event, earlier_turn, earlier_after, model, include_usage, dialect, echo, asked, created_at';

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

  /** Returns the newest response, or the one `before` places earlier. */
  last(before = 0): Completion | null {
    return this.#one(`SELECT ${columns} FROM completions ORDER BY seq DESC LIMIT 1 OFFSET ?`, before);
  }

  /** Returns the number of the event after which the response is read: before the turn that was open when it was requested, and before the part of an earlier turn that it includes. */
  readFrom({ after, earlier }: AnswerRange): number {
    const { open } = this.#sql
      .exec<{ open: number | null }>('SELECT max(input_event) AS open FROM turns WHERE input_event < ?', after)
      .one();
    const [row] =
      earlier === null
        ? []
        : this.#sql.exec<{ before: number | null }>('SELECT input_event AS before FROM turns WHERE id = ?', earlier.turn);
    return Math.min(after, open ?? after, row?.before ?? after);
  }

  #one(query: string, ...bindings: (string | number)[]): Completion | null {
    const [row] = [...this.#sql.exec<StoredCompletion>(query, ...bindings)];
    if (row === undefined) return null;
    const earlier = row.earlier_turn === null || row.earlier_after === null ? null : { turn: row.earlier_turn, after: row.earlier_after };
    return {
      id: row.id,
      range: { turn: row.turn, after: row.after_event, earlier },
      model: row.model,
      includeUsage: row.include_usage === 1,
      // `add` wrote both.
      dialect: row.dialect as DialectName,
      echo: JSON.parse(row.echo) as Record<string, unknown>,
      asked: row.asked,
      createdAt: row.created_at,
    };
  }
}

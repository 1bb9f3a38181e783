/** The daily sums of a shard: adds reports to them, and groups them for queries. */
import { joinModelUses, type UsageDimension, type UsageReport } from '../../core/records/usage.ts';
import type { UsageQuery } from '../../ports/usage.ts';
import { countNames, type SumRow, type Sums } from './client/usage-shard-client.ts';

const counts = countNames.map((name) => `${name} REAL! DEFAULT 0`).join(', ');

export const sumsSchema = `
  CREATE TABLE model_usage (day TEXT!, key TEXT!, agent TEXT!, toolset TEXT!, model TEXT!, ${counts}, PRIMARY KEY (day, key, agent, toolset, model)) WITHOUT ROWID;
  CREATE TABLE tool_usage (day TEXT!, key TEXT!, agent TEXT!, toolset TEXT!, tool TEXT!, calls REAL!, failures REAL!, duration_ms REAL!,
    PRIMARY KEY (day, key, agent, toolset, tool)) WITHOUT ROWID;
`;

/** Callers choose the names of models, so that more rows than this a day are joined under `<provider>/other`. */
const maxRowsPerDay = 5_000;
const maxNameLength = 200;

const toolCounts = ['calls', 'failures', 'duration_ms'] as const;
const columns: Readonly<Record<UsageDimension, string>> = {
  day: 'day',
  key: 'key',
  agent: 'agent',
  provider: `substr(model, 1, instr(model, '/') - 1)`,
  model: 'model',
  toolset: 'toolset',
  tool: 'tool',
};

type Query = Omit<UsageQuery, 'cursor'>;
type Row = Record<string, string | number>;

export class DailySums {
  readonly #sql: SqlStorage;
  /** Rows of a day in `model_usage`; one day at a time is written, as a rule. */
  #rows: { day: string; count: number } | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Joins what belongs to one row first: a batch mostly has many reports of few rows. */
  add(reports: readonly UsageReport[]): void {
    const groups = Map.groupBy(reports, ({ keyId, agent, toolset }) => JSON.stringify([keyId, agent, toolset]));
    for (const group of groups.values()) this.#addGroup(group);
  }

  /** `reports`: of the same key, agent and toolset. */
  #addGroup(reports: readonly UsageReport[]): void {
    const [first] = reports;
    if (first === undefined) return;
    const { keyId, agent, toolset } = first;
    const at = [keyId, agent ?? '', toolset ?? ''].map((name) => name.slice(0, maxNameLength)) as [string, string, string];
    for (const { day, model, usage, ...use } of joinModelUses(reports.flatMap(({ models }) => models))) {
      this.#sql.exec(
        addModel,
        ...[day, ...at, this.#boundedModel(day, at, model.slice(0, maxNameLength))],
        ...[use.calls, use.failures, use.durationMs, usage.inputTokens, usage.cachedInputTokens ?? 0, usage.cacheWriteInputTokens ?? 0],
        ...[usage.outputTokens, usage.reasoningTokens ?? 0, use.cost, use.priced, use.unpriced, use.unreported],
      );
    }
    for (const { day, tool, calls, failures, durationMs } of joinToolUses(reports.flatMap(({ tools }) => tools)))
      this.#sql.exec(addTool, day, ...at, tool.slice(0, maxNameLength), calls, failures, durationMs);
  }

  groups({ by, limit, ...query }: Query, after: readonly string[] | null): SumRow[] {
    const { source, where, values, names } = selection({ by, ...query });
    const dimensions = by.map((name) => columns[name]);
    const start = after === null ? '' : `AND (${dimensions.join(', ')}) > (${after.map(() => '?').join(', ')})`;
    const order = dimensions.join(', ');
    const text = `SELECT ${dimensions.map((column, index) => `${column} AS d${index}`).join(', ')}, ${names} FROM ${source}
      WHERE ${where} ${start} GROUP BY ${order} ORDER BY ${order} LIMIT ?`;
    const rows = this.#sql.exec<Row>(text, ...values, ...(after ?? []), limit);
    return [...rows].map((row) => ({ group: by.map((_, index) => String(row[`d${index}`])), sums: toSums(row) }));
  }

  totals(query: Query): Sums {
    const { source, where, values, names } = selection(query);
    const text = `SELECT ${names} FROM ${source} WHERE ${where}`;
    return toSums(this.#sql.exec<Row>(text, ...values).one());
  }

  /** Deletes the oldest day of each table if it is before this one. Returns whether there may be more. */
  sweep(before: string): boolean {
    const deleted = ['model_usage', 'tool_usage'].map((table) => {
      const query = `DELETE FROM ${table} WHERE day < ?1 AND day = (SELECT min(day) FROM ${table})`;
      return this.#sql.exec(query, before).rowsWritten;
    });
    return deleted.some((rows) => rows > 0);
  }

  #boundedModel(day: string, [key, agent, toolset]: readonly [string, string, string], model: string): string {
    const find = 'SELECT 1 FROM model_usage WHERE day = ? AND key = ? AND agent = ? AND toolset = ? AND model = ?';
    if (this.#sql.exec(find, day, key, agent, toolset, model).toArray().length > 0) return model;
    if (this.#rows?.day !== day) {
      const { count } = this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM model_usage WHERE day = ?', day).one();
      this.#rows = { day, count };
    }
    if (this.#rows.count >= maxRowsPerDay) return `${model.slice(0, model.indexOf('/'))}/other`;
    this.#rows.count += 1;
    return model;
  }
}

function joinToolUses(uses: UsageReport['tools']): UsageReport['tools'] {
  const joined = new Map<string, UsageReport['tools'][number]>();
  for (const use of uses) {
    const key = `${use.day} ${use.tool}`;
    const known = joined.get(key) ?? { ...use, calls: 0, failures: 0, durationMs: 0 };
    const [calls, failures] = [known.calls + use.calls, known.failures + use.failures];
    joined.set(key, { ...use, calls, failures, durationMs: known.durationMs + use.durationMs });
  }
  return [...joined.values()];
}

const addModel = `INSERT INTO model_usage (day, key, agent, toolset, model, ${countNames.join(', ')}) VALUES (${Array.from({ length: countNames.length + 5 }, () => '?').join(', ')})
  ON CONFLICT DO UPDATE SET ${countNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;
const addTool = `INSERT INTO tool_usage (day, key, agent, toolset, tool, calls, failures, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET ${toolCounts.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;

/** Calls of tools have a table of their own: only `by` decides which one is read. */
function selection({ by, from, to, where }: Pick<Query, 'by' | 'from' | 'to' | 'where'>) {
  const ofTools = by.includes('tool');
  const filters = Object.entries(where).filter((entry): entry is [UsageDimension, string] => entry[1] !== undefined);
  return {
    source: ofTools ? 'tool_usage' : 'model_usage',
    where: ['day BETWEEN ? AND ?', ...filters.map(([name]) => `${columns[name]} = ?`)].join(' AND '),
    values: [from, to, ...filters.map(([, value]) => value)],
    names: (ofTools ? toolCounts : countNames).map((name) => `sum(${name}) AS ${name}`).join(', '),
  };
}

/** Sums of no rows are null. */
function toSums(row: Row): Sums {
  return Object.fromEntries(countNames.map((name) => [name, Number(row[name] ?? 0)])) as Sums;
}

/** The daily sums of a shard: adds reports to them, and groups them for queries. */
import {
  joinModelUses,
  joinToolUses,
  isByName,
  isOfTools,
  type ToolUse,
  type UsageDimension,
  type UsageReport,
} from '../../core/records/usage.ts';
import type { UsageQuery } from '../../ports/usage.ts';
import { countNames, firstCounts, savedCounts, type SumRow, type Sums } from './client/usage-shard-client.ts';

const counts = firstCounts.map((name) => `${name} REAL! DEFAULT 0`).join(', ');

export const sumsSchema = `
  CREATE TABLE model_usage (day TEXT!, key TEXT!, agent TEXT!, toolset TEXT!, model TEXT!, ${counts}, PRIMARY KEY (day, key, agent, toolset, model)) WITHOUT ROWID;
  CREATE TABLE tool_usage (day TEXT!, key TEXT!, agent TEXT!, toolset TEXT!, tool TEXT!, calls REAL!, failures REAL!, duration_ms REAL!,
    PRIMARY KEY (day, key, agent, toolset, tool)) WITHOUT ROWID;
`;

/** Names of tools as they were called, and what the calls cost. Earlier rows have neither. */
export const namesSchema = `
  CREATE TABLE named_usage (day TEXT!, key TEXT!, agent TEXT!, toolset TEXT!, tool TEXT!, requested TEXT!, via TEXT!, calls REAL!, failures REAL!,
    duration_ms REAL!, overcount REAL! DEFAULT 0, cost REAL! DEFAULT 0, PRIMARY KEY (day, key, agent, toolset, tool, requested, via)) WITHOUT ROWID;
  INSERT INTO named_usage SELECT day, key, agent, toolset, tool, '', '', calls, failures, duration_ms, 0, 0 FROM tool_usage;
  DROP TABLE tool_usage;
  ALTER TABLE named_usage RENAME TO tool_usage;
`;

/** What cached replies saved. */
export const savedSchema = savedCounts.map((name) => `ALTER TABLE model_usage ADD COLUMN ${name} REAL! DEFAULT 0;\n`).join('');

/**
 * Callers choose the names of models and tools. Beyond these rows a day, models are joined under `<provider>/other`, a tool is counted without the
 * name that was called, and a name that is no tool replaces the rarest one and takes its count as its error ("space-saving": Metwally, Agrawal,
 * El Abbadi, 2005).
 */
const maxRowsPerDay = { model: 5_000, named: 5_000, unknown: 500 };
const maxNameLength = 200;
const maxCountedDays = 8;

const toolCounts = ['calls', 'failures', 'duration_ms', 'cost'] as const;
const columns: Readonly<Record<UsageDimension, string>> = {
  day: 'day',
  key: 'key',
  agent: 'agent',
  provider: `substr(model, 1, instr(model, '/') - 1)`,
  model: 'model',
  toolset: 'toolset',
  tool: 'tool',
  requested: 'requested',
  via: 'via',
};

type Query = Omit<UsageQuery, 'cursor'>;
type Row = Record<string, string | number>;

export class DailySums {
  readonly #sql: SqlStorage;
  /** Rows of a kind on a day; few days are written at a time. */
  readonly #rows = new Map<string, number>();

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
        ...[use.cached?.calls ?? 0, use.cached?.cost ?? 0, use.cached?.tokens ?? 0],
      );
    }
    for (const use of joinToolUses(reports.flatMap(({ tools }) => tools))) this.#addTool(at, use);
  }

  #addTool(at: readonly [string, string, string], { day, tool, requested, via, calls, failures, durationMs, cost = 0 }: ToolUse): void {
    const [name, called] = [tool ?? '', requested].map((text) => text.slice(0, maxNameLength)) as [string, string];
    const isOfTool = name !== '';
    const key = [day, ...at, name, called, via ?? ''];
    const add = (row: readonly string[]): void => void this.#sql.exec(addTool, ...row, calls, failures, durationMs, cost);
    if (this.#sql.exec(findTool, ...key).toArray().length > 0) add(key);
    else if (this.#hasRoom(isOfTool ? 'named' : 'unknown', day)) add(key);
    else if (isOfTool) add([day, ...at, name, '', '']);
    else {
      this.#sql.exec(replaceRarest, ...at, called, day);
      add(key);
    }
  }

  groups({ by, limit, ...query }: Query, after: readonly string[] | null): SumRow[] {
    const { source, where, values, names } = selection({ by, ...query });
    const sums = query.who === true ? whoMade : names;
    const dimensions = by.map((name) => columns[name]);
    const start = after === null ? '' : `AND (${dimensions.join(', ')}) > (${after.map(() => '?').join(', ')})`;
    const order = dimensions.join(', ');
    const text = `SELECT ${dimensions.map((column, index) => `${column} AS d${index}`).join(', ')}, ${sums} FROM ${source}
      WHERE ${where} ${start} GROUP BY ${order} ORDER BY ${order} LIMIT ?`;
    const rows = this.#sql.exec<Row>(text, ...values, ...(after ?? []), limit);
    return [...rows].map((row) => ({
      ...{ group: by.map((_, index) => String(row[`d${index}`])), sums: toSums(row) },
      ...(query.who === true && { who: { agents: namesIn(row.agents), keys: namesIn(row.keys) } }),
    }));
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
    return this.#hasRoom('model', day) ? model : `${model.slice(0, model.indexOf('/'))}/other`;
  }

  /** Whether a day may have one more row, which is then counted. */
  #hasRoom(kind: keyof typeof maxRowsPerDay, day: string): boolean {
    const key = `${kind} ${day}`;
    if (this.#rows.size > maxCountedDays && !this.#rows.has(key)) this.#rows.clear();
    const count = this.#rows.get(key) ?? this.#sql.exec<{ count: number }>(countRows[kind], day).one().count;
    const hasRoom = count < maxRowsPerDay[kind];
    this.#rows.set(key, hasRoom ? count + 1 : count);
    return hasRoom;
  }
}

const addModel = `INSERT INTO model_usage (day, key, agent, toolset, model, ${countNames.join(', ')}) VALUES (${Array.from({ length: countNames.length + 5 }, () => '?').join(', ')})
  ON CONFLICT DO UPDATE SET ${countNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;
const addTool = `INSERT INTO tool_usage (day, key, agent, toolset, tool, requested, via, calls, failures, duration_ms, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET ${toolCounts.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;

const findTool =
  'SELECT 1 FROM tool_usage WHERE day = ? AND key = ? AND agent = ? AND toolset = ? AND tool = ? AND requested = ? AND via = ?';
const countRows = {
  model: 'SELECT count(*) AS count FROM model_usage WHERE day = ?',
  named: "SELECT count(*) AS count FROM tool_usage WHERE day = ? AND tool != ''",
  unknown: "SELECT count(*) AS count FROM tool_usage WHERE day = ? AND tool = ''",
};
const replaceRarest = `UPDATE tool_usage SET key = ?1, agent = ?2, toolset = ?3, requested = ?4, overcount = calls
  WHERE (day, key, agent, toolset, tool, requested, via) =
    (SELECT day, key, agent, toolset, tool, requested, via FROM tool_usage WHERE day = ?5 AND tool = '' ORDER BY calls LIMIT 1)`;

/** Calls of models, with what calls of tools cost, which count in no other sum. */
const withToolCosts = `(SELECT *, 0 AS tool_cost FROM model_usage WHERE day BETWEEN ?1 AND ?2
  UNION ALL SELECT day, key, agent, toolset, '', ${countNames.map(() => '0').join(', ')}, cost FROM tool_usage WHERE day BETWEEN ?1 AND ?2 AND cost > 0)`;

/** Calls of tools have a table of their own: only `by` decides which one is read. Groups and filters of models leave out what tools cost. */
function selection({ by, from, to, where }: Pick<Query, 'by' | 'from' | 'to' | 'where'>) {
  const ofTools = isOfTools(by);
  const filters = Object.entries(where).filter((entry): entry is [UsageDimension, string] => entry[1] !== undefined);
  const own = ofTools && !isByName(by) ? ["tool != ''"] : [];
  const extra = isByName(by) ? ', sum(overcount) AS overcount, max(day) AS last' : '';
  const ofModels = [...by, ...filters.map(([name]) => name)].some((name) => name === 'model' || name === 'provider');
  const costs = ofTools || ofModels ? '' : ', sum(tool_cost) AS tool_cost';
  return {
    source: ofTools ? 'tool_usage' : ofModels ? 'model_usage' : withToolCosts,
    where: ['day BETWEEN ?1 AND ?2', ...own, ...filters.map(([name]) => `${columns[name]} = ?`)].join(' AND '),
    values: [from, to, ...filters.map(([, value]) => value)],
    names: (ofTools ? toolCounts : countNames).map((name) => `sum(${name}) AS ${name}`).join(', ') + extra + costs,
  };
}

/** Without what only `GET /v1/usage` shows: each sum costs time in a scan of a month. */
const whoMade = `sum(calls) AS calls, sum(failures) AS failures, sum(overcount) AS overcount, max(day) AS last,
  json_group_array(DISTINCT agent) AS agents, json_group_array(DISTINCT key) AS keys`;
const maxNamed = 20;

/** `json`: made by the query. An empty text stands for none. */
function namesIn(json: string | number | undefined): string[] {
  const names: string[] = JSON.parse(String(json));
  return names.filter((name) => name !== '').slice(0, maxNamed);
}

/** Sums of no rows are null. */
function toSums(row: Row): Sums {
  const counts = Object.fromEntries(countNames.map((name) => [name, Number(row[name] ?? 0)])) as Record<
    (typeof countNames)[number],
    number
  >;
  return {
    ...counts,
    ...(row.tool_cost && { toolCost: Number(row.tool_cost) }),
    ...(row.overcount && { overcount: Number(row.overcount) }),
    ...(row.last && { last: String(row.last) }),
  };
}

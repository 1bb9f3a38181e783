/** The request log of a shard: one row for each request to a model without a turn, and for each turn. */
import { addUsage } from '../../core/model/chat-event.ts';
import {
  costsOf,
  joinModelUses,
  type LoggedRequest,
  type ModelUse,
  type ReportedRequest,
  type RequestBodies,
  type RequestEntry,
  toolCostOf,
  type UsageReport,
} from '../../core/records/usage.ts';
import { splitModelRef } from '../../core/turn/agent.ts';
import type { RequestFilter, RequestQuery } from '../../ports/usage.ts';
import type { Position } from './client/usage-shard-client.ts';

/** `request_bodies.number`: in the order of storing. */
export const requestsSchema = `
  CREATE TABLE requests (id TEXT PRIMARY KEY, part INTEGER!, at INTEGER!, key TEXT!, agent TEXT, session TEXT, model TEXT, provider TEXT,
    status TEXT!, kind TEXT!, request_id TEXT, body TEXT!);
  CREATE INDEX requests_by_time ON requests (at, id);
  CREATE INDEX requests_by_key ON requests (key, at, id);
  CREATE INDEX requests_by_request_id ON requests (request_id) WHERE request_id IS!;
  CREATE TABLE request_bodies (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT! UNIQUE, request TEXT, response TEXT, truncated INTEGER!);
`;

/** The newest ones of a shard: about 1 GB if all are as long as possible. */
const maxBodies = 8_000;

/** Rows that one query reads: a filter that matches few rows then has pages with few items. */
const maxReadRows = 10_000;
/** A turn calls a few models, and fallbacks. */
const maxModels = 50;
/** Rows with the same `x-request-id`, which callers choose. */
const maxFoundRows = 20;

/** `models`: joined over days. `toolCost`: absent: none. */
type StoredRequest = { request: ReportedRequest; models: ModelUse[]; toolCost?: number };

const filters: Readonly<Record<keyof RequestFilter, string>> = {
  key: 'key',
  agent: 'agent',
  session: 'session',
  model: 'model',
  provider: 'provider',
  status: 'status',
  kind: 'kind',
  requestId: 'request_id',
};

export class RequestRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores the report, joined with the earlier parts of its turn. Returns false for a report that was stored before. */
  add({ id, part, at, bodies, ...used }: UsageReport, request: ReportedRequest): boolean {
    const isNew = this.#insert(id, part, at, join(null, request, used)) || this.#update(id, part, request, used);
    if (isNew && bodies !== undefined) this.#addBodies(id, bodies);
    return isNew;
  }

  /** Returns false if there is a row. Most reports are the only one of their row, so this is tried first. */
  #insert(id: string, part: number, at: number, stored: StoredRequest): boolean {
    const { keyId, agent, session, model, status, kind, requestId } = stored.request;
    const provider = model === null ? null : splitModelRef(model).provider;
    const inserted = this.#sql.exec(
      `INSERT INTO requests (id, part, at, key, agent, session, model, provider, status, kind, request_id, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING`,
      ...[id, part, at, keyId, agent, session, model, provider, status, kind, requestId, JSON.stringify(stored)],
    );
    return inserted.rowsWritten > 0;
  }

  /** Returns false if the part, or a later one, was stored before. */
  #update(id: string, part: number, request: ReportedRequest, used: Used): boolean {
    const row = this.#sql.exec<{ part: number; body: string }>('SELECT part, body FROM requests WHERE id = ?', id).one();
    if (row.part >= part) return false;
    const joined = join(JSON.parse(row.body) as StoredRequest, request, used);
    const update = 'UPDATE requests SET part = ?, status = ?, body = ? WHERE id = ?';
    this.#sql.exec(update, part, joined.request.status, JSON.stringify(joined), id);
    return true;
  }

  #addBodies(id: string, { request, response, truncated }: RequestBodies): void {
    const insert = 'INSERT INTO request_bodies (id, request, response, truncated) VALUES (?, ?, ?, ?) RETURNING number';
    const { number } = this.#sql.exec<{ number: number }>(insert, id, request, response, truncated ? 1 : 0).one();
    this.#deleteBodies('SELECT number FROM request_bodies WHERE number <= ?', number - maxBodies);
  }

  /** `query`: of their numbers. Overwrites the texts first, since SQLite keeps the bytes of deleted rows in the file. Returns how many. */
  #deleteBodies(query: string, value: string | number): number {
    const found = this.#sql.exec<{ number: number }>(query, value).toArray();
    for (const { number } of found) {
      this.#sql.exec(overwriteBody, number);
      this.#sql.exec('DELETE FROM request_bodies WHERE number = ?', number);
    }
    return found.length;
  }

  list(
    { where, from, to, limit }: Omit<RequestQuery, 'cursor'>,
    before: Position | null,
  ): { items: RequestEntry[]; readTo: Position | null } {
    const given = Object.entries(where).filter((entry): entry is [keyof RequestFilter, string] => entry[1] !== undefined);
    const { key } = where;
    const [at, id] = before ?? [Number.MAX_SAFE_INTEGER, ''];
    // The inner query reads an index in order, and a limited part of it.
    const source = `SELECT * FROM requests WHERE ${key === undefined ? '' : 'key = ? AND '}(at, id) < (?, ?) AND at >= ? AND at < ? ORDER BY at DESC, id DESC LIMIT ?`;
    const values = [...(key === undefined ? [] : [key]), at, id, from ?? 0, to ?? Number.MAX_SAFE_INTEGER, maxReadRows];
    const items: RequestEntry[] = [];
    let read = 0;
    let last: Position | null = null;
    for (const row of this.#sql.exec<Row>(source, ...values)) {
      read += 1;
      last = [row.at, row.id];
      if (given.every(([name, value]) => row[filters[name]] === value)) items.push(toEntry(JSON.parse(row.body) as StoredRequest));
      if (items.length >= limit) break;
    }
    return { items, readTo: items.length >= limit || read >= maxReadRows ? last : null };
  }

  /** By the id of the row, or by the request's id. */
  find(id: string): LoggedRequest[] {
    const query = `SELECT body, request_bodies.number, request, response, truncated FROM
      (SELECT id, body FROM requests WHERE id = ?1 UNION ALL SELECT id, body FROM requests WHERE request_id = ?1 LIMIT ?2) AS found
      LEFT JOIN request_bodies ON request_bodies.id = found.id`;
    return [...this.#sql.exec<FoundRow>(query, id, maxFoundRows)].map(({ body, number, request, response, truncated }) => ({
      ...toEntry(JSON.parse(body) as StoredRequest),
      bodies: number === null ? null : { request, response, truncated: truncated === 1 },
    }));
  }

  /** Those of these ids, of rows or of requests, whose bodies are stored. */
  withBodies(ids: readonly string[]): string[] {
    const query = `SELECT value AS id FROM json_each(?) WHERE value IN (SELECT id FROM request_bodies)
      OR EXISTS (SELECT 1 FROM requests WHERE request_id = value AND id IN (SELECT id FROM request_bodies))`;
    return [...this.#sql.exec<{ id: string }>(query, JSON.stringify(ids))].map(({ id }) => id);
  }

  /** Deletes at most `max` rows from before this time. Returns how many. */
  sweep(before: number, max: number): number {
    const old = this.#sql.exec<{ id: string }>('SELECT id FROM requests WHERE at < ? ORDER BY at LIMIT ?', before, max).toArray();
    for (const { id } of old) {
      this.#sql.exec('DELETE FROM requests WHERE id = ?', id);
      this.#deleteBodies('SELECT number FROM request_bodies WHERE id = ?', id);
    }
    return old.length;
  }

  /** Deletes at most `max` bodies. Returns how many. */
  sweepBodies(max: number): number {
    return this.#deleteBodies('SELECT number FROM request_bodies ORDER BY number LIMIT ?', max);
  }
}

const overwriteBody =
  'UPDATE request_bodies SET request = zeroblob(length(CAST(request AS BLOB))), response = zeroblob(length(CAST(response AS BLOB))) WHERE number = ?';

type FoundRow = { body: string; number: number | null; request: string | null; response: string | null; truncated: number | null };
type Row = { at: number; id: string; body: string } & Record<string, string | number | null>;

type Used = Pick<UsageReport, 'models' | 'tools'>;

/** The first part has the start of the turn; the last one has its status. */
function join(stored: StoredRequest | null, request: ReportedRequest, { models, tools }: Used): StoredRequest {
  const toolCost = (stored?.toolCost ?? 0) + toolCostOf(tools);
  const ofTools = toolCost > 0 && { toolCost };
  const uses = models.map((use) => ({ ...use, day: '' }));
  if (stored === null) return { request, models: joinModelUses(uses).slice(0, maxModels), ...ofTools };
  const { request: earlier } = stored;
  const { status, code, durationMs, toolCalls } = request;
  return {
    request: { ...earlier, status, code, durationMs, toolCalls: (earlier.toolCalls ?? 0) + (toolCalls ?? 0) },
    models: joinModelUses([...stored.models, ...uses]).slice(0, maxModels),
    ...ofTools,
  };
}

function toEntry({ request, models, toolCost = 0 }: StoredRequest): RequestEntry {
  const sum = joinModelUses(models.map((use) => ({ ...use, model: '' })))[0];
  const isReported = models.some(({ calls, failures, unreported }) => calls - failures > unreported) || hasTokens(sum);
  return {
    ...request,
    provider: request.model === null ? null : splitModelRef(request.model).provider,
    models: models.map(({ model }) => model),
    modelCalls: sum?.calls ?? 0,
    usage: sum !== undefined && isReported ? addUsage(sum.usage, { inputTokens: 0, outputTokens: 0 }) : null,
    ...costsOf(sum ?? { cost: 0, priced: 0, unpriced: 0 }, toolCost),
    unpricedCalls: sum?.unpriced ?? 0,
  };
}

function hasTokens(use: ModelUse | undefined): boolean {
  return use !== undefined && use.usage.inputTokens + use.usage.outputTokens > 0;
}

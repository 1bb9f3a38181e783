/**
 * The cases of a replay and what came of them (`object/schema.ts`). The recordings themselves are not copied: a case has the replayed turn only, and
 * loses it when its recording is gone.
 */
import { decodeNumberCursor, encodeCursor } from '../../../core/json/cursor.ts';
import type { Principal } from '../../../core/people/principal.ts';
import {
  addFacts,
  type JudgedRule,
  noFacts,
  type ListedReplay,
  type Replay,
  type ReplayCase,
  type ReplayCaseStatus,
} from '../../../core/replay/replay.ts';
import { maxReplayCases, type ReplayRule } from '../../../core/replay/suite.ts';
import type { CaseDetail, CaseResult } from '../../../engine/replay/run-case.ts';
import type { Page, PageRequest } from '../../../ports/catalog.ts';
import type { StartReplay } from '../../../ports/replays.ts';
import { readChunks, writeChunks } from '../../shared/text-rows.ts';

/** As stored: the rules of the cases once each, by index. */
type StoredRequest = Omit<StartReplay, 'cases' | 'of'> & { ruleSets: (readonly ReplayRule[])[] };
/** `knownCost`: of all calls of models whose cost is known. */
type Sums = Pick<Replay, 'rules' | 'uncounted' | 'recorded' | 'replayed'> & { knownCost: number };
type StoredResult = Pick<ReplayCase, 'calls' | 'recorded' | 'replayed'> & { rules: Omit<JudgedRule, 'rule'>[] };

/** `isListed`: 1: the replay has begun; 0: it is stored, and not admitted yet. */
type Row = Pick<Replay, 'status' | 'reason'> & { endedAt: number | null; sums: string; of: string; principal: string; isListed: number };
export type CaseRow = {
  number: number;
  session: string | null;
  turn: string | null;
  request: string | null;
  rules: number | null;
  status: ReplayCaseStatus;
  reason: string | null;
  attempts: number;
  result: string | null;
};

const columns = 'number, session, turn, request, rules, status, reason, attempts, result';
const ofStatus = `SELECT ${columns} FROM replay_cases WHERE status = ? ORDER BY number LIMIT ?`;
const byNumber = `SELECT ${columns} FROM replay_cases WHERE number = ?`;
const lostAttempt = 'An attempt did not end: what it used is not counted.';
/** Keeps what was noted about earlier attempts. */
const joinedReason = `nullif(trim(coalesce(?, '') || ' ' || coalesce(reason, '')), '')`;
const settleCase = `UPDATE replay_cases SET status = ?, reason = ${joinedReason}, result = ? WHERE number = ?`;
const skipCases = `UPDATE replay_cases SET status = 'skipped', reason = ${joinedReason} WHERE status IN ('waiting', 'running') RETURNING number`;
const noCalls = { same: 0, changed: 0, added: 0, missing: 0 };

export class ReplayStore {
  readonly #sql: SqlStorage;
  #request: StoredRequest | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** null: nothing is stored yet. */
  row(): Row | null {
    const query = 'SELECT status, reason, ended_at AS endedAt, sums, of, principal, listed IS NOT NULL AS isListed FROM replay';
    return this.#sql.exec<Row>(query).toArray()[0] ?? null;
  }

  create(principal: Principal, { cases, of, ...request }: StartReplay): void {
    const sets: (readonly ReplayRule[])[] = [];
    const numberOf = new Map<readonly ReplayRule[], number>();
    const insert = 'INSERT INTO replay_cases (number, session, turn, request, rules, status, reason) VALUES (?, ?, ?, ?, ?, ?, ?)';
    for (const [index, { session, turn, request: row, rules, reason }] of cases.entries()) {
      if (rules.length > 0 && !numberOf.has(rules)) numberOf.set(rules, sets.push(rules) - 1);
      const status = reason === null ? 'waiting' : 'unreadable';
      this.#sql.exec(insert, index + 1, session, turn, row, numberOf.get(rules) ?? null, status, reason);
    }
    this.#writePart('request', { ...request, ruleSets: sets } satisfies StoredRequest);
    const sums: Sums = { rules: { passed: 0, failed: 0 }, uncounted: 0, recorded: noFacts, replayed: noFacts, knownCost: 0 };
    const row = `INSERT INTO replay (id, of, principal, status, sums) VALUES (1, ?, ?, 'running', ?)`;
    this.#sql.exec(row, of, JSON.stringify(principal), JSON.stringify(sums));
  }

  request(): StoredRequest {
    this.#request ??= this.#readPart<StoredRequest>('request');
    if (this.#request === null) throw new Error('the replay has no request');
    return this.#request;
  }

  rulesOf({ rules }: Pick<CaseRow, 'rules'>): readonly ReplayRule[] {
    const request = this.request();
    return rules === null ? request.rules : [...request.rules, ...(request.ruleSets[rules] ?? [])];
  }

  sums(): Sums {
    // Written by `create` and `settle`.
    return JSON.parse(this.row()?.sums ?? '{}') as Sums;
  }

  end(status: Replay['status'], reason: string | null, now: number): void {
    this.#sql.exec('UPDATE replay SET status = ?, reason = ?, ended_at = ?', status, reason, now);
  }

  nextWaiting(): CaseRow | null {
    return this.#sql.exec<CaseRow>(ofStatus, 'waiting', 1).toArray()[0] ?? null;
  }

  markRunning(number: number): void {
    this.#sql.exec(`UPDATE replay_cases SET status = 'running', attempts = attempts + 1 WHERE number = ?`, number);
  }

  /** Of an attempt that did not begin. */
  requeue(number: number): void {
    this.#sql.exec(`UPDATE replay_cases SET status = 'waiting', attempts = attempts - 1 WHERE number = ?`, number);
  }

  /** Notes an attempt that has no result, and that the case waits for the next one. */
  loseAttempt(number: number): void {
    this.#sql.exec(`UPDATE replay_cases SET status = 'waiting', reason = ? WHERE number = ?`, lostAttempt, number);
    const sums = this.sums();
    this.#writeSums({ ...sums, uncounted: sums.uncounted + 1 });
  }

  withStatus(status: ReplayCaseStatus): CaseRow[] {
    return this.#sql.exec<CaseRow>(ofStatus, status, maxReplayCases).toArray();
  }

  /** Stores how a case ended. `knownCost`: what it has cost, as far as that is known. */
  settle(number: number, { status, reason, calls, rules, recorded, replayed, detail }: CaseResult, knownCost: number): void {
    const judged = rules.map(({ passed, detail: why }) => ({ passed, detail: why }));
    const result: StoredResult = { calls, rules: judged, recorded, replayed };
    this.#sql.exec(settleCase, status, reason, JSON.stringify(result), number);
    if (detail !== null) this.#writePart(partOf(number), detail);
    const sums = this.sums();
    const failed = rules.filter(({ passed }) => !passed).length;
    this.#writeSums({
      ...sums,
      rules: { passed: sums.rules.passed + rules.length - failed, failed: sums.rules.failed + failed },
      recorded: replayed === null ? sums.recorded : addFacts(sums.recorded, recorded ?? noFacts),
      replayed: addFacts(sums.replayed, replayed ?? noFacts),
      knownCost: sums.knownCost + knownCost,
    });
  }

  #writeSums(sums: Sums): void {
    this.#sql.exec('UPDATE replay SET sums = ?', JSON.stringify(sums));
  }

  /** Skips the cases that have not ended, and returns their numbers. */
  skipRest(reason: string): number[] {
    return this.#sql
      .exec<{ number: number }>(skipCases, reason)
      .toArray()
      .map(({ number }) => number);
  }

  counts(): Replay['cases'] {
    const query = 'SELECT status, count(*) AS count FROM replay_cases GROUP BY status';
    const by = new Map([...this.#sql.exec<{ status: ReplayCaseStatus; count: number }>(query)].map(({ status, count }) => [status, count]));
    const of = (status: ReplayCaseStatus): number => by.get(status) ?? 0;
    const ended = { same: of('same'), different: of('different'), ended: of('ended'), failed: of('failed') };
    const all = { ...ended, unreadable: of('unreadable'), skipped: of('skipped') };
    const done = Object.values(all).reduce((sum, count) => sum + count, 0);
    return { total: done + of('waiting') + of('running'), left: this.request().left, done, ...all };
  }

  cases({ cursor, limit, status }: PageRequest & { status?: ReplayCaseStatus }): Page<ReplayCase> {
    const after = decodeNumberCursor('replay cases', cursor) ?? 0;
    const query = `SELECT ${columns} FROM replay_cases WHERE number > ?1 AND (?2 IS NULL OR status = ?2) ORDER BY number LIMIT ?3`;
    const rows = this.#sql.exec<CaseRow>(query, after, status ?? null, limit + 1).toArray();
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const nextCursor = rows.length > limit && last !== undefined ? encodeCursor('replay cases', last.number) : null;
    return { items: items.map((row) => this.toCase(row)), nextCursor };
  }

  find(number: number): CaseRow | null {
    return this.#sql.exec<CaseRow>(byNumber, number).toArray()[0] ?? null;
  }

  toCase(row: CaseRow): ReplayCase {
    const { number, session, turn, request, status, reason } = row;
    const named = { number, session, turn, request, status, reason };
    if (row.result === null) return { ...named, calls: noCalls, rules: [], recorded: null, replayed: null };
    // Written by `settle`.
    const { rules, ...result } = JSON.parse(row.result) as StoredResult;
    const own = this.rulesOf(row);
    const judged = rules.flatMap((one, index) => {
      const rule = own[index];
      return rule === undefined ? [] : [{ rule, ...one }];
    });
    return { ...named, ...result, rules: judged };
  }

  detail(number: number): CaseDetail | null {
    return this.#readPart<CaseDetail>(partOf(number));
  }

  /** Overwrites the text first, since SQLite keeps the bytes of deleted rows in the file. */
  eraseDetail(number: number): void {
    this.#sql.exec('UPDATE replay_parts SET part = zeroblob(length(CAST(part AS BLOB))) WHERE name = ?', partOf(number));
    this.#sql.exec('DELETE FROM replay_parts WHERE name = ?', partOf(number));
  }

  /** Stores what lists show, which `object/summary-outbox.ts` sends. */
  setListed(listed: ListedReplay): void {
    this.#sql.exec('UPDATE replay SET listed = ?', JSON.stringify(listed));
  }

  casesWithContents(): Pick<CaseRow, 'number' | 'session' | 'request'>[] {
    const query = `SELECT number, session, request FROM replay_cases WHERE EXISTS
      (SELECT 1 FROM replay_parts WHERE name = 'case ' || replay_cases.number)`;
    return this.#sql.exec<Pick<CaseRow, 'number' | 'session' | 'request'>>(query).toArray();
  }

  #writePart(name: string, value: unknown): void {
    this.#sql.exec('DELETE FROM replay_parts WHERE name = ?', name);
    writeChunks(JSON.stringify(value), (seq, part) =>
      this.#sql.exec('INSERT INTO replay_parts (name, seq, part) VALUES (?, ?, ?)', name, seq, part),
    );
  }

  #readPart<Value>(name: string): Value | null {
    const text = readChunks(this.#sql.exec('SELECT part FROM replay_parts WHERE name = ? ORDER BY seq', name));
    // Written by `#writePart`.
    return text === null ? null : (JSON.parse(text) as Value);
  }
}

function partOf(number: number): string {
  return `case ${number}`;
}

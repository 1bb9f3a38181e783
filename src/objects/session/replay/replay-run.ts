/**
 * Drives a replay: runs its cases, a few at a time, until all have ended, the budget is used or it is cancelled. A case ends in one transaction with
 * its event and its usage, so that a process that dies repeats only those that had not ended.
 */
import { failpoint } from '../../../core/failpoint.ts';
import { limits } from '../../../core/limits/limits.ts';
import { originOf, type Principal } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { type Replay, toListedReplay } from '../../../core/replay/replay.ts';
import { isShortage } from '../../../engine/fair-pool.ts';
import { readReplacements, type Replacements } from '../../../engine/replay/replacements.ts';
import { type CaseResult, noResult, runCase, usageOfCase } from '../../../engine/replay/run-case.ts';
import type { OpenSession } from '../object/open-session.ts';
import type { SessionNeeds } from '../object/session-needs.ts';
import { type CaseRow, ReplayStore } from './replay-store.ts';
import { viewReplay } from './replay-view.ts';

export type ReplayParts = {
  wiring: SessionNeeds;
  session: string;
  isDeleted(openSession: OpenSession): boolean;
  waitUntil(work: Promise<unknown>): void;
};

/** Of a case whose process died, or whose reads failed. */
const maxAttempts = 3;
/** Without a case that could start, because of limits. */
const maxPauseMs = 10 * 60_000;
const pauseMs = 5_000;
/** When it looks for recordings that are gone. */
const checkMs = 24 * 60 * 60_000;

type Running = { abort: AbortController; done: Promise<void> };

export class ReplayRun {
  readonly #parts: ReplayParts;
  readonly #open: OpenSession;
  readonly #store: ReplayStore;
  readonly #running = new Map<number, Running>();
  #principal: Principal;
  #replaced: Promise<Replacements> | null = null;
  /** When limits first prevented a case from starting, since one started; no case starts before `#resumesAt`. */
  #pausedAt: number | null = null;
  #resumesAt = 0;
  #checkedAt: number;

  /** Takes over what a process left that died. */
  constructor(parts: ReplayParts, openSession: OpenSession) {
    this.#parts = parts;
    this.#open = openSession;
    this.#store = new ReplayStore(openSession.replay.sql);
    // Written by `ReplayStore.create`.
    this.#principal = JSON.parse(this.#store.row()?.principal ?? '{}') as Principal;
    this.#checkedAt = openSession.meta.createdAt;
    for (const row of this.#store.withStatus('running')) this.#retry(row, `It was interrupted ${row.attempts} times.`);
  }

  /** Lists it, and starts its first cases after the response. */
  begin(): void {
    for (const { number, status } of this.#store.withStatus('unreadable')) this.#open.log.append({ type: 'replay-case', number, status });
    this.#note();
    const now = this.#parts.wiring.clock.now();
    this.#open.timers.set('expire', now + limits.replayTtlMs);
    this.#open.timers.set('replay', now + limits.turnAlarmMs);
    this.#parts.waitUntil(Promise.resolve().then(() => this.fill()));
  }

  /** Starts as many cases as may run, or ends the replay. */
  fill(): void {
    if (this.#store.row()?.status !== 'running' || this.#isGone() || this.#parts.wiring.clock.now() < this.#resumesAt) return;
    const { concurrency, maxCost } = this.#store.request();
    while (this.#running.size < concurrency) {
      const next = this.#store.nextWaiting();
      if (next === null) break;
      if (maxCost !== undefined && this.#store.sums().knownCost >= maxCost) {
        if (this.#running.size === 0) this.#end('stopped', `It has used its \`maxCost\` of ${maxCost} USD.`);
        return;
      }
      if (!this.#start(next)) return;
    }
    if (this.#running.size === 0) this.#end('completed', null);
  }

  /** Ends it, unless it has ended: cases that run are aborted. */
  cancel(reason: string, status: 'cancelled' | 'stopped' | 'failed' = 'cancelled'): void {
    if (this.#store.row()?.status !== 'running') return;
    this.#end(status, reason);
    this.#abort(reason);
  }

  /** The object is being deleted: nothing is stored from now on. */
  async stop(): Promise<void> {
    this.#abort('the replay is being deleted');
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** Ends the replay if its key has ended, and has the key's current rights otherwise. Asks at most once per `limits.streamKeyCheckMs`. */
  async checkKey(): Promise<void> {
    const { clock, catalog } = this.#parts.wiring;
    const { workspace, keyId } = this.#principal;
    if (clock.now() - this.#checkedAt < limits.streamKeyCheckMs) return;
    this.#checkedAt = clock.now();
    const origin = originOf(this.#principal, this.#open.meta.createdAt);
    const rights = await catalog({ workspace, keyId }).originRights(origin);
    if (rights === null) this.cancel('The key that started it is not valid any more.');
    else {
      const { toolsets: _toolsets, agents: _agents, role: _role, egressHosts: _hosts, ...rest } = this.#principal;
      this.#principal = { ...rest, ...rights };
      // Drafts need rights that the key may not have any more.
      this.#replaced = null;
    }
  }

  #isGone(): boolean {
    return this.#parts.isDeleted(this.#open);
  }

  /** Returns false if no more cases may run now. */
  #start(row: CaseRow): boolean {
    const { pools } = this.#parts.wiring;
    const place = pools.turns.take(this.#principal);
    if (isShortage(place)) {
      this.#pause('There are too many turns in progress.');
      return false;
    }
    this.#store.markRunning(row.number);
    const abort = new AbortController();
    const done = this.#run(row, abort.signal, place).finally(() => {
      this.#running.delete(row.number);
      if (!this.#isGone()) this.fill();
    });
    this.#running.set(row.number, { abort, done });
    this.#parts.waitUntil(done);
    return true;
  }

  async #run(row: CaseRow, signal: AbortSignal, place: Parameters<typeof runCase>[1]['place']): Promise<void> {
    const { wiring } = this.#parts;
    const { log, ids } = wiring;
    const principal = this.#principal;
    try {
      const { unmatched } = this.#store.request();
      const replaced = await this.#replacements();
      const source = row.request === null ? { session: row.session ?? '', turn: row.turn ?? '' } : { request: row.request };
      const given = { principal, source, turn: ids.next('turn'), replaced, rules: this.#store.rulesOf(row), unmatched, place, signal };
      const result = await runCase({ ...wiring, aliases: wiring.settings.aliases }, given);
      const used = await usageOfCase(wiring.directory, principal, given.turn, result.used);
      await failpoint('replay-case-before-stored');
      if (this.#isGone()) return;
      if (this.#store.find(row.number)?.status === 'running') this.#settle(row, result, used.knownCost);
      // Cancelled meanwhile: it has been used nevertheless.
      if (used.report !== null) this.#open.usage.noteReport(used.report);
      this.#pausedAt = null;
    } catch (error) {
      if (this.#isGone() || this.#store.find(row.number)?.status !== 'running') return;
      if (error instanceof Problem && error.code === 'rate_limited') {
        this.#store.requeue(row.number);
        this.#pause(error.detail);
        return;
      }
      log.error('a case of a replay failed', { session: this.#parts.session, case: row.number, error: String(error) });
      this.#retry({ ...row, attempts: row.attempts + 1 }, error instanceof Problem ? error.detail : 'An internal error. Try again.');
    } finally {
      place.release();
    }
  }

  /** Of an attempt without a result. `reason`: why the case fails if it was the last one. */
  #retry(row: CaseRow, reason: string): void {
    this.#store.loseAttempt(row.number);
    if (row.attempts >= maxAttempts) this.#settle(row, { ...noResult, status: 'failed', reason });
  }

  /** Resolved once for the rights that the key has. Throws nothing: the replay ends if they cannot be used any more. */
  async #replacements(): Promise<Replacements> {
    const { wiring } = this.#parts;
    const deps = { catalog: wiring.catalog, aliases: wiring.settings.aliases };
    this.#replaced ??= readReplacements(deps, this.#principal, this.#store.request());
    try {
      return await this.#replaced;
    } catch (error) {
      this.#replaced = null;
      if (error instanceof Problem && error.code !== 'unavailable') this.cancel(error.detail, 'failed');
      throw error;
    }
  }

  /** The alarm starts the next cases. */
  #pause(reason: string): void {
    const now = this.#parts.wiring.clock.now();
    this.#pausedAt ??= now;
    if (now - this.#pausedAt > maxPauseMs) this.cancel(`No case could start for ${maxPauseMs / 60_000} minutes: ${reason}`, 'stopped');
    else {
      this.#resumesAt = now + pauseMs;
      this.#open.timers.set('replay', this.#resumesAt);
    }
  }

  #settle(row: CaseRow, result: CaseResult, knownCost = 0): void {
    this.#store.settle(row.number, result, knownCost);
    this.#open.log.append({ type: 'replay-case', number: row.number, status: result.status });
    this.#note();
  }

  #end(status: Exclude<Replay['status'], 'running'>, reason: string | null): void {
    const { clock } = this.#parts.wiring;
    const left = reason ?? 'The replay ended.';
    for (const number of this.#store.skipRest(left)) this.#open.log.append({ type: 'replay-case', number, status: 'skipped' });
    this.#store.end(status, reason, clock.now());
    this.#open.log.append({ type: 'replay-end', status });
    this.#note();
    this.#open.timers.set('replay', clock.now() + checkMs);
    this.#open.replay.run = null;
  }

  #abort(reason: string): void {
    for (const { abort } of this.#running.values()) abort.abort(new Error(reason));
  }

  /** For the lists. */
  #note(): void {
    this.#store.setListed(toListedReplay(viewReplay(this.#parts.session, this.#open, this.#store)));
    this.#open.summary.noteChange({ activeAt: this.#parts.wiring.clock.now() });
  }
}

/** Called by the alarm. */
export async function continueReplay(parts: ReplayParts, openSession: OpenSession): Promise<void> {
  const store = new ReplayStore(openSession.replay.sql);
  if (isRunning(openSession)) {
    const run = driveReplay(parts, openSession);
    await run.checkKey();
    run.fill();
    return;
  }
  await eraseGone(parts, openSession, store);
  openSession.timers.set('replay', parts.wiring.clock.now() + checkMs);
}

/** Cancels a replay that runs, whether or not this process drives it. */
export function cancelReplay(parts: ReplayParts, openSession: OpenSession, reason: string): void {
  if (isRunning(openSession)) driveReplay(parts, openSession).cancel(reason);
}

function isRunning({ replay: { sql } }: OpenSession): boolean {
  const row = new ReplayStore(sql).row();
  return row?.status === 'running' && row.isListed === 1;
}

/** Returns the run of a replay that has not ended. */
export function driveReplay(parts: ReplayParts, openSession: OpenSession): ReplayRun {
  const { replay } = openSession;
  if (replay.run instanceof ReplayRun) return replay.run;
  const run = new ReplayRun(parts, openSession);
  replay.run = run;
  return run;
}

/** Erases the replayed turns whose session or logged request was deleted. */
async function eraseGone({ wiring: { catalog, usage } }: ReplayParts, { meta }: OpenSession, store: ReplayStore): Promise<void> {
  const cases = store.casesWithContents();
  const idsOf = (name: 'session' | 'request'): string[] => [...new Set(cases.flatMap(({ [name]: id }) => id ?? []))];
  const stored = await storedRecordings({ catalog, usage }, meta.workspace, { sessions: idsOf('session'), requests: idsOf('request') });
  for (const row of cases) if (!stored.has(recordingOf(row))) store.eraseDetail(row.number);
}

/** Returns those of these ids whose recordings exist, also those that a caller may not read. The Catalog lists every session. */
export async function storedRecordings(
  { catalog, usage }: Pick<SessionNeeds, 'catalog' | 'usage'>,
  workspace: string,
  { sessions, requests }: { sessions: readonly string[]; requests: readonly string[] },
): Promise<ReadonlySet<string>> {
  const [known, logged] = await Promise.all([
    sessions.length === 0 ? [] : catalog(workspace).knownSessions(sessions),
    requests.length === 0 ? [] : usage.withBodies(workspace, requests),
  ]);
  return new Set([...known, ...logged]);
}

export function recordingOf({ session, request }: Pick<CaseRow, 'session' | 'request'>): string {
  return request ?? session ?? '';
}

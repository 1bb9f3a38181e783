/**
 * The cases of a replay, in pages: rows of the request log that a suite selects, the newest first, or those that it lists. A page reads a limited number of
 * rows and of sessions. A key that sees only its own requests gets only those.
 */
import { decodeCursor, encodeCursor } from '../../core/json/cursor.ts';
import { isCount } from '../../core/json/wire-value.ts';
import { visibleKey } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { RequestEntry } from '../../core/records/usage.ts';
import { dayOf } from '../../core/records/usage.ts';
import { defaultReplayCases, maxReplayCases, type SelectedCase, type SuiteCase, type SuiteSelection } from '../../core/replay/suite.ts';
import { matchesPieces } from '../../core/text/match-stars.ts';
import type { Sessions } from '../../ports/session.ts';
import type { RequestFilter, UsageReader } from '../../ports/usage.ts';
import { readSessionLog, readRecordedCalls } from '../configuration/recorded-turns.ts';
import { readPages } from '../read-pages.ts';

export type SelectionDeps = { usage: Pick<UsageReader, 'requests'>; sessions: Pick<Sessions, 'get'> };
export type CaseSource = { select?: SuiteSelection | undefined; cases?: readonly SuiteCase[] | undefined };
/** `now`: milliseconds since the epoch. */
export type CasePage = { cursor?: string | undefined; limit: number; now: number };

/**
 * `left`: what matched and is in no page so far, because there is more than the limit, or because it could not be read; at most
 * 1,000 of the former are counted. A page can be short or empty while `nextCursor` is set.
 */
export type SelectedCases = { cases: SelectedCase[]; left: number; nextCursor: string | null };

/** Throws `forbidden` for the requests of another key. */
export async function selectCases(
  deps: SelectionDeps,
  principal: Principal,
  { select, cases }: CaseSource,
  page: CasePage,
): Promise<SelectedCases> {
  return cases === undefined ? await selectRows(deps, principal, select ?? {}, page) : await listCases(deps, principal, cases, page);
}

const dayMs = 86_400_000;
const defaultDays = 30;
/** Pages of the request log that are read for one page of cases. */
const maxReads = 10;
/** Turns whose calls are read for one page of cases. */
const maxTurnsRead = 50;
const counting = { limit: 200, maxPages: 5 };
const selection = 'selected cases';

/** `taken`: in earlier pages. `to`: when the first page was read. */
type RowPosition = [cursor: string, taken: number, left: number, to: number];

async function selectRows(
  { usage, sessions }: SelectionDeps,
  principal: Principal,
  select: SuiteSelection,
  { cursor, limit, now }: CasePage,
): Promise<SelectedCases> {
  const { kind = 'turn', agent, model, status, tools, limit: most = defaultReplayCases } = select;
  const [start, taken, leftBefore, to] = decodeCursor(selection, cursor, isRowPosition) ?? [null, 0, 0, now];
  const key = visibleKey(principal, select.key);
  const given = Object.entries({ kind, key, agent, model, status }).filter(([, value]) => value !== undefined);
  // Of the members of a filter, those that are given.
  const filter = { ...rangeOf(select, to), where: Object.fromEntries(given) as RequestFilter };
  const fits = (row: RequestEntry): boolean =>
    row.status !== 'waiting' &&
    (select.toolset === undefined || row.toolset === select.toolset) &&
    (tools === undefined || row.toolCalls !== 0);
  const read = (page: { limit: number; cursor?: string }) => usage.requests(principal.workspace, { ...filter, ...page });

  const cases: SelectedCase[] = [];
  let left = leftBefore;
  let next = start;
  const room = (): number => Math.min(limit, most - taken) - cases.length;
  for (let reads = 0; room() > 0 && reads < (tools === undefined ? maxReads : 1); reads += 1) {
    const wanted = Math.min(room(), tools === undefined ? counting.limit : maxTurnsRead);
    const page = await read({ limit: wanted, ...(next !== null && { cursor: next }) });
    const rows = page.items.filter(fits);
    const kept = tools === undefined ? { rows, unread: 0 } : await withCallsOf(sessions, principal, tools, rows);
    cases.push(...kept.rows.map(toCase));
    left += kept.unread;
    next = page.nextCursor;
    if (next === null) return { cases, left, nextCursor: null };
  }
  if (taken + cases.length < most)
    return { cases, left, nextCursor: next === null ? null : encodeCursor(selection, [next, taken + cases.length, left, to]) };
  const rest = await readPages(read, { ...counting, cursor: next ?? undefined });
  return { cases, left: left + rest.items.filter(fits).length, nextCursor: null };
}

function isRowPosition(value: unknown): value is RowPosition {
  return Array.isArray(value) && value.length === 4 && typeof value[0] === 'string' && value.slice(1).every(isCount);
}

/** `now`: exclusive, so that later pages do not get newer rows. */
function rangeOf({ days = defaultDays, from, to }: SuiteSelection, now: number): { from: number; to: number } {
  const end = to === undefined ? now : Math.min(now, Date.parse(to) + dayMs);
  return { from: from === undefined ? Date.parse(dayOf(now)) - (days - 1) * dayMs : Date.parse(from), to: end };
}

/** The turns that called one of the tools. `unread`: turns whose log is gone or too long, so that this is not known. */
async function withCallsOf(
  sessions: SelectionDeps['sessions'],
  principal: Principal,
  tools: readonly string[],
  rows: readonly RequestEntry[],
): Promise<{ rows: RequestEntry[]; unread: number }> {
  const patterns = tools.map((pattern) => pattern.split('*'));
  const { calls, left } = await readRecordedCalls(sessions, principal, { rows, more: false });
  const called = calls.filter(({ canonical }) => canonical !== null && patterns.some((pieces) => matchesPieces(pieces, canonical)));
  const turns = new Set(called.map(({ session, turn }) => `${session} ${turn}`));
  return { rows: rows.filter(({ session, turn }) => turns.has(`${session} ${turn}`)), unread: left };
}

function toCase({ id, kind, at, session, turn, agent, model }: RequestEntry): SelectedCase {
  return { session, turn, request: kind === 'request' ? id : null, at, agent, model, rules: [], reason: null };
}

/** Sessions whose turns are listed for one page. */
const maxSessionsRead = 20;
const listing = 'listed cases';

/** `turns`: of the session at `index`, those in earlier pages. */
type CasePosition = [index: number, turns: number, taken: number, left: number];

async function listCases(
  { sessions }: SelectionDeps,
  principal: Principal,
  list: readonly SuiteCase[],
  { cursor, limit }: CasePage,
): Promise<SelectedCases> {
  let [index, turns, taken, left] = decodeCursor(listing, cursor, isCasePosition) ?? [0, 0, 0, 0];
  const cases: SelectedCase[] = [];
  for (let reads = 0; index < list.length && cases.length < limit && taken < maxReplayCases && reads < maxSessionsRead; ) {
    const given = list[index];
    if (given === undefined) break;
    const isWhole = 'session' in given && given.turn === undefined;
    const found = isWhole ? await turnsOf(sessions, principal, given) : { cases: [caseOf(given)], isCut: false };
    reads += isWhole ? 1 : 0;
    const added = found.cases.slice(turns, turns + Math.min(limit - cases.length, maxReplayCases - taken));
    cases.push(...added);
    taken += added.length;
    turns += added.length;
    if (turns < found.cases.length) continue;
    left += found.isCut ? 1 : 0;
    [index, turns] = [index + 1, 0];
  }
  if (index >= list.length) return { cases, left, nextCursor: null };
  if (taken >= maxReplayCases) return { cases, left: left + list.length - index, nextCursor: null };
  return { cases, left, nextCursor: encodeCursor(listing, [index, turns, taken, left]) };
}

function isCasePosition(value: unknown): value is CasePosition {
  return Array.isArray(value) && value.length === 4 && value.every(isCount);
}

function caseOf({ rules = [], ...given }: SuiteCase, more: Partial<SelectedCase> = {}): SelectedCase {
  const { session = null, turn = null, request = null } = given as { session?: string; turn?: string; request?: string };
  return { session, turn, request, at: null, agent: null, model: null, rules, reason: null, ...more };
}

/** The turns of a session, the oldest first. `isCut`: its log is too long to list all. */
async function turnsOf(
  sessions: SelectionDeps['sessions'],
  principal: Principal,
  given: Extract<SuiteCase, { session: string }>,
): Promise<{ cases: SelectedCase[]; isCut: boolean }> {
  const log = await readSessionLog(sessions, principal, given.session);
  if (log === null) return { cases: [caseOf(given, { reason: 'The session is gone, or belongs to another key.' })], isCut: false };
  const ended = new Set(log.events.flatMap((event) => (event.type === 'turn-end' ? [event.turn] : [])));
  const cases = log.events.flatMap((event): SelectedCase[] => {
    if (event.type !== 'turn-start') return [];
    const { turn, at, agent = null, model } = event;
    // The end of the last one may be in the part that was not read.
    const reason = ended.has(turn) || log.isCut ? null : 'The turn has not ended.';
    return [caseOf({ ...given, turn }, { at: new Date(at).toISOString(), agent, model, reason })];
  });
  if (cases.length > 0) return { cases, isCut: log.isCut };
  return { cases: [caseOf(given, { reason: 'The session has no turns.' })], isCut: log.isCut };
}

/** What holds after any crash: checked from outside, over the whole log of a session. */
import { expect } from 'vitest';
import type { StreamEvent } from '../e2e/service.ts';
import type { Cell } from './cell.ts';

export async function checkInvariants(cell: Cell, { waiting = false } = {}): Promise<void> {
  const events = await cell.events();
  checkNumbers(events, cell.before);
  checkCalls(events, waiting);
  checkTurns(cell, events, waiting);
  checkEffects(cell);
  await checkMessages(cell);
  await checkAudit(cell);
}

/** Events are numbered from 1 without gaps, and no number has changed since a reader received it. */
export function checkNumbers(events: StreamEvent[], before: StreamEvent[]): void {
  expect(
    events.map(({ id }) => id),
    'numbers without a gap',
  ).toEqual(events.map((_, index) => index + 1));
  expect(events.slice(0, before.length), 'what a reader had before').toEqual(before);
}

/** One result for each call; none for a call that a restart removed. */
export function checkCalls(events: StreamEvent[], waiting: boolean): void {
  const standing = new Map<string, number>();
  for (const { type, id, data } of events) {
    if (type === 'step-restart') for (const [callId, at] of standing) if (at >= Number(data.from)) standing.delete(callId);
    if (type === 'tool-input-start') standing.set(String(data.callId), id);
  }
  const results = events.filter(({ type }) => type === 'tool-result').map(({ data }) => String(data.callId));
  expect(new Set(results).size, 'at most one result a call').toBe(results.length);
  if (!waiting) expect([...results].sort(), 'one result for each call').toEqual([...standing.keys()].sort());
}

/** Each turn starts once and ends once, no event follows its end, and turns run in the order accepted. */
function checkTurns(cell: Cell, events: StreamEvent[], waiting: boolean): void {
  const accepted = cell.said.map(({ turn }) => turn);
  const started = turnsOf(events, 'turn-start');
  const ended = turnsOf(events, 'turn-end');
  expect(started, 'turns in the order accepted').toEqual(accepted);
  expect(ended, 'one end for each turn').toEqual(waiting ? accepted.slice(0, -1) : accepted);
  let open: unknown = null;
  for (const { type, data, id } of events) {
    if (type === 'turn-start') {
      expect(open, `event ${id}: a turn begins when the one before has ended`).toBe(null);
      open = data.turn;
    }
    expect(data.turn, `event ${id} belongs to the open turn`).toBe(open);
    if (type === 'turn-end') open = null;
  }
}

/** Unsafe calls run at most once; safe ones at most twice, with one key. */
function checkEffects(cell: Cell): void {
  const { upstream } = cell.lane;
  for (const name of upstream.namesUnder(cell.tag)) {
    const effects = upstream.effects(name);
    const safe = effects.every(({ method }) => method === 'GET');
    expect(effects.length, `effects of ${name}`).toBeLessThanOrEqual(safe ? 2 : 1);
    expect(new Set(effects.map(({ key }) => key)).size, `keys of ${name}`).toBe(1);
    expect(effects[0]?.key, `key of ${name}`).toMatch(/^call_/);
  }
}

/** A call that ended is in the audit once. */
async function checkAudit(cell: Cell): Promise<void> {
  const ended = await verdicts(cell);
  expect(new Set(ended).size, `one verdict for each call: ${ended.join(' ')}`).toBe(ended.length);
}

/** The ids of the calls that the audit says have ended, one for each row. Rows are sent after the end of a turn. */
export async function verdicts(cell: Cell): Promise<string[]> {
  const { status, json, text } = await cell.lane.call('GET', `/v1/audit?kind=call&limit=100&session=${cell.session}`);
  expect(status, text).toBe(200);
  const rows: { callId: string; verdict: string }[] = json.items;
  return rows.filter(({ verdict }) => ['ran', 'refused', 'outcome_unknown'].includes(verdict)).map(({ callId }) => callId);
}

/** Every message is in the transcript once, in order. */
async function checkMessages(cell: Cell): Promise<void> {
  const said = (await cell.messages()).filter(({ role }) => role === 'user').map(({ parts }) => parts.map(({ text }) => text).join(''));
  expect(said, 'every message, once and in order').toEqual(cell.said.map(({ text }) => text));
}

function turnsOf(events: StreamEvent[], type: string): unknown[] {
  return events.filter((event) => event.type === type).map(({ data }) => data.turn);
}

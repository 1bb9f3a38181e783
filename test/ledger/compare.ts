/** The ledger: what was accepted against what ended, and what had an effect against what was recorded. A row has the names that differ. */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkCalls, checkNumbers } from '../crash/invariants.ts';
import { usagePerReply } from '../crash/scripted-model.ts';
import type { StreamEvent } from '../e2e/service.ts';
import type { LedgerService } from './ledger-service.ts';
import { agent, brokenName, callbackName, eventsOf, isSafeName, subscriptionName, type DirectWork, type Work } from './work.ts';

// Lists of several shapes.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Item = any;

export type LedgerRow = { what: string; expected: number; found: number; differs: string[] };

const settleMs = 120_000;
const ended = ['completed', 'failed', 'cancelled', 'interrupted'];

export async function compareLedger(service: LedgerService, work: Work): Promise<LedgerRow[]> {
  const get = async (path: string) => {
    const { status, json, text } = await service.now().call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
    return json;
  };
  const all = async (path: string): Promise<Item[]> => {
    const items: Item[] = [];
    for (let cursor = ''; ; ) {
      const page = await get(`${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`);
      items.push(...page.items);
      if (page.nextCursor === null) return items;
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
  };
  await service.now().call('PATCH', '/v1/schedules/often', { paused: true });
  const settled = (items: readonly Item[]): boolean => items.every(({ status }) => !['pending', 'running', 'waiting'].includes(status));
  const [deliveries, runs] = await Promise.all(
    ['/v1/webhooks/hook/deliveries', '/v1/schedules/often/runs'].map((path) => untilIs(() => all(path), settled)),
  );
  const started = [...(deliveries ?? []), ...(runs ?? [])].filter(({ turn }) => turn !== null);
  const sessions = [...new Set([...work.turns.map(({ session }) => session), ...started.map(({ session }) => String(session))])];
  await Promise.all(
    sessions.map((session) =>
      untilIs(
        () => get(`/v1/sessions/${session}`),
        (one) => one.queued === 0 && (one.turn === null || ended.includes(one.turn.status)),
      ),
    ),
  );
  const logs = new Map<string, StreamEvent[]>();
  const unread: string[] = [];
  for (const session of sessions)
    await eventsOf(service, session).then(
      (events) => void logs.set(session, events),
      (error: unknown) => void unread.push(`${session}: ${String(error)}`),
    );

  const rows: LedgerRow[] = [];
  const row = (what: string, expected: number, found: number, differs: string[] = []): void => {
    rows.push({ what, expected, found, differs: differs.length === 0 && expected !== found ? ['the numbers differ'] : differs });
  };

  const ends = [...logs].flatMap(([session, events]) =>
    events.filter(({ type }) => type === 'turn-end').map(({ data }) => ({ session, turn: String(data.turn), data })),
  );
  const counts = Map.groupBy(ends, ({ turn }) => turn);
  const once = (turns: readonly string[]): string[] =>
    turns.filter((turn) => counts.get(turn)?.length !== 1).map((turn) => `${turn} ended ${counts.get(turn)?.length ?? 0} times`);
  const turns = work.turns.map(({ turn }) => turn);
  row('turns: accepted = ended', turns.length, turns.filter((turn) => counts.has(turn)).length, once(turns));
  const listed = new Map((deliveries ?? []).map((delivery) => [String(delivery.id), delivery]));
  const isLost = (id: string): boolean => !ended.includes(listed.get(id)?.status ?? '');
  const lost = work.deliveries.filter(isLost).map((id) => `${id} is ${listed.get(id)?.status ?? 'not listed'}`);
  row('deliveries: accepted = ended', work.deliveries.length, work.deliveries.length - lost.length, [
    ...lost,
    ...once(turnsOf(deliveries)),
  ]);
  const open = (runs ?? []).filter(({ status }) => ![...ended, 'skipped'].includes(status));
  row('runs of the schedule: listed = ended', runs?.length ?? 0, (runs?.length ?? 0) - open.length, once(turnsOf(runs)));
  row('sessions: events in order, one result a call', sessions.length, sessions.length, [
    ...unread,
    ...[...logs].flatMap(([session, events]) => faultsOf(session, events, work.read.get(session) ?? [])),
  ]);

  const calls = [...logs].flatMap(([session, events]) => callsOf(session, events));
  const effects = calls.filter(({ name }) => name !== '');
  row(
    'calls of turns: effects as results say',
    effects.length,
    effects.length,
    effects.flatMap((call) => faultOfCall(call, service, work)),
  );
  for (const [what, direct] of [
    ['chats', work.chats],
    ['calls over MCP', work.calls],
  ] as const)
    row(
      `${what}: effects as answers say`,
      direct.length,
      direct.length,
      direct.flatMap((one) => faultOfDirect(one, work)),
    );

  const audited = Map.groupBy(await all('/v1/audit?kind=call'), ({ callId }) => String(callId));
  row(
    'audit: a row a call',
    calls.length,
    calls.filter(({ id }) => audited.has(id)).length,
    calls.flatMap(({ id, name, code }) => {
      const verdicts = (audited.get(id) ?? []).map((one) => one.code ?? (one.verdict === 'ran' ? 'done' : String(one.verdict)));
      // A safe call that a restart repeats has a row each time.
      const isOne = verdicts.length === 1 || (isSafeName(name) && verdicts.length > 1);
      return isOne && verdicts.at(0) === (code ?? 'done') ? [] : [`${name} ${id} (${code ?? 'done'}): ${verdicts.join(', ') || 'no row'}`];
    }),
  );
  const checks: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const check: { ok: boolean; broken: unknown; nextCursor: string | null } = await get(
      `/v1/audit/verify${cursor && `?cursor=${encodeURIComponent(cursor)}`}`,
    );
    if (!check.ok) checks.push(JSON.stringify(check.broken));
    cursor = check.nextCursor;
  }
  row('audit: the chains are whole', 0, checks.length, checks);

  const used = ends.reduce((sum, { data }) => sum + tokensOf(data.usage), 0);
  const counted = await untilIs(
    () => usageOf(get),
    (tokens) => tokens === used,
  );
  row('usage: tokens of turns = counted', used, counted);
  row('usage: whole replies', 0, used % usagePerReply.prompt_tokens);

  for (const [name, expected] of [
    [callbackName, started.filter(({ status }) => ended.includes(status)).filter(({ id }) => listed.has(String(id))).length],
    [subscriptionName, ends.length],
  ] as const) {
    const keys = () => new Set(work.upstream.effects(name).map(({ key }) => key)).size;
    row(
      `callbacks: ${name}`,
      expected,
      await untilIs(
        async () => keys(),
        (found) => found >= expected,
      ),
    );
  }
  row('answers meanwhile', 0, work.wrong.length, work.wrong);
  return rows;
}

type Call = { id: string; name: string; session: string; turn: string; code: string | null; from: number };

const turnsOf = (items: readonly Item[] = []): string[] => items.filter(({ turn }) => turn !== null).map(({ turn }) => String(turn));

/** The calls of a log with their results; of a step that was restarted, only those that stand. */
function callsOf(session: string, events: readonly StreamEvent[]): Call[] {
  const names = new Map(
    events.filter(({ type }) => type === 'tool-input-end').map(({ data }) => [String(data.callId), nameOf(data.arguments)]),
  );
  return events
    .filter(({ type }) => type === 'tool-result')
    .map(({ data, id }) => ({
      ...{ id: String(data.callId), name: names.get(String(data.callId)) ?? '', session, turn: String(data.turn), from: id },
      code: data.isError === true ? String(data.code ?? 'error') : null,
    }));
}

/** The name of an effect in its URL. */
function nameOf(given: unknown): string {
  const { url } = (given ?? {}) as { url?: string };
  return url === undefined ? '' : decodeURIComponent(new URL(url).pathname.slice(1));
}

/** A call with an effect that was sent and not answered is unknown, and no other one. */
function faultOfCall({ name, code, turn }: Call, service: LedgerService, { upstream, turns }: Work): string[] {
  const found = upstream.effects(name);
  const wrong = (why: string): string[] => [`${name} (${code ?? 'done'}, ${found.length} effects): ${why}`];
  if (new Set(found.map(({ key }) => key)).size > 1) return wrong('has several keys');
  if (isSafeName(name)) {
    if (code === 'outcome_unknown') return wrong('a safe call is unknown');
    return code === null && found.length === 0 ? wrong('succeeded without an effect') : [];
  }
  if (found.length > 1) return wrong('happened more than once');
  if (code === null) return found.length === 1 ? [] : wrong('succeeded without an effect');
  if (code !== 'outcome_unknown') return found.length === 0 ? [] : wrong('happened, and the model is not told that it may have');
  const at = turns.find((one) => one.turn === turn)?.at ?? 0;
  const wasTrouble = service.troubles.some(([, to]) => to >= at);
  return brokenName.test(name) || wasTrouble ? [] : wrong('unknown without trouble');
}

function faultOfDirect({ tag, isAnswered }: DirectWork, { upstream }: Work): string[] {
  const count = upstream.effects(`${tag}/post`).length;
  if (count > 1) return [`${tag}: happened ${count} times`];
  return isAnswered && count === 0 ? [`${tag}: answered without an effect`] : [];
}

function faultsOf(session: string, events: StreamEvent[], read: StreamEvent[]): string[] {
  try {
    checkNumbers(events, read);
    checkCalls(events, false);
    return [];
  } catch (error) {
    return [`${session}: ${String(error).split('\n').slice(0, 6).join(' ')}`];
  }
}

function tokensOf(usage: unknown): number {
  return Number((usage as { inputTokens?: number } | undefined)?.inputTokens ?? 0);
}

/** Also what was counted on other days, while the clock was wrong. */
async function usageOf(get: (path: string) => Promise<{ items: { agent?: string; inputTokens?: number }[] }>): Promise<number> {
  const day = (ahead: number): string => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);
  const ranges = [
    [-2, 2],
    [363, 367],
  ] as const;
  const pages = await Promise.all(ranges.map(([from, to]) => get(`/v1/usage?by=agent&from=${day(from)}&to=${day(to)}`)));
  return pages
    .flatMap(({ items }) => items)
    .filter((item) => item.agent === agent)
    .reduce((sum, item) => sum + (item.inputTokens ?? 0), 0);
}

/** Returns what is found last, also if it is not so in time: the rows say what is missing. */
async function untilIs<T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (const end = performance.now() + settleMs; ; await sleep(500)) {
    const found = await look();
    if (isSo(found) || performance.now() > end) return found;
  }
}

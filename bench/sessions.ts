/**
 * The cost of many concurrent sessions and of a long one: 200 concurrent streams compared with as many through the floor's objects, a
 * session of 10,000 messages opened by a new process, a turn in it compared with one in a new session, and a turn beside a flooded session
 * compared with one alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { number, type Verdict } from './goals.ts';
import { median } from './load.ts';
import { measure } from './process-usage.ts';
import type { Servers } from './servers.ts';
import { createApi } from './setup.ts';

const streams = 200;
/** 100 pieces of text, 20 ms apart, like a model. */
const paced = 'mock-c100-p20';
/** A gap of this many times the pace counts as a stall. */
const stallMs = 2_000;

export async function measureSessions(servers: Servers, quick: boolean): Promise<Verdict[]> {
  return [
    ...(await measureStreams(servers)),
    await measureRows(servers),
    await measureNeighbour(servers),
    ...(await measureLongSession(servers, quick ? 1_000 : 5_000)),
  ];
}

/** `isWhole`: the stream had its last event. */
type Watched = { totalMs: number; firstMs: number; longestGapMs: number; events: number; isWhole: boolean; lastId: number };

/** Reads an SSE response to its end. */
async function watch(url: string, headers: Record<string, string>, body: unknown): Promise<Watched> {
  const started = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok || response.body === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  let last = performance.now();
  const seen: Watched = { totalMs: 0, firstMs: 0, longestGapMs: 0, events: 0, isWhole: false, lastId: 0 };
  const decoder = new TextDecoder();
  let end = '';
  for await (const chunk of response.body) {
    const now = performance.now();
    seen.firstMs ||= now - started;
    seen.longestGapMs = Math.max(seen.longestGapMs, now - last);
    last = now;
    const text = decoder.decode(chunk, { stream: true });
    seen.events += text.split('\n\n').length - 1;
    end = (end + text).slice(-2_000);
    seen.lastId = Number(
      text
        .match(/^id: ?(\d+)$/gm)
        ?.at(-1)
        ?.slice(3) ?? seen.lastId,
    );
  }
  seen.isWhole = /^event: turn-end$|^data: \[DONE\]$/m.test(end);
  seen.totalMs = performance.now() - started;
  return seen;
}

const bearer = ({ key }: Servers) => ({ authorization: `Bearer ${key}` });

async function makeSession(servers: Servers, model: string): Promise<string> {
  return (await createApi(servers).send<{ id: string }>('POST', '/v1/sessions', { model: `mock/${model}` })).id;
}

function runTurn(servers: Servers, id: string): Promise<Watched> {
  return watch(`${servers.ours.url}/v1/sessions/${id}/turns`, bearer(servers), { input: 'Hello' });
}

async function measureStreams(servers: Servers): Promise<Verdict[]> {
  const { floor, ours } = servers;
  const atFirst = measure(ours.pid).rssMb;
  const ids: string[] = [];
  for (let index = 0; index < streams; index += 1) ids.push(await makeSession(servers, paced));
  const idle = measure(ours.pid).rssMb;
  const body = { model: paced, messages: [{ role: 'user', content: 'Hello' }], stream: true };
  const floorSide = await together(floor.pid, (index) => watch(`${floor.url}/hop/s${index}/v1/chat/completions`, {}, body));
  const ourSide = await together(ours.pid, (index) => runTurn(servers, ids[index] ?? ''));
  const gap = Math.max(...ourSide.seen.map(({ longestGapMs }) => longestGapMs));
  const floorGap = Math.max(...floorSide.seen.map(({ longestGapMs }) => longestGapMs));
  const slowest = Math.max(...ourSide.seen.map(({ totalMs }) => totalMs));
  const floorSlowest = Math.max(...floorSide.seen.map(({ totalMs }) => totalMs));
  const isWhole = ourSide.seen.every((seen) => seen.isWhole);
  const fewest = Math.min(...ourSide.seen.map(({ events }) => events));
  const perStream = ((ourSide.peakMb - ourSide.beforeMb) * 1024) / streams;
  const floorPerStream = ((floorSide.peakMb - floorSide.beforeMb) * 1024) / streams;
  const perIdle = ((idle - atFirst) * 1024) / streams;
  return [
    {
      text:
        `${streams} sessions stream at once: longest silence of any ${gap.toFixed(0)} ms (floor ${floorGap.toFixed(0)}; a stall is ${stallMs}), ` +
        `slowest ${number(slowest / floorSlowest)} x the floor's, ${isWhole ? 'all whole' : 'some not whole'}, at least ${fewest} events of any`,
      holds: isWhole && gap < stallMs,
      required: true,
    },
    {
      text: `memory: ${perIdle.toFixed(0)} kB an idle session, ${perStream.toFixed(0)} kB a live stream (floor ${floorPerStream.toFixed(0)} kB) (reported)`,
      holds: true,
      required: false,
    },
  ];
}

/** Runs all of them concurrently, and returns the server's peak memory. */
async function together(pid: number, one: (index: number) => Promise<Watched>) {
  const beforeMb = measure(pid).rssMb;
  let peakMb = beforeMb;
  const state = { over: false };
  const sampling = (async () => {
    while (!state.over) {
      peakMb = Math.max(peakMb, measure(pid).rssMb);
      await sleep(200);
    }
  })();
  const seen = await Promise.all(Array.from({ length: streams }, (_, index) => one(index)));
  state.over = true;
  await sampling;
  return { seen, beforeMb, peakMb };
}

/** The log has one row per batch, not one per piece of text. */
async function measureRows(servers: Servers): Promise<Verdict> {
  const rows: number[] = [];
  for (const pace of ['p0', 'py', 'p5']) rows.push((await runTurn(servers, await makeSession(servers, `mock-c200-${pace}`))).lastId);
  const most = Math.max(...rows);
  return {
    text: `rows of the log for a turn of 200 pieces of text: ${rows.join(', ')} (at once, yielding, 5 ms apart; at most 60)`,
    holds: most <= 60,
    required: true,
  };
}

/** A session whose queue is kept full, and the turns of another one. Locally all objects share one thread; deployed they do not. */
async function measureNeighbour(servers: Servers): Promise<Verdict> {
  const [noisy, quiet] = [await makeSession(servers, 'mock-c200-py'), await makeSession(servers, 'mock-c20')];
  const ask = () =>
    fetch(`${servers.ours.url}/v1/sessions/${noisy}/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'respond-async', ...bearer(servers) },
      body: JSON.stringify({ input: 'Hello' }),
    });
  const p95 = async (): Promise<number> => {
    const times: number[] = [];
    for (let turn = 0; turn < 60; turn += 1) times.push((await runTurn(servers, quiet)).totalMs);
    return times.sort((one, other) => one - other)[56] ?? Number.NaN;
  };
  await p95();
  const alone = await p95();
  const state = { over: false, accepted: 0, refused: 0 };
  const flood = (async () => {
    while (!state.over) {
      const { status, body } = await ask();
      await body?.cancel();
      if (status === 202) state.accepted += 1;
      else state.refused += 1;
      // The queue is full: its own turns make room, and a rejected client waits.
      if (status !== 202) await sleep(20);
    }
  })();
  while (state.refused === 0) await sleep(20);
  const beside = await p95();
  state.over = true;
  await flood;
  // Cancels what is queued, so that the next measurement runs alone.
  await fetch(`${servers.ours.url}/v1/sessions/${noisy}`, { method: 'DELETE', headers: bearer(servers) });
  return {
    text:
      `a turn beside a session whose queue is full (${state.accepted} turns taken, ${state.refused} refused): p95 ${beside.toFixed(1)} ms, ` +
      `alone ${alone.toFixed(1)}: ${number(beside / alone)} x (at most 2; local objects share a thread)`,
    holds: beside / alone <= 2,
    required: false,
  };
}

async function measureLongSession(servers: Servers, turns: number): Promise<Verdict[]> {
  const long = await makeSession(servers, 'mock-c1');
  for (let index = 0; index < turns; index += 1) await runTurn(servers, long);
  const short = await makeSession(servers, 'mock-c1');
  await runTurn(servers, short);
  const opened: { view: number; turn: number }[] = [];
  for (const id of [short, long]) {
    await servers.restartOurs();
    const api = createApi(servers);
    // The isolate, its caches and the Catalog are warm; the session is not.
    await runTurn(servers, await makeSession(servers, 'mock-c1'));
    const started = performance.now();
    await api.send('GET', `/v1/sessions/${id}`);
    const view = performance.now() - started;
    opened.push({ view, turn: (await runTurn(servers, id)).totalMs });
  }
  const [fresh, aged] = opened;
  const later: { short: number[]; long: number[] } = { short: [], long: [] };
  const rows: { short: number[]; long: number[] } = { short: [], long: [] };
  for (let round = 0; round < 10; round += 1) {
    for (const [name, id] of [
      ['short', short],
      ['long', long],
    ] as const) {
      const seen = await runTurn(servers, id);
      later[name].push(seen.totalMs);
      rows[name].push(seen.events);
    }
  }
  const messages = turns * 2;
  return [
    {
      text:
        `a session of ${messages} messages opens in ${aged?.view.toFixed(0)} ms, its first turn takes ${aged?.turn.toFixed(0)} ms ` +
        `(a new one ${fresh?.view.toFixed(0)} and ${fresh?.turn.toFixed(0)}; at most 1000 together)`,
      holds: (aged?.view ?? Number.NaN) + (aged?.turn ?? Number.NaN) < 1_000,
      required: true,
    },
    {
      text:
        `a turn in it: ${number(median(rows.long) / median(rows.short))} x the rows of one in a new session (1), ` +
        `${median(later.long).toFixed(1)} ms against ${median(later.short).toFixed(1)}`,
      holds: median(rows.long) <= median(rows.short) + 1,
      required: true,
    },
  ];
}

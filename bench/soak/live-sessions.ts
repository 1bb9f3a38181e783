/** A thousand sessions at once, each with a reader of its events and a turn in progress: time, memory, open files, and whether each reader got everything. */
import { setTimeout as sleep } from 'node:timers/promises';
import { number, type Verdict } from '../goals.ts';
import { percentile } from '../load.ts';
import { measureRuntime } from '../process-usage.ts';
import type { Report } from '../report.ts';
import type { Servers } from '../servers.ts';
import { createApi, setUp } from '../setup.ts';

/** The last size again: memory that the runtime has kept is used again, memory that it has lost is not. */
const sizes = [100, 1_000, 1_000];
/** 20 pieces of text, 200 ms apart: about 4 seconds, in which all turns overlap. */
const model = 'mock/mock-c20-p200';
const paceMs = 4_000;
const creatorsAtOnce = 16;
const readerTimeoutMs = 120_000;

export async function measureLiveSessions(servers: Servers, report: Report): Promise<Verdict[]> {
  await setUp(servers);
  report.section(
    'Sessions live at once',
    `Each has an open stream of its events and a turn of ${paceMs / 1_000} s, all started together. "Created": time to create all, ${creatorsAtOnce} at once. "Slowest turn": from its start to the end of its events at its reader. Memory and open files are those of the runtime: before, at most, and 30 s after.`,
  );
  report.table([
    'sessions',
    'created s',
    'ms each',
    'slowest turn s',
    'p50 s',
    'memory MB',
    'kB each',
    'open files',
    'not completed',
    'incomplete readers',
  ]);
  const verdicts: Verdict[] = [];
  for (const size of sizes) {
    const api = createApi(servers);
    const before = measureRuntime(servers.ours.pid);
    const started = performance.now();
    const ids: string[] = [];
    const create = async (): Promise<void> => {
      while (ids.length < size) {
        // Reserves its place, so that no client creates one too many.
        const at = ids.push('') - 1;
        ids[at] = (await api.send<{ id: string }>('POST', '/v1/sessions', { model })).id;
      }
    };
    await Promise.all(Array.from({ length: creatorsAtOnce }, create));
    const createdMs = performance.now() - started;
    const most = { ...before };
    const state = { over: false };
    const sampling = (async () => {
      while (!state.over) {
        const { rssMb, openFiles } = measureRuntime(servers.ours.pid);
        most.rssMb = Math.max(most.rssMb, rssMb);
        most.openFiles = Math.max(most.openFiles, openFiles);
        await sleep(200);
      }
    })();
    const readers = await Promise.all(ids.map((id) => read(servers, id)));
    const turns = await Promise.all(readers.map((reader) => reader.runTurn()));
    state.over = true;
    await sampling;
    await sleep(30_000);
    const after = measureRuntime(servers.ours.pid);
    const times = turns.map(({ ms }) => ms).toSorted((one, other) => one - other);
    const gaps = turns.flatMap(({ gap }) => gap ?? []);
    const unfinished = turns.filter(({ completed }) => !completed).length;
    report.row([
      size,
      number(createdMs / 1_000),
      number(createdMs / size),
      number((times.at(-1) ?? Number.NaN) / 1_000),
      number(percentile(times, 0.5) / 1_000),
      `${before.rssMb.toFixed(0)}, ${most.rssMb.toFixed(0)}, ${after.rssMb.toFixed(0)}`,
      (((most.rssMb - before.rssMb) * 1_024) / size).toFixed(0),
      `${before.openFiles}, ${most.openFiles}, ${after.openFiles}`,
      unfinished,
      gaps.length,
    ]);
    verdicts.push({
      text: `${size} sessions live at once: ${unfinished} turns not completed, ${gaps.length} readers with a gap in the events${gaps.length > 0 ? ` (the first one: ${gaps[0]})` : ''}; the slowest turn ended after ${number((times.at(-1) ?? 0) / 1_000)} s`,
      holds: gaps.length + unfinished === 0,
      required: true,
    });
  }
  return verdicts;
}

/** Opens the stream of a session's events; `runTurn` starts a turn and resolves when the stream has shown its end. */
async function read({ ours, key }: Servers, id: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `${ours.url}/v1/sessions/${id}`;
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(readerTimeoutMs)]);
  const response = await fetch(`${url}/events?after=0`, { headers, signal });
  if (!response.ok || response.body === null) throw new Error(`events of ${id}: ${response.status}`);
  const { body } = response;
  return {
    async runTurn(): Promise<{ ms: number; completed: boolean; gap: string | null }> {
      const started = performance.now();
      const accepted = await fetch(`${url}/turns`, {
        method: 'POST',
        headers: { ...headers, prefer: 'respond-async' },
        body: JSON.stringify({ input: 'Hello' }),
        signal,
      });
      await accepted.text();
      if (accepted.status !== 202) throw new Error(`a turn of ${id}: ${accepted.status}`);
      let text = '';
      const decoder = new TextDecoder();
      try {
        for await (const chunk of body) {
          text += decoder.decode(chunk, { stream: true });
          if (/^event: ?turn-end$[\s\S]*?\n\n/m.test(text)) break;
        }
      } finally {
        abort.abort();
      }
      const ids = [...text.matchAll(/^id: ?(\d+)$/gm)].map((match) => Number(match[1]));
      return {
        ms: performance.now() - started,
        completed: /"type":"turn-end"[^\n]*"status":"completed"/.test(text),
        gap: gapIn(ids),
      };
    },
  };
}

/** Returns what is wrong with the numbers of a reader's events; null: they count from 1. */
function gapIn(ids: readonly number[]): string | null {
  if (ids.length === 0) return 'no event';
  const at = ids.findIndex((id, index) => id !== index + 1);
  return at === -1 ? null : `${ids.length} events, with ${ids[at]} after ${ids[at - 1] ?? 'the start'}`;
}

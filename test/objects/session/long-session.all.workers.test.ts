/** What a long session costs, and long results, over the real storage. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import { contentText } from '../../../src/core/tools/tool.ts';
import type { TurnAnswer } from '../../../src/ports/session.ts';
import { EventLog } from '../../../src/objects/session/log/event-log.ts';
import { TurnStore } from '../../../src/objects/session/turn/turn-store.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { onBusyMachine } from '../../busy-machine.ts';
import { waitFor } from '../../wait-for.ts';
import { sessionSql } from './session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const services = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'k1', scopes: ['admin'] };
const model = 'rehearsal/default';
const usage = { inputTokens: 1, outputTokens: 1 };
const text = (value: string) => [{ type: 'text' as const, text: value }];

const make = async () => {
  const { id } = await services.sessions.create(owner, { model, listed: false });
  return { session: services.sessions.get(id), stub: bindings.SESSION.get(bindings.SESSION.idFromString(id)) };
};
type Made = Awaited<ReturnType<typeof make>>;

const planFor = (toolset?: string) => services.planTurn(owner, { model, ...(toolset !== undefined && { toolset }) });

async function turn({ session }: Made, plan: Plan, input: string): Promise<TurnAnswer> {
  const submitted = await session.submit(owner, { plan, input: text(input) });
  return await session.waitForAnswer(owner, submitted.turn);
}

/** Appends this many whole turns, two messages each, as the runner writes them. */
async function fill({ stub }: Made, plan: Plan, count: number): Promise<void> {
  await runInDurableObject(stub, (_, state) => {
    const turns = new TurnStore(sessionSql(state.storage), Date.now);
    const log = new EventLog(sessionSql(state.storage), Date.now);
    for (let index = 0; index < count; index += 1) {
      const id = `old_${index}`;
      turns.accept(id, plan, text('?'));
      turns.markStarted(id, log.newest);
      log.append({ type: 'turn-start', turn: id, input: turns.takeInput(id), model });
      log.append({ type: 'step-start', turn: id, step: 1 });
      log.append({ type: 'text-delta', turn: id, step: 1, text: `answer ${index}` });
      log.append({ type: 'usage', turn: id, step: 1, usage });
      log.append({ type: 'step-end', turn: id, step: 1, reason: 'stop', model });
      const last = log.append({ type: 'turn-end', turn: id, status: 'completed', reason: 'stop', usage });
      turns.markEnded(id, 'completed', 'stop', last.id);
    }
  });
  // A new life of the object, with nothing in memory yet.
  await evictDurableObject(stub);
}

type Counts = { rowsRead: number; rowsWritten: number; bytesWritten: number };

/** Counts what the session's storage does until the returned function is called, in this life of the object. */
async function count({ stub }: Made): Promise<() => Promise<Counts>> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  let bytesWritten = 0;
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    Object.defineProperty(sql, 'exec', {
      configurable: true,
      value: (query: string, ...values: SqlStorageValue[]) => {
        const cursor = exec(query, ...values);
        // The number of rows with nothing but text depends on the clock, and the text on the model.
        if (String(values[2]).startsWith('{"type":"text-delta"')) return cursor;
        cursors.push(cursor);
        if (/^\s*(INSERT|UPDATE)/i.test(query) && !String(values[2]).includes('"type":"text-delta"'))
          for (const value of values) bytesWritten += String(value).length;
        return cursor;
      },
    });
  });
  return () =>
    runInDurableObject(stub, (_, { storage: { sql } }) => {
      Reflect.deleteProperty(sql, 'exec');
      const sum = (field: 'rowsRead' | 'rowsWritten') => cursors.reduce((total, cursor) => total + cursor[field], 0);
      return { rowsRead: sum('rowsRead'), rowsWritten: sum('rowsWritten'), bytesWritten };
    });
}

/** Waits until everything about the turn was sent. In a new isolate the subscribers are unknown at first, so it may have notices. */
async function sent({ stub }: Made): Promise<void> {
  const queries = ['SELECT sequence FROM notices', 'SELECT sequence FROM usage_ranges', 'SELECT id FROM summary WHERE revision > sent'];
  const waiting = (): Promise<object> =>
    runInDurableObject(stub, (_, { storage }) => queries.flatMap((query) => sessionSql(storage).exec(query).toArray()));
  await waitFor(async () => expect(await waiting()).toEqual([]));
}

it('writes few rows for a turn with a tool', { retry: onBusyMachine }, async () => {
  await services.catalog('default').put('toolset', 'clock', { tools: [{ tool: 'local.current_time', name: 'current_time', aliases: [] }] });
  const plan = await planFor('clock');
  const made = await make();
  await turn(made, plan, '/current_time {}');
  await sent(made);
  const stop = await count(made);
  expect(await turn(made, plan, '/current_time {}')).toMatchObject({ status: 'completed', toolCalls: [{ isError: false }] });
  await sent(made);
  const { rowsWritten } = await stop();
  // As SQLite counts them: rows of tables, of indexes, and of the counters of AUTOINCREMENT.
  expect(rowsWritten).toBeGreaterThan(12);
  expect(rowsWritten).toBeLessThanOrEqual(20);
});

describe('a long session', () => {
  // Text is stored at intervals, so that a pause of the machine adds a row.
  it('writes as many rows and bytes for a turn after ten thousand messages as after twenty', { retry: onBusyMachine }, async () => {
    const plan = await planFor();
    const costs = async (turns: number): Promise<Counts> => {
      const made = await make();
      await fill(made, plan, turns);
      // The first turn of a life reads the conversation; any later turn is counted.
      await turn(made, plan, 'hello');
      await sent(made);
      const stop = await count(made);
      expect(await turn(made, plan, 'hello')).toMatchObject({ status: 'completed' });
      await sent(made);
      return await stop();
    };
    const [short, long] = [await costs(10), await costs(5_000)];
    expect(short.rowsWritten).toBeGreaterThan(5);
    expect(long.rowsWritten).toBe(short.rowsWritten);
    // Event numbers have more digits.
    expect(long.bytesWritten - short.bytesWritten).toBeLessThan(200);
    expect(long.rowsRead - short.rowsRead).toBeLessThan(50);
  });

  it('is read without loading its conversation, and continues from all of it', async () => {
    const made = await make();
    const plan = await planFor();
    await fill(made, plan, 5_000);
    const stop = await count(made);
    expect(await made.session.view(owner)).toMatchObject({ turn: { id: 'old_4999', status: 'completed' }, queued: 0 });
    expect(await made.session.waitForAnswer(owner, 'old_17')).toMatchObject({ text: 'answer 17' });
    // One page of the log for the old response; the log has 30,000 events.
    expect((await stop()).rowsRead).toBeLessThan(700);
    expect(await turn(made, plan, 'hello')).toMatchObject({ status: 'completed' });
    const page = await made.session.messages(owner, { limit: 3 });
    expect(page.items.map(({ turn: of, role }) => `${of} ${role}`)).toEqual(['old_0 user', 'old_0 assistant', 'old_1 user']);
    const whole = await made.session.messages(owner);
    expect([whole.items.length, whole.nextCursor]).toEqual([10_000, expect.any(String)]);
    expect((await made.session.messages(owner, { cursor: whole.nextCursor ?? '' })).items).toHaveLength(2);
  });

  it('is compacted over its budget, shows people everything, and resumes after a restart from the compaction', async () => {
    const made = await make();
    const plan = { ...(await planFor()), limits: { maxContextTokens: 1_000 } };
    await fill(made, plan, 600);
    expect(await turn(made, plan, 'hello')).toMatchObject({ status: 'completed' });
    const events = await runInDurableObject(made.stub, (_, state) => [...new EventLog(sessionSql(state.storage), Date.now).readAll(3_600)]);
    const [compaction, ...more] = events.filter(({ type }) => type === 'compaction');
    expect(more).toEqual([]);
    expect(compaction).toMatchObject({ through: expect.stringMatching(/^old_\d+$/), summary: expect.stringMatching(/./) });
    expect((await made.session.messages(owner)).items).toHaveLength(1_202);

    await evictDurableObject(made.stub);
    const stop = await count(made);
    expect(await turn(made, plan, 'again')).toMatchObject({ status: 'completed' });
    expect((await stop()).rowsRead).toBeLessThan(1_500);
  });
});

describe('a result of five megabytes', () => {
  it('is cut for the model, stored whole, and can be read in pieces in the same turn', async () => {
    await services.catalog('default').put('toolset', 'long-results', { tools: [{ tool: 'builtin.read_file' }] });
    const plan = await planFor('long-results');
    const made = await make();
    const whole = Array.from({ length: 350_000 }, (_, index) => `line ${index} é`).join('\n');
    await made.session.writeFile(owner, 'big.txt', new TextEncoder().encode(whole));

    const first = await turn(made, plan, '/read_file {"path": "big.txt"}\n\n/fetch_result {"callId": "unknown"}');
    expect(first.toolCalls.map(({ canonical, isError }) => [canonical, isError])).toEqual([
      ['builtin.read_file', false],
      ['builtin.fetch_result', true],
    ]);
    const shown = contentText(first.toolCalls[0]?.content ?? []);
    expect(shown.length).toBeLessThan(70_000);
    let next = JSON.parse(/fetch_result (\{.*?\})/.exec(shown)?.[1] ?? 'null') as { callId: string; offset: number } | null;
    expect(next?.callId).toBe(first.toolCalls[0]?.callId);

    let read = shown.slice(0, next?.offset);
    for (let pieces = 0; next !== null && pieces < 3; pieces += 1) {
      const { toolCalls } = await turn(made, plan, `/fetch_result ${JSON.stringify(next)}`);
      const [piece, note] = toolCalls[0]?.content ?? [];
      read += piece?.type === 'text' ? piece.text : '';
      next = JSON.parse(/fetch_result (\{.*?\})/.exec(note?.type === 'text' ? note.text : '')?.[1] ?? 'null');
    }
    expect(read.length).toBeGreaterThan(190_000);
    expect(whole.startsWith(read)).toBe(true);
    const end = await turn(made, plan, `/fetch_result ${JSON.stringify({ ...next, offset: whole.length - 10 })}`);
    expect(contentText(end.toolCalls[0]?.content ?? [])).toContain('This is the end of the result');
  });
});

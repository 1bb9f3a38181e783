import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { Plan } from '../../../../src/core/turn/plan.ts';
import type { Message } from '../../../../src/core/model/message.ts';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { createResultStore } from '../../../../src/objects/session/log/result-store.ts';
import { EventLog } from '../../../../src/objects/session/log/event-log.ts';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { createLogTranscript } from '../../../../src/objects/session/log/transcript-log.ts';
import { readMessages } from '../../../../src/objects/session/log/transcript-pages.ts';
import { TurnStore } from '../../../../src/objects/session/turn/turn-store.ts';
import { encodeCursor } from '../../../../src/core/json/cursor.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

const plan: Plan = { model: 'a/b', fallbacks: [], instructions: '', allow: null, aliases: true, limits: {}, settings: {} };
const usage = { inputTokens: 0, outputTokens: 0 };
const text = (value: string) => [{ type: 'text' as const, text: value }];

/** A session of turns `t0`, `t1` …, each with input and response; counts the rows that its log reads. */
function session() {
  const sql = fakeSql(sessionMigrations);
  const reads = { rows: 0 };
  const counting = {
    exec: (query: string, ...bindings: never[]) => {
      const rows = sql.exec(query, ...bindings);
      if (query.includes('FROM events WHERE')) reads.rows += rows.toArray().length;
      return rows;
    },
    // The log uses nothing else of it.
  } as unknown as SqlStorage;
  const turns = new TurnStore(sql, Date.now);
  let log = new EventLog(counting, Date.now);
  const results = createResultStore(sql);
  let transcript = createLogTranscript(sql, log, results);
  const append = (event: SessionEventBody): number => {
    const { id } = log.append(event);
    transcript.apply(event);
    return id;
  };
  const begin = (turn: string, input = turn): void => {
    turns.accept(turn, plan, text(input));
    turns.markStarted(turn, log.newest);
    append({ type: 'turn-start', turn, input: turns.takeInput(turn), model: 'a/b' });
  };
  const end = (turn: string, answer = `re ${turn}`): void => {
    append({ type: 'step-start', turn, step: 1 });
    append({ type: 'text-delta', turn, step: 1, text: answer });
    append({ type: 'step-end', turn, step: 1, reason: 'stop', model: 'a/b' });
    turns.markEnded(turn, 'completed', 'stop', append({ type: 'turn-end', turn, status: 'completed', reason: 'stop', usage }));
  };
  return {
    turns,
    log: () => log,
    results,
    reads,
    append,
    begin,
    end,
    talk: (count: number): void => {
      for (let index = 0; index < count; index += 1) {
        begin(`t${index}`);
        end(`t${index}`);
      }
    },
    now: () => transcript,
    /** The same session in a new process. */
    reopen: () => {
      log = new EventLog(counting, Date.now);
      transcript = createLogTranscript(sql, log, results);
      reads.rows = 0;
      return transcript;
    },
  };
}

const texts = (messages: readonly Message[]) =>
  messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));

describe("a session's transcript", () => {
  it('stores the images that fall out of its window, also in a new process, and says how to fetch them', () => {
    const own = session();
    const data = 'A'.repeat(4 * 1_024 * 1_024);
    const count = Math.ceil(limits.maxConversationMediaBytes / data.length) + 1;
    own.begin('t');
    own.now().messages();
    for (let step = 1; step <= count; step += 1) {
      const call = { turn: 't', step, callId: `c${step}`, name: 'look', canonical: 'web.look', via: 'wire' } as const;
      own.append({ type: 'step-start', turn: 't', step });
      own.append({ type: 'tool-input-start', ...call });
      own.append({ type: 'tool-input-end', ...call, arguments: {}, repaired: false });
      own.append({ type: 'step-end', turn: 't', step, reason: 'tool-calls', model: 'a/b' });
      own.append({ type: 'tool-result', ...call, isError: false, content: [{ type: 'image', data, mimeType: 'image/png' }] });
    }
    own.reopen();
    const shown = own
      .now()
      .messages()
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? part.content : [])));
    const note = (callId: string) => `[image: image/png, not shown again. To see it, call fetch_result {"callId":"${callId}","offset":0}]`;
    expect(shown[0]).toEqual({ type: 'text', text: note('c1') });
    expect(shown.at(-1)).toMatchObject({ type: 'image' });
    expect(own.results.read('c1', 0, 1_000)?.media).toEqual([{ type: 'image', data, mimeType: 'image/png' }]);
    expect(own.results.has(`c${count}`)).toBe(false);
  });

  it('reads nothing of the log until a model needs it', () => {
    const { talk, reopen, reads } = session();
    talk(3);
    const transcript = reopen();
    expect(reads.rows).toBe(0);
    expect(texts(transcript.messages())).toEqual(['t0', 're t0', 't1', 're t1', 't2', 're t2']);
    expect(reads.rows).toBeGreaterThan(0);
  });

  it('reads only what follows the last compaction, however long the log before it', () => {
    const rowsFor = (count: number): number => {
      const { talk, begin, end, append, reopen, reads } = session();
      talk(count);
      begin('now');
      append({ type: 'compaction', turn: 'now', through: `t${count - 2}`, summary: 'SUMMARY' });
      end('now');
      const transcript = reopen();
      expect(texts(transcript.messages())).toEqual([expect.stringContaining('SUMMARY'), `re t${count - 1}`, 'now', 're now']);
      return reads.rows;
    };
    expect(rowsFor(200)).toBe(rowsFor(5));
  });

  it('shows the same after a restart as before it', () => {
    const { talk, begin, end, append, now, reopen } = session();
    append({ type: 'history', messages: [{ role: 'user', parts: text('imported') }] });
    talk(4);
    begin('a');
    append({ type: 'compaction', turn: 'a', through: '', summary: 'first' });
    end('a');
    expect(reopen().summary()).toBe('first');
    begin('b');
    append({ type: 'compaction', turn: 'b', through: 't2', summary: 'second' });
    const before = [now().messages(), now().tokens(), now().everything()];
    const transcript = reopen();
    expect([transcript.messages(), transcript.tokens(), transcript.everything()]).toEqual(before);
    expect(texts(transcript.everything().flatMap(({ messages }) => messages)).slice(0, 3)).toEqual(['imported', 't0', 're t0']);
  });
});

it('reads the log before a compaction once for all histories that clients resend', () => {
  const { talk, begin, end, append, reopen, reads } = session();
  talk(20);
  begin('now');
  append({ type: 'compaction', turn: 'now', through: 't18', summary: 'SUMMARY' });
  end('now');
  const transcript = reopen();
  const first = transcript.everything();
  reads.rows = 0;
  expect(transcript.everything()).toEqual(first);
  begin('next');
  end('next');
  expect(reads.rows).toBe(0);
  expect(texts(transcript.everything().flatMap(({ messages }) => messages)).slice(-4)).toEqual(['now', 're now', 'next', 're next']);
});

describe('the transcript for people', () => {
  it('is complete after a compaction, in pages that join to the whole', () => {
    const { talk, begin, append, log, turns } = session();
    append({
      type: 'history',
      messages: [
        { role: 'user', parts: text('imported 1') },
        { role: 'assistant', parts: text('imported 2') },
      ],
    });
    talk(5);
    begin('now');
    append({ type: 'compaction', turn: 'now', through: 't3', summary: 'hidden' });
    const whole = readMessages({ log: log(), turns }, {});
    expect(whole.nextCursor).toBeNull();
    expect(whole.items).toHaveLength(13);
    expect(whole.items.map(({ turn }) => turn).slice(0, 4)).toEqual(['', '', 't0', 't0']);
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 2, 3, 5, 13]) {
        const joined: unknown[] = [];
        let cursor: string | null | undefined;
        while (cursor !== null) {
          const page = readMessages({ log: log(), turns }, { limit, order, ...(cursor !== undefined && { cursor }) });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          joined.push(...page.items);
          cursor = page.nextCursor;
        }
        expect(joined, `${order} ${limit}`).toEqual(order === 'asc' ? whole.items : whole.items.toReversed());
      }
  });

  it('reads only the last turns for a page of the newest messages, and sees what follows a cursor', () => {
    const { talk, begin, end, log, turns, reads, append } = session();
    append({ type: 'history', messages: [{ role: 'user', parts: text('imported') }] });
    talk(50);
    reads.rows = 0;
    const page = readMessages({ log: log(), turns }, { limit: 3, order: 'desc' });
    expect(page.items.map(({ parts }) => parts[0]?.text)).toEqual(['re t49', 't49', 're t48']);
    expect(reads.rows).toBeLessThan(20);
    begin('later');
    end('later');
    const next = readMessages({ log: log(), turns }, { limit: 2, order: 'desc', cursor: page.nextCursor ?? '' });
    expect(next.items.map(({ parts }) => parts[0]?.text)).toEqual(['t48', 're t47']);
    expect(() => readMessages({ log: log(), turns }, { cursor: page.nextCursor ?? '' })).toThrow(/cursor/);
    // Beyond the log: nothing that does not exist.
    const beyond = encodeCursor('messages desc', { event: 999_999, index: 0 });
    expect(readMessages({ log: log(), turns }, { order: 'desc', cursor: beyond, limit: 1 }).items).toMatchObject([{ turn: 'later' }]);
  });

  it('shows a waiting call without a result, which models do not see', () => {
    const { begin, append, log, now, turns } = session();
    begin('t0');
    const at = { turn: 't0', step: 1 };
    const call = { ...at, callId: 'c', name: 'asks', canonical: 'builtin.bash', via: null };
    append({ type: 'step-start', ...at });
    append({ type: 'tool-input-start', ...call });
    expect(readMessages({ log: log(), turns }, {}).items).toHaveLength(1);
    append({ type: 'tool-input-end', ...at, callId: 'c', arguments: { command: 'date' }, repaired: false });
    append({ type: 'step-end', ...at, reason: 'tool-calls', model: 'a/b' });
    const waiting = readMessages({ log: log(), turns }, {});
    expect(waiting.items).toMatchObject([
      { role: 'user' },
      { role: 'assistant', turn: 't0', parts: [{ type: 'tool-call', callId: 'c', arguments: { command: 'date' } }] },
    ]);
    expect(now().messages()).toHaveLength(1);
    append({ type: 'tool-result', ...call, isError: false, content: text('now') });
    expect(readMessages({ log: log(), turns }, {}).items).toMatchObject([...waiting.items, { role: 'tool', parts: [{ callId: 'c' }] }]);
  });

  it('ends a page by its bytes', () => {
    const { begin, end, log, turns } = session();
    for (const turn of ['t0', 't1', 't2']) {
      begin(turn, 'x'.repeat(3_000_000));
      end(turn, 'ok');
    }
    const page = readMessages({ log: log(), turns }, {});
    expect(page.items.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(readMessages({ log: log(), turns }, { cursor: page.nextCursor ?? '' }).items.map(({ role }) => role)).toEqual([
      'assistant',
      'user',
      'assistant',
    ]);
  });

  it('is empty at first, and refuses a cursor of another list', () => {
    const { log, turns } = session();
    expect(readMessages({ log: log(), turns }, {})).toEqual({ items: [], places: [], nextCursor: null });
    expect(() => readMessages({ log: log(), turns }, { cursor: 'nonsense' })).toThrow(/cursor/);
  });
});

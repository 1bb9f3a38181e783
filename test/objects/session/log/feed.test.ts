import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { encodeEvent, encodeProblem, heartbeatFrame } from '../../../../src/dialects/native.ts';
import { EventLog } from '../../../../src/objects/session/log/event-log.ts';
import { createFeed } from '../../../../src/objects/session/log/feed.ts';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { fakeClock } from '../../../fakes/runtime.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { eventTailCharacters } from '../../../../src/objects/session/log/event-log.ts';
import { waitFor } from '../../../wait-for.ts';

function open(encode = encodeEvent) {
  const clock = fakeClock();
  const log = new EventLog(fakeSql(sessionMigrations), clock.now);
  let gone = false;
  const reader = createFeed({ log, clock, after: 0, isDeleted: () => gone }, 'mine', { event: encode, problem: encodeProblem }).getReader();
  const heard: string[] = [];
  const pump = async (): Promise<void> => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) heard.push(new TextDecoder().decode(read.value));
  };
  const leave = (): void => {
    gone = true;
    log.wakeReaders();
  };
  return { clock, log, heard, leave, done: pump() };
}

const usage = { inputTokens: 0, outputTokens: 0 };

describe("a turn's feed", () => {
  it('makes the log followed while its reader waits, and until the next heartbeat after the reader stopped reading', async () => {
    const clock = fakeClock();
    const log = new EventLog(fakeSql(sessionMigrations), clock.now);
    expect(log.isFollowed()).toBe(false);
    const stream = createFeed({ log, clock, after: 0, isDeleted: () => false }, 'mine', { event: encodeEvent, problem: encodeProblem });
    const reader = stream.getReader();
    for (let read = 0; read < 3; read += 1) {
      const heartbeat = reader.read();
      await clock.advance(1);
      expect(log.isFollowed()).toBe(true);
      await clock.advance(limits.heartbeatMs);
      await heartbeat;
    }
    await clock.advance(2 * limits.heartbeatMs);
    expect(log.isFollowed()).toBe(false);
  });

  it('buffers one page for a reader that never reads, and all of it can be read later', async () => {
    const clock = fakeClock();
    const log = new EventLog(fakeSql(sessionMigrations), clock.now);
    const reads = vi.spyOn(log, 'read');
    const stream = createFeed({ log, clock, after: 0, isDeleted: () => false }, 'mine', { event: encodeEvent, problem: encodeProblem });
    // Like a socket whose buffer is full: it pulls once.
    const reader = stream.getReader();
    const first = reader.read();
    const count = 20_000;
    for (let event = 0; event < count; event += 1) log.append({ type: 'text-delta', turn: 'mine', step: 1, text: 'x'.repeat(200) });
    log.append({ type: 'turn-end', turn: 'mine', status: 'completed', reason: 'stop', usage });
    await clock.advance(10 * limits.heartbeatMs);
    expect(reads.mock.calls.length).toBeLessThanOrEqual(2);
    const held = (await first).value?.byteLength ?? 0;
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(2 * eventTailCharacters);
    expect(reads.mock.calls.length).toBeLessThanOrEqual(2);
    // What was not read is only in the log.
    let last = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) last = new TextDecoder().decode(read.value);
    expect(last.match(/^id: \d+$/gm)?.at(-1)).toBe(`id: ${count + 1}`);
  });

  it('sends heartbeats while another turn writes events', async () => {
    const { clock, log, heard } = open();
    for (let passed = 0; passed < 2 * limits.heartbeatMs; passed += 1_000) {
      log.append({ type: 'text-delta', turn: 'another', step: 1, text: 'x' });
      await clock.advance(1_000);
    }
    await waitFor(() => expect(heard[0]).toBe(heartbeatFrame));
  });

  it('sends heartbeats while its own turn writes events that its dialect hides', async () => {
    const { clock, log, heard } = open(() => '');
    for (let passed = 0; passed < 2 * limits.heartbeatMs; passed += 1_000) {
      log.append({ type: 'tool-input-delta', turn: 'mine', step: 1, callId: 'c', delta: 'x' });
      await clock.advance(1_000);
    }
    await waitFor(() => expect(heard[0]).toBe(heartbeatFrame));
  });

  it('closes after the end of its turn', async () => {
    const { log, heard, done } = open();
    log.append({ type: 'turn-end', turn: 'mine', status: 'completed', reason: 'stop', usage });
    await done;
    expect(heard.join('')).toMatch(/^id: 1\nevent: turn-end\n/);
  });

  it('ends with a problem when its session is deleted before its turn has ended', async () => {
    const { heard, leave, done } = open();
    leave();
    await done;
    expect(heard.join('')).toMatch(/^event: error\ndata: .*"code":"not_found"/);
  });

  it('reads nothing once its session is deleted with its tables', async () => {
    const sql = fakeSql(sessionMigrations);
    const clock = fakeClock();
    const log = new EventLog(sql, clock.now);
    let gone = false;
    const stream = createFeed({ log, clock, after: 0, isDeleted: () => gone }, 'mine', { event: encodeEvent, problem: encodeProblem });
    gone = true;
    sql.exec('DROP TABLE events');
    const { value } = await stream.getReader().read();
    expect(new TextDecoder().decode(value)).toContain('not_found');
  });
});

import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import { encodeEvent, encodeProblem, heartbeatFrame } from '../../src/dialects/native.ts';
import { EventLog } from '../../src/session/event-log.ts';
import { createFeed } from '../../src/session/feed.ts';
import { sessionMigrations } from '../../src/session/schema.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { fakeSql } from '../fakes/sql-storage.ts';

function open(encode = encodeEvent) {
  const clock = fakeClock();
  const log = new EventLog(fakeSql(sessionMigrations), clock.now);
  let gone = false;
  const reader = createFeed({ log, clock, after: 0, gone: () => gone }, 'mine', { event: encode, problem: encodeProblem }).getReader();
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

describe('a turn’s feed', () => {
  it('beats while another turn talks', async () => {
    const { clock, log, heard } = open();
    for (let passed = 0; passed < 2 * limits.heartbeatMs; passed += 1_000) {
      log.append({ type: 'text-delta', turn: 'another', step: 1, text: 'x' });
      await clock.advance(1_000);
    }
    await vi.waitFor(() => expect(heard[0]).toBe(heartbeatFrame));
  });

  it('beats while its own turn does what its dialect does not show', async () => {
    const { clock, log, heard } = open(() => '');
    for (let passed = 0; passed < 2 * limits.heartbeatMs; passed += 1_000) {
      log.append({ type: 'tool-input-delta', turn: 'mine', step: 1, callId: 'c', delta: 'x' });
      await clock.advance(1_000);
    }
    await vi.waitFor(() => expect(heard[0]).toBe(heartbeatFrame));
  });

  it('closes after the end of its turn', async () => {
    const { log, heard, done } = open();
    log.append({ type: 'turn-end', turn: 'mine', status: 'completed', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } });
    await done;
    expect(heard.join('')).toMatch(/^id: 1\nevent: turn-end\n/);
  });

  it('says so when its session is deleted before its turn has ended', async () => {
    const { heard, leave, done } = open();
    leave();
    await done;
    expect(heard.join('')).toMatch(/^event: error\ndata: .*"code":"not_found"/);
  });
});

import { describe, expect, it, vi } from 'vitest';
import { abandoned, abortAfter, createIdleTimeout, joinWork, unlessAborted, withTimeout } from '../../src/engine/timeout.ts';
import { waitFor } from '../wait-for.ts';

/** A clock whose timers fire while `advance` moves its time. */
function manualClock() {
  let now = 0;
  const timers = new Map<object, { at: number; run: () => void }>();
  return {
    now: () => now,
    after(ms: number, run: () => void) {
      const key = {};
      timers.set(key, { at: now + ms, run });
      return () => void timers.delete(key);
    },
    advance(ms: number) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due[0]);
        now = due[1].at;
        due[1].run();
      }
      now = end;
    },
    pending: () => timers.size,
  };
}

describe('a signal with a timeout', () => {
  it('aborts with the given reason after the time, and not before', () => {
    const clock = manualClock();
    const { signal } = abortAfter(clock, 100, () => 'late');
    clock.advance(99);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(signal.reason).toBe('late');
  });

  it('aborts with the outer signal, also if that has aborted before, and clears its timer', () => {
    const clock = manualClock();
    const outer = new AbortController();
    const { signal } = abortAfter(clock, 100, () => 'late', outer.signal);
    outer.abort('left');
    expect([signal.reason, abortAfter(clock, 100, () => 'late', outer.signal).signal.reason]).toEqual(['left', 'left']);
    expect(clock.pending()).toBe(0);
  });

  it('aborts by neither after it was disarmed', () => {
    const clock = manualClock();
    const outer = new AbortController();
    const { signal, disarm, abort } = abortAfter(clock, 100, () => 'late', outer.signal);
    disarm();
    outer.abort('left');
    clock.advance(1_000);
    expect([signal.aborted, clock.pending()]).toEqual([false, 0]);
    abort('ended');
    expect(signal.reason).toBe('ended');
  });
});

describe('a timeout of one promise', () => {
  it('returns the value of work that ends in time, and clears its timer', async () => {
    const clock = manualClock();
    expect(await withTimeout(clock, Promise.resolve(1), 100, () => 2)).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  it('returns or throws what the handler gives, and ignores a later failure of the work', async () => {
    const clock = manualClock();
    const work = Promise.withResolvers<number>();
    const answer = withTimeout(clock, work.promise, 100, () => 2);
    clock.advance(100);
    expect(await answer).toBe(2);
    work.reject(new Error('too late'));
    const failing = withTimeout(clock, new Promise<number>(() => {}), 100, () => {
      throw new Error('late');
    });
    clock.advance(100);
    await expect(failing).rejects.toThrow('late');
  });

  it('ends with a signal, and hands a late value to its receiver', async () => {
    const abort = new AbortController();
    const work = Promise.withResolvers<string>();
    const late = vi.fn();
    const answer = unlessAborted(work.promise, abort.signal, late);
    abort.abort(new Error('stopped'));
    await expect(answer).rejects.toThrow('stopped');
    work.resolve('value');
    await waitFor(() => expect(late).toHaveBeenCalledWith('value'));
  });
});

describe('an idle timeout', () => {
  it('expires after the time without progress', () => {
    const clock = manualClock();
    const onTimeout = vi.fn();
    const timeout = createIdleTimeout(clock, { idleMs: 100, maxMs: 1_000 });
    timeout.start(onTimeout);
    clock.advance(90);
    timeout.extend();
    clock.advance(99);
    expect(onTimeout).not.toHaveBeenCalled();
    clock.advance(1);
    expect(onTimeout.mock.calls).toEqual([[100]]);
    expect(clock.pending()).toBe(0);
  });

  it('expires at the total limit, whatever the progress', () => {
    const clock = manualClock();
    const onTimeout = vi.fn();
    const timeout = createIdleTimeout(clock, { idleMs: 100, maxMs: 250 });
    timeout.start(onTimeout);
    for (let step = 0; step < 6; step += 1) {
      clock.advance(50);
      timeout.extend();
    }
    expect(onTimeout.mock.calls).toEqual([[250]]);
  });

  it('has no timeout before the first extension, and takes a shorter one at once', () => {
    const clock = manualClock();
    const onTimeout = vi.fn();
    const timeout = createIdleTimeout(clock, {});
    timeout.start(onTimeout);
    clock.advance(10_000);
    timeout.extend(500);
    timeout.extend(20);
    clock.advance(20);
    expect(onTimeout.mock.calls).toEqual([[20]]);
  });

  it.each([
    [false, 100],
    [true, 40],
  ])('pauses while work waits for someone else (keepsRemaining: %s)', async (keepsRemaining, left) => {
    const clock = manualClock();
    const onTimeout = vi.fn();
    const timeout = createIdleTimeout(clock, { idleMs: 100, keepsRemaining });
    timeout.start(onTimeout);
    clock.advance(60);
    const question = Promise.withResolvers<void>();
    const paused = timeout.pauseDuring(question.promise);
    clock.advance(5_000);
    question.resolve();
    await paused;
    clock.advance(left - 1);
    expect(onTimeout).not.toHaveBeenCalled();
    clock.advance(1);
    expect(onTimeout).toHaveBeenCalledTimes(1);
  });

  it('does not expire after it was stopped, in a pause neither', async () => {
    const clock = manualClock();
    const onTimeout = vi.fn();
    const timeout = createIdleTimeout(clock, { idleMs: 100, maxMs: 1_000 });
    timeout.start(onTimeout);
    const question = Promise.withResolvers<void>();
    const paused = timeout.pauseDuring(question.promise);
    timeout.stop();
    question.resolve();
    await paused;
    clock.advance(5_000);
    expect(onTimeout).not.toHaveBeenCalled();
    expect(clock.pending()).toBe(0);
  });
});

describe('joining the work of another request', () => {
  const turn = async (): Promise<void> => {
    for (let left = 20; left > 0; left -= 1) await Promise.resolve();
  };

  it('continues the caller by a timer of its own, never in the step that ends the work', async () => {
    const clock = manualClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    let joined: unknown = 'waits';
    void joinWork(clock, promise, 1_000).then((value) => (joined = value));
    for (let times = 0; times < 10; times += 1) {
      clock.advance(16);
      await turn();
    }
    resolve('done');
    await turn();
    expect(joined).toBe('waits');
    clock.advance(16);
    await turn();
    expect(joined).toBe('done');
    expect(clock.pending()).toBe(0);
  });

  it('gives its failure to the caller, and says that it was abandoned after the time or with its request', async () => {
    const ended = new Error('This promise was created by a request that has since ended, so it can never settle.');
    const clock = {
      after(_ms: number, run: () => void) {
        queueMicrotask(run);
        return () => undefined;
      },
    };
    await expect(joinWork(clock, Promise.reject(new Error('down')), 1_000)).rejects.toThrow('down');
    expect(await joinWork(clock, Promise.reject(ended), 1_000)).toBe(abandoned);
    expect(await joinWork(clock, new Promise(() => undefined), 1_000)).toBe(abandoned);
    expect(await joinWork(clock, Promise.resolve('value'), 1_000)).toBe('value');
  });
});

import { describe, expect, it } from 'vitest';
import { reportWaiting, withWaitingReports } from '../../src/engine/report-waiting.ts';
import type { ProgressUpdate } from '../../src/core/tools/mcp-input.ts';

/** A clock whose timers are run by hand. */
function manualTimers() {
  const timers = new Set<() => void>();
  return {
    after(_ms: number, run: () => void) {
      timers.add(run);
      return () => void timers.delete(run);
    },
    fire() {
      for (const run of [...timers]) {
        timers.delete(run);
        run();
      }
    },
    size: () => timers.size,
  };
}

describe('a wait for a person', () => {
  it('reports progress with rising values until the answer arrives', async () => {
    const clock = manualTimers();
    const seen: ProgressUpdate[] = [];
    const work = Promise.withResolvers<string>();
    const waiting = reportWaiting(clock, (update) => void seen.push(update), 'Waiting.', work.promise);
    clock.fire();
    clock.fire();
    expect(seen).toEqual([
      { progress: 15, message: 'Waiting.' },
      { progress: 30, message: 'Waiting.' },
    ]);
    work.resolve('done');
    expect(await waiting).toBe('done');
    expect(clock.size()).toBe(0);
  });

  it('ends the reports if it fails', async () => {
    const clock = manualTimers();
    await expect(reportWaiting(clock, () => {}, 'Waiting.', Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(clock.size()).toBe(0);
  });

  it('reports for the questions of a channel that has progress', async () => {
    const clock = manualTimers();
    const answer = Promise.withResolvers<{ action: string }>();
    const seen: ProgressUpdate[] = [];
    const channel = withWaitingReports(clock, { progress: (update) => void seen.push(update), ask: () => answer.promise });
    const asked = channel.ask?.({ method: 'elicitation/create', params: {} }, 'q');
    clock.fire();
    answer.resolve({ action: 'accept' });
    expect(await asked).toEqual({ action: 'accept' });
    expect(seen).toEqual([{ progress: 15, message: 'Waiting for the answer of the user.' }]);
    const silent = { ask: async () => ({ action: 'accept' }) };
    expect(withWaitingReports(clock, silent)).toBe(silent);
  });
});

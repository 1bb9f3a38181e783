/** Scripts that compute until the limit of a script, and let other work run meanwhile. */
import { expect, it } from 'vitest';
import { measureHold } from '../measure-hold.ts';
import { longScripts } from './hostile-scripts.ts';
import { toolBench } from './run-tool.ts';
import { printStatistics } from '../statistics.ts';

it.each(longScripts)('ends at the limit of what it computes: $name', async ({ name, command, end }) => {
  let spent = 0;
  const spend = (seconds: number): void => {
    spent += seconds;
  };
  const compute = { require: async () => undefined, spend };
  const { value, holdMs, totalMs } = await measureHold(() => toolBench({ compute }).run('builtin.bash', { command }));
  printStatistics(
    `${name}: counted ${spent.toFixed(1)} s, ${Math.round(totalMs)} ms of the processor, at most ${Math.round(holdMs)} ms at once`,
  );
  expect(value.isError).toBe(true);
  // A script has 30 seconds, in which a busy machine may give it fewer than 15 of the processor.
  if (value.code === 'timeout') expect(spent).toBeLessThan(15);
  else {
    expect(value.code).toBe('limit_reached');
    expect(value.text).toMatch(end);
    expect(spent).toBeGreaterThan(10);
  }
});

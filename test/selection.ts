/**
 * How much of the test suite a run covers. `test/run.ts` sets `MONIKER_TESTS`; nothing else reads it.
 *
 * - `fast` (`npm run test:fast`): the tests that run in plain Node, without `*.long.test.ts`.
 * - `default` (`npm test`): every test file except `*.all.*test.ts`. Where a test covers a large product (clients × wires, places to
 *   crash × ways to crash), it runs a sample that `sample` below chooses and reports; properties have fewer runs (`runs` below,
 *   `property-runs.ts`). In `*.all.*` are stories of one part of an API whose rules other projects test, and what takes long.
 * - `all` (`npm run test:all`): everything.
 */
import { printStatistics } from './statistics.ts';

const selections = ['fast', 'default', 'all'] as const;
export type Selection = (typeof selections)[number];

export const selection: Selection = readSelection(process.env.MONIKER_TESTS);

/** File patterns that this run leaves out, for `exclude` of a vitest project. */
export const excludedFiles: string[] = [
  ...(selection === 'fast' ? ['test/**/*.long.test.ts'] : []),
  ...(selection === 'all' ? [] : ['test/**/*.all.*test.ts']),
];

/** The items that this run covers: all of them in `all`, otherwise those that `isInSample` accepts. The statistics say how many were left out. */
export function sample<T>(name: string, items: readonly T[], isInSample: (item: T, index: number) => boolean): readonly T[] {
  if (selection === 'all') return items;
  const chosen = items.filter(isInSample);
  if (chosen.length < items.length)
    printStatistics(`skipped: ${items.length - chosen.length} of ${items.length} of "${name}" (npm run test:all runs them)`);
  return chosen;
}

/** How often this run checks a property with random inputs: all of `count` in `all`, otherwise a sixth of them. */
export function runs(count: number): number {
  return selection === 'all' ? count : Math.ceil(count / 6);
}

/** Returns `condition`, and when it holds prints that the suite is skipped and why: `describe.skipIf(isSkipped(…))`. */
export function isSkipped(condition: boolean, name: string, reason: string): boolean {
  if (condition) console.log(`skipped: all tests of "${name}" (${reason})`);
  return condition;
}

function readSelection(value: string | undefined): Selection {
  if (value === undefined || value === '') return 'default';
  const found = selections.find((known) => known === value);
  if (found === undefined) throw new Error(`MONIKER_TESTS must be one of ${selections.join(', ')}, not "${value}".`);
  return found;
}

/**
 * How much of the test suite a run covers. `test/run.ts` sets `MONIKER_TESTS`; nothing else reads it.
 *
 * - `fast` (`npm run test:fast`): the tests that run in plain Node, without `*.long.test.ts`.
 * - `default` (`npm test`): every test file except `*.all.*test.ts`. Where a test covers a large product (clients × wires, places to
 *   crash × ways to crash), it runs a sample that `sample` below chooses and reports.
 * - `all` (`npm run test:all`): everything.
 */
const selections = ['fast', 'default', 'all'] as const;
export type Selection = (typeof selections)[number];

export const selection: Selection = readSelection(process.env.MONIKER_TESTS);

/** File patterns that this run leaves out, for `exclude` of a vitest project. */
export const excludedFiles: string[] = [
  ...(selection === 'fast' ? ['test/**/*.long.test.ts'] : []),
  ...(selection === 'all' ? [] : ['test/**/*.all.*test.ts']),
];

/** The items that this run covers: all of them in `all`, otherwise those that `isInSample` accepts. Prints one line about the rest. */
export function sample<T>(name: string, items: readonly T[], isInSample: (item: T, index: number) => boolean): readonly T[] {
  if (selection === 'all') return items;
  const chosen = items.filter(isInSample);
  if (chosen.length < items.length) reportSkipped(name, `${items.length - chosen.length} of ${items.length}`, 'npm run test:all runs them');
  return chosen;
}

/** How often this run checks a property with random inputs: all of `count` in `all`, otherwise a third of them. */
export function runs(count: number): number {
  return selection === 'all' ? count : Math.ceil(count / 3);
}

/** Returns `condition`, and when it holds prints that the suite is skipped and why: `describe.skipIf(isSkipped(…))`. */
export function isSkipped(condition: boolean, name: string, reason: string): boolean {
  if (condition) reportSkipped(name, 'all tests', reason);
  return condition;
}

function reportSkipped(name: string, what: string, reason: string): void {
  console.log(`skipped: ${what} of "${name}" (${reason})`);
}

function readSelection(value: string | undefined): Selection {
  if (value === undefined || value === '') return 'default';
  const found = selections.find((known) => known === value);
  if (found === undefined) throw new Error(`MONIKER_TESTS must be one of ${selections.join(', ')}, not "${value}".`);
  return found;
}

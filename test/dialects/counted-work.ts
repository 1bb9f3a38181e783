/**
 * Counts the work of code: elements of the arrays that it iterates over and characters of the strings that it cuts or encodes. Counting
 * instead of timing shows superlinear code on any machine.
 */

/** Methods that may read everything that they are called on. */
const arrayMethods = ['at', 'concat', 'every', 'filter', 'find', 'findIndex', 'findLast', 'findLastIndex', 'flatMap', 'forEach'] as const;
const moreArrayMethods = ['includes', 'indexOf', 'join', 'map', 'reduce', 'slice', 'some', 'toSorted', Symbol.iterator] as const;
const stringMethods = [
  'endsWith',
  'includes',
  'indexOf',
  'replace',
  'replaceAll',
  'slice',
  'split',
  'startsWith',
  'substring',
  'trim',
] as const;

type Methods = Record<PropertyKey, (this: { length: number }, ...given: unknown[]) => unknown>;

export function countWork(work: () => void): number {
  let count = 0;
  const undo: (() => void)[] = [];
  const watch = (owner: object, name: PropertyKey, sizeOf: (self: { length: number }, result: unknown) => number): void => {
    const methods = owner as Methods; // Only names of methods are requested.
    const original = methods[name];
    if (original === undefined) throw new Error(`there is no ${String(name)}`);
    methods[name] = function counted(...given) {
      const result = original.apply(this, given);
      count += sizeOf(this, result);
      return result;
    };
    undo.push(() => {
      methods[name] = original;
    });
  };
  for (const name of [...arrayMethods, ...moreArrayMethods]) watch(Array.prototype, name, name === 'at' ? () => 1 : ({ length }) => length);
  for (const name of stringMethods) watch(String.prototype, name, ({ length }) => length);
  watch(JSON, 'stringify', (_self, text) => String(text).length);
  try {
    work();
  } finally {
    for (const one of undo.toReversed()) one();
  }
  return count;
}

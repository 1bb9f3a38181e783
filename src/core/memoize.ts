/** Caches of pure functions. A result lives as long as the objects that it was computed from. */

/** Returns `build` with its results cached by the identity of all its arguments. An error is not cached. */
export function memoizeByObject<Args extends readonly [object, ...object[]], Result>(
  build: (...args: Args) => Result,
): (...args: Args) => Result {
  const root: Level<Result> = { next: new WeakMap() };
  return (...args) => {
    let level = root;
    for (const arg of args) {
      let next = level.next.get(arg);
      if (next === undefined) {
        next = { next: new WeakMap() };
        level.next.set(arg, next);
      }
      level = next;
    }
    level.found ??= { result: build(...args) };
    return level.found.result;
  };
}

type Level<Result> = { next: WeakMap<object, Level<Result>>; found?: { result: Result } };

/** Returns the value of `key`, or builds and stores it. A map with `max` entries is cleared first. */
export function getOrBuild<Key, Value>(map: Map<Key, Value>, key: Key, max: number, build: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined || map.has(key)) return known as Value; // Checked: the map has the key.
  const value = build();
  if (map.size >= max) map.clear();
  map.set(key, value);
  return value;
}

/** Sets the newest entry of a map, from which the oldest one is dropped if there are more than `max`. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > max ? map.keys().next() : undefined;
  if (oldest?.done === false) map.delete(oldest.value);
}

/**
 * Returns a function that makes a value when it is first needed, such as a module that is loaded, and has it from then on. Keeps the value and not
 * the promise of it: a promise that another object or request has made may not be awaited in the Workers runtime. Of several that wait, all get
 * the value that is made first.
 */
export function once<Value extends object | string>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Value | null = null;
  return async () => {
    const value = made ?? (await make());
    made ??= value;
    return made;
  };
}

/**
 * Nesting depth of parsed JSON values; `core/json/json-text.ts` measures text before it is parsed. Code that walks a whole untrusted value
 * recursively (cloning, hashing, `JSON.stringify`) overflows the stack if the value nests deep enough.
 */

/** Whether arrays and objects nest more than `most` levels deep. Recurses no deeper than that, so any value is safe. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  for (const member of Object.values(value)) if (isDeeperThan(member, most - 1)) return true;
  return false;
}

/** Returns the value with everything deeper than `most` levels replaced by null. */
export function cutBelow<Value>(value: Value, most: number): Value {
  // The shape is unchanged down to that depth, and deeper parts are not read.
  return isDeeperThan(value, most) ? (cut(value, most) as Value) : value;
}

function cut(value: unknown, most: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (most === 0) return null;
  if (Array.isArray(value)) return value.map((item) => cut(item, most - 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, most - 1)]));
}

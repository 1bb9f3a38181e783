/**
 * How deep a JSON value nests. For values that exist already; text is measured before it is parsed (`core/json-text.ts`). Whatever walks a
 * foreign value from end to end (cloning, hashing, `JSON.stringify`) runs out of stack on one that nests deep enough.
 */

/** Whether arrays and objects stand in one another more than `most` levels deep. Goes no deeper itself, so any value is safe. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  for (const member of Object.values(value)) if (isDeeperThan(member, most - 1)) return true;
  return false;
}

/** The same value with nothing that stands more than `most` levels deep: what would go further is null. */
export function cutBelow<Value>(value: Value, most: number): Value {
  // The shape is the same down to there, and further than that nobody looks.
  return isDeeperThan(value, most) ? (cut(value, most) as Value) : value;
}

function cut(value: unknown, most: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (most === 0) return null;
  if (Array.isArray(value)) return value.map((item) => cut(item, most - 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, most - 1)]));
}

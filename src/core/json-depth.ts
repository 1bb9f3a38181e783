/** How deep a JSON value nests. For values that exist already; text is measured before it is parsed (`http/json-body.ts`). */

/** Whether arrays and objects stand in one another more than `most` levels deep. Goes no deeper itself, so any value is safe. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  for (const member of Object.values(value)) if (isDeeperThan(member, most - 1)) return true;
  return false;
}

/** JSON Merge Patch (RFC 7396): objects are merged, null removes a member, any other value replaces. For parsed JSON only. */
import { isRecord, type Json, ownMember, recordOf } from './wire-value.ts';

/** Returns the patched object; neither argument is changed. The depth of a patch is bounded by the JSON parser (`json-text.ts`). */
export function mergePatch(target: Json, patch: Json): Json {
  const kept = Object.entries(target).filter(([name]) => !Object.hasOwn(patch, name));
  const given = Object.entries(patch).filter(([, value]) => value !== null);
  return Object.fromEntries([...kept, ...given.map(([name, value]) => [name, mergeValue(ownMember(target, name), value)])]);
}

function mergeValue(before: unknown, value: unknown): unknown {
  return isRecord(value) ? mergePatch(recordOf(before), value) : value;
}

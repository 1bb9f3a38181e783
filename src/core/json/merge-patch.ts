/** JSON Merge Patch (RFC 7396): objects are merged, null removes a member, any other value replaces. For parsed JSON only. */

type JsonObject = Record<string, unknown>;

/** Returns the patched object; neither argument is changed. The depth of a patch is bounded by the JSON parser (`json-text.ts`). */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const kept = Object.entries(target).filter(([name]) => !Object.hasOwn(patch, name));
  const given = Object.entries(patch).filter(([, value]) => value !== null);
  return Object.fromEntries([...kept, ...given.map(([name, value]) => [name, mergeValue(own(target, name), value)])]);
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mergeValue(before: unknown, value: unknown): unknown {
  return isJsonObject(value) ? mergePatch(isJsonObject(before) ? before : {}, value) : value;
}

/** Names such as `constructor` are members only if the document has them. */
function own(target: JsonObject, name: string): unknown {
  return Object.hasOwn(target, name) ? target[name] : undefined;
}

/** What was made of sources, kept by them up to so many bytes for all: bytecode is ten times its source where that is written for it. Used by `compile.ts`. */

export type KeptSources<Value> = { get(source: string): Value | null; keep(source: string, value: Value, bytes: number): void };

/** The oldest goes first; one that is used again is young. `bytes`: of the value; its source is counted here. */
export function createKeptSources<Value>(mostBytes: number): KeptSources<Value> {
  const kept = new Map<string, { value: Value; bytes: number }>();
  let held = 0;
  const drop = (source: string): { value: Value; bytes: number } | null => {
    const entry = kept.get(source) ?? null;
    if (entry === null) return null;
    kept.delete(source);
    held -= entry.bytes;
    return entry;
  };
  const add = (source: string, entry: { value: Value; bytes: number }): void => {
    kept.set(source, entry);
    held += entry.bytes;
  };
  return {
    get(source) {
      const entry = drop(source);
      if (entry === null) return null;
      add(source, entry);
      return entry.value;
    },
    keep(source, value, bytes) {
      drop(source);
      // Two for each of its characters, and what any entry costs.
      const all = bytes + source.length * 2 + 200;
      if (all > mostBytes) return;
      add(source, { value, bytes: all });
      for (const oldest of kept.keys()) {
        if (held <= mostBytes) return;
        drop(oldest);
      }
    },
  };
}

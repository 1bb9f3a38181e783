/** A cache of compiled sources by source text, limited in total bytes: bytecode can be ten times as long as its source. Used by `compile.ts`. */

export type CompileCache<Value> = { get(source: string): Value | null; set(source: string, value: Value, bytes: number): void };

/** Creates the cache. The least recently used entry is dropped first. `bytes`: size of the value; the size of the source is added here. */
export function createCompileCache<Value>(mostBytes: number): CompileCache<Value> {
  const entries = new Map<string, { value: Value; bytes: number }>();
  let held = 0;
  const drop = (source: string): { value: Value; bytes: number } | null => {
    const entry = entries.get(source) ?? null;
    if (entry === null) return null;
    entries.delete(source);
    held -= entry.bytes;
    return entry;
  };
  const add = (source: string, entry: { value: Value; bytes: number }): void => {
    entries.set(source, entry);
    held += entry.bytes;
  };
  return {
    get(source) {
      const entry = drop(source);
      if (entry === null) return null;
      add(source, entry);
      return entry.value;
    },
    set(source, value, bytes) {
      drop(source);
      // Two bytes per character of the source, and a constant for each entry.
      const all = bytes + source.length * 2 + 200;
      if (all > mostBytes) return;
      add(source, { value, bytes: all });
      for (const oldest of entries.keys()) {
        if (held <= mostBytes) return;
        drop(oldest);
      }
    },
  };
}

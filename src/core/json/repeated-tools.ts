/**
 * The lists of tools that clients send again with every request of a conversation: parsed once, and found by their exact text. Frozen,
 * because requests share them. A few per isolate; a text decides nothing about who may use it. Saves 50 µs of a chat request with 30 tools, which
 * takes 340 (2026-11-28).
 */

/** Shorter lists are parsed as fast as they are found. */
const minCharacters = 2_048;
/** A cached list retains the text of its whole request. */
const maxTextCharacters = 262_144;
const maxLists = 8;

/** `values`: as counted by `excessOf`. */
export type RepeatedList = { text: string; value: unknown; values: number };

export type RepeatedTools = {
  /** Returns the list that begins here. */
  find(text: string, start: number): RepeatedList | null;
  /** Parses and returns a list, and caches it if that pays. Throws the error of `JSON.parse`. */
  parse(text: string, start: number, end: number, values: number): unknown;
};

export function createRepeatedTools(): RepeatedTools {
  /** Most recently used first. */
  const lists: RepeatedList[] = [];
  return {
    find(text, start) {
      const index = lists.findIndex((list) => text.startsWith(list.text, start));
      const found = lists[index];
      if (found === undefined) return null;
      if (index > 0) lists.unshift(...lists.splice(index, 1));
      return found;
    },
    parse(text, start, end, values) {
      const own = text.slice(start, end);
      const value: unknown = JSON.parse(own);
      if (own.length < minCharacters || text.length > maxTextCharacters) return value;
      lists.unshift({ text: own, value: frozen(value), values });
      lists.length = Math.min(lists.length, maxLists);
      return value;
    },
  };
}

function frozen(root: unknown): unknown {
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value === null || typeof value !== 'object') continue;
    for (const child of Object.values(Object.freeze(value))) if (child !== null && typeof child === 'object') open.push(child);
  }
  return root;
}

/**
 * Converts arguments of a Gemini call that arrive value by value, each with its JSONPath (`partialArgs`), to the growing text of one JSON
 * object, as other providers stream them. The model writes from left to right, so a closed container is never reopened. Used by
 * `reply.ts`. Source: Vertex AI reference, "FunctionCall" and "PartialArg", and the recorded streams of the corpus.
 */
import { limits } from '../../core/limits/limits.ts';
import { isRecord } from '../../core/json/wire-value.ts';

/** `last`: the last written member; for a list, its index. */
type Container = { isList: boolean; last: string | number | null; keys: Set<string> | null };
type Segment = string | number;

export class PartialArguments {
  /** From the root object to the current container. Empty before the first value. */
  readonly #containers: Container[] = [];
  /** The path of a string that continues. */
  #openString: string | null = null;

  /** Returns the text that one entry of `partialArgs` adds; null if it contradicts the entries before it. */
  write(partial: unknown): string | null {
    if (!isRecord(partial) || typeof partial.jsonPath !== 'string') return null;
    const goesOn = partial.willContinue === true;
    if (this.#openString === partial.jsonPath && typeof partial.stringValue === 'string') {
      if (!goesOn) this.#openString = null;
      return inString(partial.stringValue) + (goesOn ? '' : '"');
    }
    const value = valueText(partial);
    // A path without a value adds nothing yet.
    if (value === '') return '';
    const path = readPath(partial.jsonPath);
    if (value === null || path === null) return null;
    const ended = this.#openString === null ? '' : '"';
    const way = this.#moveTo(path);
    if (way === null) return null;
    const isOpen = goesOn && typeof partial.stringValue === 'string';
    this.#openString = isOpen ? partial.jsonPath : null;
    return ended + way + value + (typeof partial.stringValue === 'string' && !isOpen ? '"' : '');
  }

  /** Returns the missing brackets; '' within a string, since its end is unknown. */
  close(): string {
    return this.#openString === null ? this.#leave(0) : '';
  }

  /** Closes the containers that the path is not in, opens those that it is in, and writes its key. */
  #moveTo(path: readonly Segment[]): string | null {
    let text = '';
    if (this.#containers.length === 0) text = this.#enter(false);
    let depth = 0;
    while (depth + 1 < this.#containers.length && depth + 1 < path.length && this.#containers[depth]?.last === path[depth]) depth++;
    text += this.#leave(depth + 1);
    for (; depth < path.length; depth++) {
      const segment = path[depth] as Segment;
      const key = this.#addMember(segment);
      if (key === null) return null;
      text += key;
      const below = path[depth + 1];
      if (below !== undefined) text += this.#enter(typeof below === 'number');
    }
    return text;
  }

  #addMember(segment: Segment): string | null {
    const container = this.#containers.at(-1);
    if (container === undefined || container.isList !== (typeof segment === 'number')) return null;
    const comma = container.last === null ? '' : ',';
    if (typeof segment === 'number') {
      if (segment !== (container.last === null ? 0 : Number(container.last) + 1)) return null;
      container.last = segment;
      return comma;
    }
    container.keys ??= new Set();
    if (container.keys.has(segment)) return null;
    container.keys.add(segment);
    container.last = segment;
    return `${comma}${JSON.stringify(segment)}:`;
  }

  #enter(isList: boolean): string {
    this.#containers.push({ isList, last: null, keys: null });
    return isList ? '[' : '{';
  }

  /** Closes all but `kept` containers. */
  #leave(kept: number): string {
    let text = '';
    while (this.#containers.length > kept) text += this.#containers.pop()?.isList ? ']' : '}';
    return text;
  }
}

/** Returns a string without its closing quote; '' if there is no value; null for a value that JSON does not have. */
function valueText(partial: Record<string, unknown>): string | null {
  if (typeof partial.stringValue === 'string') return `"${inString(partial.stringValue)}`;
  if (typeof partial.numberValue === 'number') return JSON.stringify(partial.numberValue);
  if (typeof partial.boolValue === 'boolean') return String(partial.boolValue);
  if ('nullValue' in partial) return 'null';
  return 'stringValue' in partial || 'numberValue' in partial || 'boolValue' in partial ? null : '';
}

/** Writes the halves of a split surrogate pair as two escapes, which parse to one character. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** `$.recipe.steps[0]`, `$['odd key'].x`; null for an invalid path. The root is always an object, so `$` alone is invalid. */
function readPath(path: string): Segment[] | null {
  if (!path.startsWith('$')) return null;
  const segments: Segment[] = [];
  segment.lastIndex = 1;
  while (segment.lastIndex < path.length) {
    const found = segment.exec(path);
    if (found === null || segments.length >= limits.maxJsonDepth) return null;
    const [, name, index, quoted] = found;
    if (index !== undefined) segments.push(Number(index));
    else segments.push(name ?? (quoted ?? '').slice(1, -1).replace(/\\(.)/gsu, '$1'));
  }
  return segments.length === 0 ? null : segments;
}

const segment = /\.([^.[\]]+)|\[(\d{1,9})\]|\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]/gsuy;

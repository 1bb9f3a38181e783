/**
 * Arguments of a Gemini call that come value by value, each with its JSONPath (`partialArgs`), as the growing text of one JSON
 * object: so they pass on like any other provider's. The model writes from left to right, so that a container which was left is never
 * entered again. Used by `gemini.ts` alone; the text is assembled and parsed where that of all providers is. Source: Vertex AI
 * reference, "FunctionCall" and "PartialArg", and the recorded streams of the corpus.
 */
import { limits } from '../core/limits.ts';
import { isRecord } from '../core/wire-value.ts';

/** `last`: the member that was written last; for a list, its place. */
type Container = { isList: boolean; last: string | number | null; keys: Set<string> | null };
type Segment = string | number;

export class PartialArguments {
  /** From the object down to what is written at. Empty before the first value. */
  readonly #containers: Container[] = [];
  /** Path of a string that goes on. */
  #openString: string | null = null;

  /** The text that one entry of `partialArgs` adds; null where it contradicts what came before. */
  write(partial: unknown): string | null {
    if (!isRecord(partial) || typeof partial.jsonPath !== 'string') return null;
    const goesOn = partial.willContinue === true;
    if (this.#openString === partial.jsonPath && typeof partial.stringValue === 'string') {
      if (!goesOn) this.#openString = null;
      return inString(partial.stringValue) + (goesOn ? '' : '"');
    }
    const value = valueText(partial);
    // A path without a value says nothing yet.
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

  /** The brackets that are still missing; '' in the middle of a string, of which nobody knows the end. */
  close(): string {
    return this.#openString === null ? this.#leave(0) : '';
  }

  /** Closes what the path is not in, opens what it is in, and writes its key. */
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

  /** Leaves all but `kept` containers. */
  #leave(kept: number): string {
    let text = '';
    while (this.#containers.length > kept) text += this.#containers.pop()?.isList ? ']' : '}';
    return text;
  }
}

/** A string without the quote at its end; '' where there is no value, null where it is none that JSON knows. */
function valueText(partial: Record<string, unknown>): string | null {
  if (typeof partial.stringValue === 'string') return `"${inString(partial.stringValue)}`;
  if (typeof partial.numberValue === 'number') return JSON.stringify(partial.numberValue);
  if (typeof partial.boolValue === 'boolean') return String(partial.boolValue);
  if ('nullValue' in partial) return 'null';
  return 'stringValue' in partial || 'numberValue' in partial || 'boolValue' in partial ? null : '';
}

/** Halves of a surrogate pair in two pieces become two escapes, which are one character again when they are read. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * `$.recipe.steps[0]`, `$['odd key'].x`; null where it is no such path. At the root there is always an object, so `$` alone is none.
 */
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

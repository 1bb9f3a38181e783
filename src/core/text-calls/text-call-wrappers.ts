/**
 * The tags by which models write calls into their words, and the others that a reader of those words must know: a table, and the
 * reader that recognises one character by character. What stands between the tags is `text-call-block.ts`.
 *
 * `<tool_call>` is Hermes' and Qwen's (NousResearch/Hermes-Function-Calling); the others are what such models write instead, as
 * llama.cpp's reader for them takes it (ggml-org/llama.cpp: tests/test-chat.cpp). `｜tool▁…｜` are DeepSeek's special tokens.
 */

export type Opening = {
  kind: 'open';
  /** The tool, where the tag itself names it: then the arguments alone stand in the block. */
  name: string | null;
  /** Nothing but a call begins so. Otherwise only what is between the tags can tell. */
  certain: boolean;
  /** null: nothing ends it but the end of its object. */
  close: string | null;
};

export type Tag =
  | Opening
  | { kind: 'close' }
  /** Thoughts, up to `close`. */
  | { kind: 'think'; close: string }
  /** The end of thoughts that nobody saw begin. */
  | { kind: 'thought' }
  /** A result, which is never the model's to write. */
  | { kind: 'response'; close: string }
  /** Says nothing that the tags around it do not say. */
  | { kind: 'frame' };

/** An object that stands in the text with no tag at all. */
export const bareOpening: Opening = { kind: 'open', name: null, certain: false, close: null };

/** Tags are compared in lower case. With `end`, a name stands between the two. */
type Pattern = { begin: string; end?: string; tag(name: string | null): Tag };

const patterns: readonly Pattern[] = [
  ...['tool_call', 'function_call'].flatMap((word) => wrapper(word, true)),
  ...['tool', 'tools', 'response', 'json', 'xml'].flatMap((word) => wrapper(word, false)),
  { begin: '<function=', end: '>', tag: (name) => named(name, '</function>') },
  { begin: '<function name="', end: '">', tag: (name) => named(name, '</function>') },
  closing('</function>'),
  { begin: '<｜tool▁call▁begin｜>', end: '<｜tool▁sep｜>', tag: (name) => named(name, '<｜tool▁call▁end｜>') },
  closing('<｜tool▁call▁end｜>'),
  { begin: '<｜tool▁calls▁begin｜>', tag: () => ({ kind: 'frame' }) },
  { begin: '<｜tool▁calls▁end｜>', tag: () => ({ kind: 'frame' }) },
  { begin: '<think>', tag: () => ({ kind: 'think', close: '</think>' }) },
  { begin: '<thinking>', tag: () => ({ kind: 'think', close: '</thinking>' }) },
  { begin: '</think>', tag: () => ({ kind: 'thought' }) },
  { begin: '<tool_response>', tag: () => ({ kind: 'response', close: '</tool_response>' }) },
];

function wrapper(word: string, certain: boolean): Pattern[] {
  const close = `</${word}>`;
  return [{ begin: `<${word}>`, tag: () => ({ kind: 'open', name: null, certain, close }) }, closing(close)];
}

function closing(begin: string): Pattern {
  return { begin, tag: () => ({ kind: 'close' }) };
}

function named(name: string | null, close: string): Opening {
  return { kind: 'open', name, certain: true, close };
}

/** By what follows the `<`: most of what a model writes behind one is no tag of these. */
const bySecond = Map.groupBy(patterns, ({ begin }) => begin.charAt(1));

const maxNameLength = 128;
const isNameCharacter = /^[\w.:/-]$/;

/** Reads what may become a tag. */
export class TagReader {
  /** What it has taken: the tag, or what turned out to be none. */
  text = '';
  #possible: readonly Pattern[] = [];
  /** The pattern whose name is being read. */
  #naming: Pattern | null = null;
  #name = '';
  #ended = '';

  /** `no`: with this character it is no tag; the character was not taken. */
  take(char: string): 'more' | 'no' | Tag {
    if (this.#naming !== null) return this.#takeName(this.#naming, char);
    if (this.text === '') {
      this.text = char;
      return char === '<' ? 'more' : 'no';
    }
    const text = (this.text + char).toLowerCase();
    const possible = (text.length === 2 ? (bySecond.get(text.charAt(1)) ?? []) : this.#possible).filter(({ begin }) =>
      begin.startsWith(text),
    );
    if (possible.length === 0) return 'no';
    this.text += char;
    this.#possible = possible;
    const found = possible.find(({ begin }) => begin.length === text.length);
    if (found === undefined) return 'more';
    if (found.end === undefined) return found.tag(null);
    this.#naming = found;
    return 'more';
  }

  #takeName(pattern: Pattern, char: string): 'more' | 'no' | Tag {
    const { end = '' } = pattern;
    const ended = this.#ended + char;
    if (this.#name !== '' && end.startsWith(ended)) this.#ended = ended;
    else if (this.#ended === '' && isNameCharacter.test(char) && this.#name.length < maxNameLength) this.#name += char;
    else return 'no';
    this.text += char;
    return this.#ended === end ? pattern.tag(this.#name) : 'more';
  }
}

/** Passes over everything up to one closing tag: thoughts, or results that a model made up. */
export class UntilTag {
  ended = false;
  readonly #close: string;
  /** What may be the begin of the tag. */
  #held = '';

  constructor(close: string) {
    this.#close = close;
  }

  /** `words`: what stood before the tag, as far as it is certain. */
  take(text: string, from: number): { at: number; words: string } {
    let at = from;
    let words = '';
    while (at < text.length && !this.ended) {
      if (this.#held === '') {
        const angle = text.indexOf('<', at);
        words += text.slice(at, angle < 0 ? text.length : angle);
        at = angle < 0 ? text.length : angle + 1;
        if (angle >= 0) this.#held = '<';
        continue;
      }
      const next = this.#held + text.charAt(at);
      if (this.#close.startsWith(next.toLowerCase())) {
        this.#held = next;
        this.ended = next.length === this.#close.length;
        at++;
      } else {
        words += this.#held;
        this.#held = '';
      }
    }
    return { at, words };
  }

  /** There is no more text. */
  rest(): string {
    return this.ended ? '' : this.#held;
  }
}

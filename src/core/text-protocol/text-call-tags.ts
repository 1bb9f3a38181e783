/**
 * The tags with which models write calls into their text, and other tags that the reader must know: a table, and a reader that
 * recognizes a tag character by character. `text-call-block.ts` parses the text between the tags.
 * `<tool_call>` is used by Hermes and Qwen (NousResearch/Hermes-Function-Calling); the others are variants that such models write, as
 * accepted by llama.cpp's parser (ggml-org/llama.cpp: tests/test-chat.cpp). `｜tool▁…｜` are DeepSeek's special tokens.
 */

export type CallOpening = {
  kind: 'open';
  /** The tool, if the tag itself names it: then the block contains only the arguments. */
  name: string | null;
  /** Only a call begins this way. Otherwise the content of the block decides. */
  certain: boolean;
  /** null: only the end of its object ends it. */
  close: string | null;
};

export type CallTag =
  | CallOpening
  | { kind: 'close' }
  /** Reasoning, up to `close`. */
  | { kind: 'think'; close: string }
  /** The end of reasoning without a start tag. */
  | { kind: 'thought' }
  /** A tool result, which a model must not write. */
  | { kind: 'response'; close: string }
  /** Adds nothing to the tags around it. */
  | { kind: 'frame' };

/** An object in the text without any tag. */
export const bareOpening: CallOpening = { kind: 'open', name: null, certain: false, close: null };

/** Tags are compared in lower case. With `end`, a name is between the two. */
type Pattern = { begin: string; end?: string; tag(name: string | null): CallTag };

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

function named(name: string | null, close: string): CallOpening {
  return { kind: 'open', name, certain: true, close };
}

/** Indexed by the character after `<`: most text after a `<` is not one of these tags. */
const bySecond = Map.groupBy(patterns, ({ begin }) => begin.charAt(1));

const maxNameLength = 128;
const isNameCharacter = /^[\w.:/-]$/;

/** Reads a possible tag. */
export class TagReader {
  /** The consumed text: the tag, or text that is not a tag. */
  text = '';
  #possible: readonly Pattern[] = [];
  /** The pattern whose name is being read. */
  #naming: Pattern | null = null;
  #name = '';
  #ended = '';

  /** `no`: the text is not a tag; the character was not consumed. */
  take(char: string): 'more' | 'no' | CallTag {
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

  #takeName(pattern: Pattern, char: string): 'more' | 'no' | CallTag {
    const { end = '' } = pattern;
    const ended = this.#ended + char;
    if (this.#name !== '' && end.startsWith(ended)) this.#ended = ended;
    else if (this.#ended === '' && isNameCharacter.test(char) && this.#name.length < maxNameLength) this.#name += char;
    else return 'no';
    this.text += char;
    return this.#ended === end ? pattern.tag(this.#name) : 'more';
  }
}

/** Skips everything up to one closing tag: reasoning, or results that a model invented. */
export class UntilTag {
  ended = false;
  readonly #close: string;
  /** Text that may be the start of the tag. */
  #held = '';

  constructor(close: string) {
    this.#close = close;
  }

  /** `words`: the text before the tag, as far as it is certain. */
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

  /** The text has ended. */
  rest(): string {
    return this.ended ? '' : this.#held;
  }
}

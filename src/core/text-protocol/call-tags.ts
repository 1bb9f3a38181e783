/**
 * The tokenizer of the tags with which models write calls into their text, and of other tags that the reader must know: one table for
 * all dialects. `call-block.ts` parses the text between the tags.
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
  /** Reasoning, or a tool result, which a model must not write. The text up to `close` contains no calls. */
  | { kind: 'reasoning' | 'response'; close: string }
  /** Removed: the end of reasoning without a start tag, or a tag that adds nothing to the tags in it. */
  | { kind: 'frame' };

/** An object in the text without any tag. */
export const bareOpening: CallOpening = { kind: 'open', name: null, certain: false, close: null };

/** Tags are compared in lower case. With `end`, a name is between the two. */
type Pattern = { begin: string; end?: string; tag(name: string): CallTag };

const patterns: readonly Pattern[] = [
  ...['tool_call', 'function_call'].flatMap((word) => wrapper(word, true)),
  ...['tool', 'tools', 'response', 'json', 'xml'].flatMap((word) => wrapper(word, false)),
  { begin: '<function=', end: '>', tag: (name) => named(name, '</function>') },
  { begin: '<function name="', end: '">', tag: (name) => named(name, '</function>') },
  fixed('</function>', { kind: 'close' }),
  { begin: '<｜tool▁call▁begin｜>', end: '<｜tool▁sep｜>', tag: (name) => named(name, '<｜tool▁call▁end｜>') },
  fixed('<｜tool▁call▁end｜>', { kind: 'close' }),
  fixed('<｜tool▁calls▁begin｜>', { kind: 'frame' }),
  fixed('<｜tool▁calls▁end｜>', { kind: 'frame' }),
  fixed('<think>', { kind: 'reasoning', close: '</think>' }),
  fixed('<thinking>', { kind: 'reasoning', close: '</thinking>' }),
  fixed('</think>', { kind: 'frame' }),
  fixed('<tool_response>', { kind: 'response', close: '</tool_response>' }),
];

function wrapper(word: string, certain: boolean): Pattern[] {
  const close = `</${word}>`;
  return [fixed(`<${word}>`, { kind: 'open', name: null, certain, close }), fixed(close, { kind: 'close' })];
}

function fixed(begin: string, tag: CallTag): Pattern {
  return { begin, tag: () => tag };
}

function named(name: string, close: string): CallOpening {
  return { kind: 'open', name, certain: true, close };
}

/** Indexed by the character after `<`: most text after a `<` is not one of these tags. */
const bySecond = Map.groupBy(patterns, ({ begin }) => begin.charAt(1));
const longestBegin = Math.max(...patterns.map(({ begin }) => begin.length));
const maxNameLength = 128;
const longestEnd = Math.max(...patterns.map(({ end = '' }) => end.length));

/** No tag is longer. */
export const maxTagLength = longestBegin + maxNameLength + longestEnd;

/** `partial`: the text ends before it is certain. */
export type TagMatch<Tag> = { tag: Tag; length: number } | 'partial' | null;

/** Matches a tag of the table at a `<`. */
export function matchTag(text: string, at: number): TagMatch<CallTag> {
  if (at + 1 === text.length) return 'partial';
  const possible = bySecond.get(text.charAt(at + 1).toLowerCase());
  if (possible === undefined) return null;
  const start = text.slice(at, at + longestBegin).toLowerCase();
  const found = possible.find(({ begin }) => start.startsWith(begin));
  if (found === undefined) return possible.some(({ begin }) => begin.startsWith(start)) ? 'partial' : null;
  if (found.end !== undefined) return matchName(found, found.end, text.slice(at + found.begin.length, at + maxTagLength));
  return { tag: found.tag(''), length: found.begin.length };
}

/** `rest`: the text after `begin`. */
function matchName({ begin, tag }: Pattern, end: string, rest: string): TagMatch<CallTag> {
  const name = namePattern.exec(rest)?.[0] ?? '';
  const after = rest.slice(name.length, name.length + end.length);
  if (name !== '' && after === end) return { tag: tag(name), length: begin.length + name.length + end.length };
  const isPartial = name.length + after.length === rest.length && (name === '' ? after === '' : end.startsWith(after));
  return isPartial ? 'partial' : null;
}

const namePattern = new RegExp(String.raw`^[\w.:/-]{1,${maxNameLength}}`);

/** Matches only this closing tag at a `<`. */
export function matchClose(close: string, text: string, at: number): TagMatch<{ kind: 'close' }> {
  const start = text.slice(at, at + close.length).toLowerCase();
  if (start === close) return { tag: { kind: 'close' }, length: close.length };
  return close.startsWith(start) && at + start.length === text.length ? 'partial' : null;
}

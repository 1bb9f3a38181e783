/**
 * A fence at the very start of a reply. Some models put their calls into one and write nothing else; then it is a call, and with any
 * other text an example. It is held back while it may still be a call. Used by `text-tool-calls.ts`.
 */
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits.ts';
import { CodeFence } from './text-code.ts';

export class FencedCall {
  /** It is an example, or other code: `text` is to be emitted, and the fence continues if it is not closed. */
  isRefuted = false;
  readonly fence: CodeFence;
  /** The length of the run that opens it. */
  readonly length: number;
  readonly #held = new GrowingText();

  constructor(char: string, length: number) {
    this.fence = new CodeFence(char, length);
    this.length = length;
    this.#held.append(char.repeat(length));
  }

  get text(): string {
    return this.#held.read();
  }

  /** Returns the offset that it reached: the end, or the point where it was refuted. */
  take(text: string, from: number): number {
    const before = this.#held.length;
    const at = this.fence.closed ? skipBlanks(text, from) : this.fence.take(text, from);
    this.#held.append(text.slice(from, at));
    this.isRefuted =
      (this.fence.closed && at < text.length && text.charAt(at) !== '\n') ||
      this.fence.isSpan ||
      this.#held.length > limits.maxArgumentBytes ||
      (before < probeLength && !mayHoldCall(this.text));
    return at;
  }

  /** Returns the body, at the end of the reply; null: certainly not a call. */
  body(): string | null {
    const text = this.text;
    const begin = text.indexOf('\n');
    if (begin < 0 || !mayHoldCall(text)) return null;
    const isClosed = this.fence.closed || this.fence.atClosingLine;
    return text.slice(begin + 1, isClosed ? text.trimEnd().lastIndexOf('\n') : text.length);
  }
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === '') at++;
  return at;
}

/** The part of a fence that is checked early: the line that opens it, and the beginning of its content. */
const probeLength = 200;

function mayHoldCall(text: string): boolean {
  const lineEnd = text.indexOf('\n');
  if (lineEnd < 0) return true;
  const inside = text.slice(lineEnd, lineEnd + probeLength);
  const begin = inside.replaceAll(/\s+/g, '').toLowerCase();
  return begin.length < 13 || /^(?:\{"(?:name|arguments|parameters)"|<(?:tool|function|response|json|xml|｜tool))/.test(begin);
}

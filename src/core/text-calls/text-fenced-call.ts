/**
 * A fence at the very begin of a reply. Some models put their calls into one and say nothing else; then it is a call, and with
 * anything else around it an example. So it is held back as long as it may still be a call. Used by `text-tool-calls.ts`.
 */
import { GrowingText } from '../growing-text.ts';
import { limits } from '../limits.ts';
import { CodeFence } from './text-code.ts';

export class FencedCall {
  /** It is an example, or other code: `text` is to be said, and the fence goes on if it is not closed. */
  isRefuted = false;
  readonly fence: CodeFence;
  /** Of the run that opens it. */
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

  /** Answers how far it came: to the end, or to where it was refuted. */
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

  /** What stands in it, now that the reply is over; null: surely no call. */
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

/** So much of a fence is looked at early: the line that opens it, and the begin of what is in it. */
const probeLength = 200;

function mayHoldCall(text: string): boolean {
  const lineEnd = text.indexOf('\n');
  if (lineEnd < 0) return true;
  const inside = text.slice(lineEnd, lineEnd + probeLength);
  const begin = inside.replaceAll(/\s+/g, '').toLowerCase();
  return begin.length < 13 || /^(?:\{"(?:name|arguments|parameters)"|<(?:tool|function|response|json|xml|｜tool))/.test(begin);
}

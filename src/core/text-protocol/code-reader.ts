/**
 * Reads the code in a model's text, so that calls in it do not count: passes it on as text, and returns parts that turn out not to be
 * code, to be read again. A fence at the very start of a reply is held back while it may contain a call: some models put their calls
 * into one and write nothing else. With any other text it is an example. Used by `tool-calls.ts`.
 */
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits.ts';
import { utf8Length } from '../text/utf8.ts';
import { CodeFence, CodeSpan, endsInMargin, type Run } from './code.ts';
import type { VisibleOutput } from './visible-output.ts';

/** `held`: the text of a fence that may be a call. */
type Place =
  | { kind: 'none' }
  | { kind: 'run'; run: Run; atLineStart: boolean }
  | { kind: 'fence'; run: Run; fence: CodeFence; held: GrowingText | null; heldBytes: number }
  | { kind: 'span'; span: CodeSpan };
type PlaceOf<Kind extends Place['kind']> = Extract<Place, { kind: Kind }>;

const none: Place = { kind: 'none' };

export type CodeContext = {
  output: VisibleOutput;
  /** Whether a fence that begins now may turn out to be a call. */
  mayBeCall(): boolean;
  /** Whether the body of a fence contains only calls. */
  holdsCalls(body: string): boolean;
};

export class CodeReader {
  /** After the code: consumed text that is not code, to be read again. */
  again = '';
  /** After the code: only white space precedes the following text in its line. */
  endsAtLineStart = false;
  readonly #context: CodeContext;
  #place: Place = none;
  /** Backticks do not start code, up to the end of the line or of the paragraph. */
  #strays: 'no' | 'line' | 'paragraph' = 'no';

  constructor(context: CodeContext) {
    this.#context = context;
  }

  get isOpen(): boolean {
    return this.#place.kind !== 'none';
  }

  /** Whether code may begin with this character. A fence may open even after a stray backtick. */
  mayBegin(char: string, atLineStart: boolean): boolean {
    return char === '`' ? this.#strays === 'no' || atLineStart : char === '~' && atLineStart;
  }

  begin(char: string, atLineStart: boolean): void {
    this.again = '';
    this.endsAtLineStart = false;
    this.#place = { kind: 'run', run: { char, length: 0 }, atLineStart };
  }

  /** A line of text has ended. */
  endLine(wasBlank: boolean): void {
    if (this.#strays === 'line' || wasBlank) this.#strays = 'no';
  }

  /** Reads to the end of the text, or of the code; returns the offset that it reached. */
  take(text: string, from: number): number {
    let at = from;
    while (at < text.length && this.isOpen) at = this.#advance(this.#place, text, at);
    return at;
  }

  /** The text has ended. */
  end(): void {
    if (this.#place.kind === 'run') this.#endRun(this.#place);
    const place = this.#place;
    this.#place = none;
    if (place.kind === 'fence' && place.held !== null) this.#endHeldFence(place.fence, place.held.read());
    if (place.kind === 'span') {
      place.span.end();
      this.#endSpan(place.span);
    }
  }

  #advance(place: Place, text: string, at: number): number {
    switch (place.kind) {
      case 'none':
        return at;
      case 'run':
        return this.#inRun(place, text, at);
      case 'fence':
        return place.held === null ? this.#inFence(place, text, at) : this.#inHeldFence(place, place.held, text, at);
      case 'span':
        return this.#inSpan(place.span, text, at);
      default:
        return place satisfies never;
    }
  }

  #inRun(place: PlaceOf<'run'>, text: string, from: number): number {
    let at = from;
    while (at < text.length && text.charAt(at) === place.run.char) at++;
    place.run.length += at - from;
    if (at < text.length) this.#endRun(place);
    return at;
  }

  #endRun({ run, atLineStart }: PlaceOf<'run'>): void {
    const text = run.char.repeat(run.length);
    if (atLineStart && run.length >= 3) {
      const held = this.#context.mayBeCall() ? new GrowingText() : null;
      this.#place = { kind: 'fence', run, fence: new CodeFence(run), held, heldBytes: run.length };
      held?.append(text);
      if (held !== null) return;
    } else {
      this.#place = run.char === '`' && this.#strays === 'no' ? { kind: 'span', span: new CodeSpan(run.length) } : none;
    }
    this.#context.output.addText(text);
  }

  #inFence(place: PlaceOf<'fence'>, text: string, from: number): number {
    const at = place.fence.take(text, from);
    this.#context.output.addText(text.slice(from, at));
    this.#afterFence(place);
    return at;
  }

  #afterFence({ fence, run }: PlaceOf<'fence'>): void {
    if (fence.isSpan) this.#place = { kind: 'span', span: new CodeSpan(run.length) };
    else if (fence.closed) this.#place = none;
  }

  /** Holds the text back until the end of the reply, or until it is an example or other code. */
  #inHeldFence(place: PlaceOf<'fence'>, held: GrowingText, text: string, from: number): number {
    const { fence } = place;
    const before = held.length;
    const at = fence.closed ? skipBlanks(text, from) : fence.take(text, from);
    const taken = text.slice(from, at);
    held.append(taken);
    place.heldBytes += utf8Length(taken);
    const isExample =
      (fence.closed && at < text.length && text.charAt(at) !== '\n') ||
      fence.isSpan ||
      place.heldBytes > limits.maxArgumentBytes ||
      (before < probeLength && !mayHoldCall(held.read()));
    if (!isExample) return at;
    const code = held.read();
    place.held = null;
    this.#context.output.addText(code);
    this.endsAtLineStart = endsInMargin(code);
    this.#afterFence(place);
    return at;
  }

  #endHeldFence(fence: CodeFence, text: string): void {
    const begin = text.indexOf('\n');
    const end = fence.closed || fence.atClosingLine ? text.trimEnd().lastIndexOf('\n') : text.length;
    const body = text.slice(begin + 1, end);
    if (begin < 0 || !mayHoldCall(text) || !this.#context.holdsCalls(body)) {
      this.#context.output.addText(text);
      return;
    }
    this.again = body;
    this.endsAtLineStart = true;
  }

  #inSpan(span: CodeSpan, text: string, from: number): number {
    const isHeld = span.held !== null;
    const at = span.take(text, from);
    if (!isHeld) this.#context.output.addText(text.slice(from, at));
    if (span.state !== 'open') this.#endSpan(span);
    return at;
  }

  #endSpan({ held, state, isWide }: CodeSpan): void {
    this.#place = none;
    if (held === null) return;
    if (state === 'closed') {
      this.#context.output.addText(held.read());
      return;
    }
    this.#strays = isWide ? 'paragraph' : 'line';
    this.again = held.read();
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

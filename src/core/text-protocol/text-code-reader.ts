/**
 * Reads the code in a model's text, so that calls in it do not count: passes it on as text, and returns parts that turn out not to be
 * code, to be read again. `text-code.ts` defines fences and spans. Used by `text-tool-calls.ts`.
 */
import { CodeFence, CodeSpan, DoubtfulSpan, isMargin } from './text-code.ts';
import { FencedCall } from './text-fenced-call.ts';
import type { VisibleOutput } from './visible-output.ts';

/** `length`: of the run of backticks or tildes at its start. */
type Place =
  | { kind: 'none' }
  | { kind: 'run'; char: string; length: number; atLineStart: boolean }
  | { kind: 'fence'; fence: CodeFence; length: number }
  | { kind: 'fenced-call'; call: FencedCall }
  | { kind: 'span'; span: CodeSpan; length: number }
  | { kind: 'doubtful'; span: DoubtfulSpan };
type PlaceOf<Kind extends Place['kind']> = Extract<Place, { kind: Kind }>;

const none: Place = { kind: 'none' };

export type CodeContext = {
  spoken: VisibleOutput;
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
    this.#place = { kind: 'run', char, length: 0, atLineStart };
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
    if (place.kind === 'fenced-call') this.#endFencedCall(place);
    if (place.kind === 'doubtful') {
      place.span.end();
      this.#endDoubt(place);
    }
    this.#place = none;
  }

  #advance(place: Place, text: string, at: number): number {
    switch (place.kind) {
      case 'none':
        return at;
      case 'run':
        return this.#inRun(place, text, at);
      case 'fence':
        return this.#inFence(place, text, at);
      case 'fenced-call':
        return this.#inFencedCall(place, text, at);
      case 'span':
        return this.#inSpan(place, text, at);
      case 'doubtful':
        return this.#inDoubt(place, text, at);
      default:
        return place satisfies never;
    }
  }

  #inRun(place: PlaceOf<'run'>, text: string, from: number): number {
    let at = from;
    while (at < text.length && text.charAt(at) === place.char) at++;
    place.length += at - from;
    if (at < text.length) this.#endRun(place);
    return at;
  }

  #endRun({ char, length, atLineStart }: PlaceOf<'run'>): void {
    if (atLineStart && length >= 3) {
      if (this.#context.mayBeCall()) {
        this.#place = { kind: 'fenced-call', call: new FencedCall(char, length) };
        return;
      }
      this.#place = { kind: 'fence', fence: new CodeFence(char, length), length };
    } else {
      this.#place = char === '`' && this.#strays === 'no' ? { kind: 'span', span: new CodeSpan(length), length } : none;
    }
    this.#say(char.repeat(length));
  }

  #inFence({ fence, length }: PlaceOf<'fence'>, text: string, from: number): number {
    const at = fence.take(text, from);
    this.#say(text.slice(from, at));
    this.#afterFence(fence, length);
    return at;
  }

  #afterFence(fence: CodeFence, length: number): void {
    if (fence.isSpan) this.#place = { kind: 'span', span: new CodeSpan(length), length };
    else this.#place = fence.closed ? none : { kind: 'fence', fence, length };
  }

  #inFencedCall({ call }: PlaceOf<'fenced-call'>, text: string, from: number): number {
    const at = call.take(text, from);
    if (call.isRefuted) {
      this.#say(call.text);
      this.#afterFence(call.fence, call.length);
      this.endsAtLineStart = endsInMargin(call.text);
    }
    return at;
  }

  #endFencedCall({ call }: PlaceOf<'fenced-call'>): void {
    const body = call.body();
    if (body === null || !this.#context.holdsCalls(body)) {
      this.#say(call.text);
      return;
    }
    this.again = body;
    this.endsAtLineStart = true;
  }

  #inSpan({ span, length }: PlaceOf<'span'>, text: string, from: number): number {
    const at = span.take(text, from);
    this.#say(text.slice(from, at));
    if (span.state === 'angle') this.#place = { kind: 'doubtful', span: new DoubtfulSpan(length, span.isEmpty) };
    else if (span.state !== 'open') this.#place = none;
    return at;
  }

  #inDoubt(place: PlaceOf<'doubtful'>, text: string, from: number): number {
    const at = place.span.take(text, from);
    if (place.span.state !== 'open') this.#endDoubt(place);
    return at;
  }

  #endDoubt({ span }: PlaceOf<'doubtful'>): void {
    this.#place = none;
    if (span.state === 'code') {
      this.#say(span.text);
      return;
    }
    this.#strays = span.isWide ? 'paragraph' : 'line';
    this.again = span.text;
  }

  #say(text: string): void {
    this.#context.spoken.say(text);
  }
}

/** Only white space after a line break. */
export function endsInMargin(text: string): boolean {
  let at = text.length;
  while (at > 0 && isMargin(text.charAt(at - 1))) at--;
  return text.charAt(at - 1) === '\n';
}

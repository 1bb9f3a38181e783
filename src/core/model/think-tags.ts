/**
 * Reasoning in the text of a reply: servers without a parser for a model leave it between `<think>` and `</think>` before the answer, some with
 * the end tag alone, because their chat template writes the first one. Splits it from the text, of a reply as it arrives and of a message in a
 * client's history. Sources: vllm-project/vllm#31045, Cerebras/cerebras-cloud-sdk-python#10; MiniMax "OpenAI API" (the tags stay in the text,
 * and go back in it); the tags are those of open-webui's guide "Reasoning & Thinking Models" and of llama.cpp's web interface.
 */
import { GrowingText } from './growing-text.ts';

const tags = [
  ...['think', 'thinking', 'thought', 'reasoning'].map((name) => ({ open: `<${name}>`, close: `</${name}>` })),
  { open: '[THINK]', close: '[/THINK]' },
] as const;
type Tags = { open: string; close: string };
const [usual] = tags;

export type ThinkingPiece = { type: 'text' | 'reasoning'; text: string };

/** Returns reasoning as the model writes it into its text. `open`: the tag that it was found in. */
export function writeThinking(open: string, reasoning: string, text: string): string {
  const { open: begin, close } = tags.find((known) => known.open === open) ?? usual;
  return `${begin}\n${reasoning}\n${close}\n\n${text}`;
}

/** Splits a whole text; null: it does not begin with reasoning. */
export function splitThinking(text: string): { open: string; reasoning: string; text: string } | null {
  const begun = text.trimStart();
  const found = tags.find(({ open }) => begun.startsWith(open));
  const end = found === undefined ? loneEnd(begun) : begun.indexOf(found.close);
  if (end <= 0) return null;
  const { open, close } = found ?? usual;
  const from = found === undefined ? 0 : open.length;
  return { open, reasoning: begun.slice(from, end).trim(), text: begun.slice(end + close.length).trimStart() };
}

/** The end tag without the first one, alone in its line; -1: there is none. */
function loneEnd(text: string): number {
  const at = text.indexOf(`\n${usual.close}`);
  return at < 0 || !/^\s*(\n|$)/.test(text.slice(at + 1 + usual.close.length)) ? -1 : at + 1;
}

/** Splits the text of a reply as it arrives. `isOpened`: the reply begins in its reasoning. */
export class ThinkingText {
  readonly #isOpened: boolean;
  /** The tag in which reasoning was found; null: none was, or it has not ended. */
  open: string | null = null;
  #place: 'begin' | 'reasoning' | 'gap' | 'answer' = 'begin';
  #tags: Tags = usual;
  /** What may be part of a tag, or white space around one. */
  #held = '';
  #hasReasoning = false;
  /** Reasoning without a tag so far: the answer, if no end tag follows. */
  #untagged: GrowingText | null = null;

  constructor(isOpened: boolean) {
    this.#isOpened = isOpened;
  }

  get isInReasoning(): boolean {
    return this.#place === 'reasoning';
  }

  /** The rest of the text is the answer. */
  get isDecided(): boolean {
    return this.#place === 'answer';
  }

  push(text: string): ThinkingPiece[] {
    if (this.#place === 'answer') return [{ type: 'text', text }];
    this.#held += text;
    const pieces: ThinkingPiece[] = [];
    while (this.#step(pieces));
    return pieces;
  }

  /** Ends the text. `isCut`: the reply may have ended in its reasoning. */
  finish(isCut: boolean): ThinkingPiece[] {
    const held = this.#held;
    const [place, untagged] = [this.#place, this.#untagged];
    this.#held = '';
    this.#place = 'answer';
    if (place !== 'reasoning') return held === '' ? [] : [{ type: 'text', text: held }];
    const rest: ThinkingPiece[] = held.trim() === '' ? [] : [{ type: 'reasoning', text: held.trimEnd() }];
    return isCut || untagged === null ? rest : [...rest, { type: 'text', text: untagged.read() + held }];
  }

  /** Returns false when it needs more text. */
  #step(pieces: ThinkingPiece[]): boolean {
    if (this.#place === 'begin') return this.#begin(pieces);
    if (this.#place === 'reasoning') return this.#inReasoning(pieces);
    if (this.#place === 'answer') return false;
    this.#held = this.#held.trimStart();
    if (this.#held === '') return false;
    this.#answer(pieces);
    return false;
  }

  #begin(pieces: ThinkingPiece[]): boolean {
    const begun = this.#held.trimStart();
    const found = tags.find(({ open }) => begun.startsWith(open));
    const mayFollow = this.#held.length < maxHeld && tags.some(({ open }) => open.startsWith(begun));
    if (found === undefined && mayFollow) return false;
    if (found === undefined && !this.#isOpened && loneEnd(begun) < 0) {
      this.#answer(pieces);
      return false;
    }
    this.#tags = found ?? usual;
    this.#held = begun.slice(found?.open.length ?? 0);
    if (found === undefined && this.#isOpened) this.#untagged = new GrowingText();
    this.#place = 'reasoning';
    return true;
  }

  #inReasoning(pieces: ThinkingPiece[]): boolean {
    const { open, close } = this.#tags;
    if (!this.#hasReasoning) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(close);
    const said = end < 0 ? this.#held.slice(0, heldFrom(this.#held, close)) : this.#held.slice(0, end).trimEnd();
    if (said !== '') pieces.push({ type: 'reasoning', text: said });
    this.#hasReasoning ||= said !== '';
    this.#untagged?.append(said);
    this.#held = this.#held.slice(end < 0 ? said.length : end + close.length);
    if (end < 0) return false;
    this.open = open;
    this.#place = 'gap';
    return true;
  }

  #answer(pieces: ThinkingPiece[]): void {
    if (this.#held !== '') pieces.push({ type: 'text', text: this.#held });
    this.#held = '';
    this.#place = 'answer';
  }
}

/** White space before a tag. */
const maxHeld = 1_000;

/** Returns where the white space and the beginning of a tag at the end of the text start. */
function heldFrom(text: string, close: string): number {
  let from = text.length;
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (!text.endsWith(close.slice(0, length))) continue;
    from -= length;
    break;
  }
  return text.slice(0, from).trimEnd().length;
}

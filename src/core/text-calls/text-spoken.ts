/**
 * What becomes visible of a model's words while calls are taken out of them: text, without the blanks that only stood around
 * calls, and thoughts. Collects the events of a reply between two reads. Used by `text-tool-calls.ts`.
 */
import type { ChatEvent } from '../chat-event.ts';
import { GrowingText } from '../growing-text.ts';

export class SpokenWords {
  /** Whoever reads calls puts their events here, in their place. */
  events: ChatEvent[] = [];
  hasSpoken = false;
  /** Blanks at the end of the text so far. */
  #blanks = new GrowingText();
  /** Since the last visible word something was left out. */
  #afterMarkup = false;

  say(text: string): void {
    const end = text.trimEnd().length;
    if (end === 0) {
      this.#blanks.append(text);
      return;
    }
    // Blanks around a call before the first word are the call's.
    const isFirst = !this.hasSpoken && this.#afterMarkup;
    const said = text.slice(0, end);
    const words = isFirst ? said.trimStart() : this.#blanks.read() + said;
    this.#blanks = new GrowingText();
    this.#blanks.append(text.slice(end));
    this.hasSpoken = true;
    this.#afterMarkup = false;
    this.#push('text', words);
  }

  think(text: string): void {
    if (text !== '') this.#push('reasoning', text);
  }

  /** Something was left out here. */
  skip(): void {
    this.#afterMarkup = true;
  }

  /** The last blanks, unless they only follow what was left out. */
  finish(): void {
    const blanks = this.#blanks.read();
    if (blanks !== '' && !this.#afterMarkup) this.#push('text', blanks);
  }

  /** The events since the last time. */
  taken(): ChatEvent[] {
    const events = this.events;
    this.events = [];
    return events;
  }

  #push(type: 'text' | 'reasoning', text: string): void {
    const last = this.events.at(-1);
    if (last !== undefined && last.type === type) last.text += text;
    else this.events.push({ type, text });
  }
}

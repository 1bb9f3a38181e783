/**
 * Collects the visible part of a model's text while calls are removed from it: text, without the white space around calls, and
 * reasoning. Collects the events of a reply between two reads. Used by `tool-calls.ts`.
 */
import type { ChatEvent } from '../model/chat-event.ts';
import { GrowingText } from '../model/growing-text.ts';

export class VisibleOutput {
  hasText = false;
  #events: ChatEvent[] = [];
  /** White space at the end of the text so far. */
  #blanks = new GrowingText();
  /** Something was removed since the last visible text. */
  #afterMarkup = false;

  addText(text: string): void {
    const end = text.trimEnd().length;
    if (end === 0) {
      this.#blanks.append(text);
      return;
    }
    // White space around a call before the first visible text belongs to the call.
    const isFirst = !this.hasText && this.#afterMarkup;
    const shown = text.slice(0, end);
    const visible = isFirst ? shown.trimStart() : this.#blanks.read() + shown;
    this.#blanks = new GrowingText();
    this.#blanks.append(text.slice(end));
    this.hasText = true;
    this.#afterMarkup = false;
    this.#push('text', visible);
  }

  addReasoning(text: string): void {
    if (text !== '') this.#push('reasoning', text);
  }

  /** Inserts the events of a call, in order with the text. */
  emit(events: readonly ChatEvent[]): void {
    for (const event of events) this.#events.push(event);
  }

  /** Marks that something was removed here. */
  skip(): void {
    this.#afterMarkup = true;
  }

  /** Emits the trailing white space, unless it follows something that was removed. */
  finish(): void {
    const blanks = this.#blanks.read();
    if (blanks !== '' && !this.#afterMarkup) this.#push('text', blanks);
  }

  /** Returns the events since the last call. */
  takeEvents(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #push(type: 'text' | 'reasoning', text: string): void {
    const last = this.#events.at(-1);
    if (last !== undefined && last.type === type) last.text += text;
    else this.#events.push({ type, text });
  }
}

/** Messages for screen readers: that a call requires approval and that a turn ended, never the text as it arrives. */
import { signal } from '@preact/signals';

export const announcement = signal('');

export function announce(text: string): void {
  announcement.value = text;
}

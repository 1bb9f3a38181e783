import { useSignal } from '@preact/signals';

const shownMs = 1_500;

/** Copies `text` and says so. Where the browser refuses the clipboard (plain HTTP on another machine), it says that instead. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const state = useSignal<'idle' | 'copied' | 'failed'>('idle');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'copied';
    } catch {
      // Not permitted here; the user can still select the text.
      state.value = 'failed';
    }
    setTimeout(() => (state.value = 'idle'), shownMs);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {{ idle: 'Copy', copied: 'Copied', failed: 'Not permitted' }[state.value]}
      <span class="visually-hidden" aria-live="polite">
        {state.value === 'copied' ? 'Copied' : ''}
      </span>
    </button>
  );
}

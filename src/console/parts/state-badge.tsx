/** A state as a word with a dot, never by color alone. */

const tones: Readonly<Record<string, string>> = {
  ...{ done: 'ok', completed: 'ok', failed: 'bad', denied: 'bad', waiting: 'warn', running: 'info', writing: 'info', interrupted: 'bad' },
};

export function StateBadge({ state }: { state: string }) {
  return (
    <span class={`badge state ${tones[state] ?? ''}`}>
      <i aria-hidden="true" />
      {state}
    </span>
  );
}

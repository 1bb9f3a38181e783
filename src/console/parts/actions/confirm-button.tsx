/** A button whose action cannot be undone: it asks before it acts. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

type ConfirmProps = {
  label: string;
  /** The label for screen readers, where several buttons have the same one. It begins with `label`. */
  name?: string;
  question: string;
  onConfirm(): void;
};

export function ConfirmButton({ label, name, question, onConfirm }: ConfirmProps) {
  const isAsking = useSignal(false);
  const first = useRef<HTMLButtonElement>(null);
  const keep = useRef<HTMLButtonElement>(null);
  // Once, not whenever the page is rendered again: the user may have moved on.
  useEffect(() => keep.current?.focus(), [isAsking.value]);
  if (!isAsking.value)
    return (
      <button type="button" ref={first} aria-label={name} onClick={() => (isAsking.value = true)}>
        {label}
      </button>
    );
  const answer = (isYes: boolean): void => {
    isAsking.value = false;
    if (isYes) onConfirm();
    else setTimeout(() => first.current?.focus());
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as a form
    <span class="actions" role="group" aria-label={question}>
      <strong>{question}</strong>
      <button type="button" class="danger" onClick={() => answer(true)}>
        {label}
      </button>
      <button type="button" ref={keep} onClick={() => answer(false)}>
        Keep
      </button>
    </span>
  );
}

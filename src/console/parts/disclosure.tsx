/** A part of a page that is opened on request. Its content is made then, and not before. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export function Disclosure({ title, children }: { title: string; children: ComponentChildren }) {
  const wasOpened = useSignal(false);
  return (
    <details
      onToggle={({ currentTarget }) => {
        wasOpened.value ||= currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {wasOpened.value && children}
    </details>
  );
}

/** A part of a page that is opened on request. Its content is made then, and not before. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

type DisclosureProps = { title: string; isOpen?: boolean; children: ComponentChildren };

/** `isOpen`: at first. */
export function Disclosure({ title, isOpen = false, children }: DisclosureProps) {
  const wasOpened = useSignal(isOpen);
  const first = useRef(isOpen);
  return (
    <details
      open={first.current}
      onToggle={({ currentTarget }) => {
        wasOpened.value ||= currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {wasOpened.value && children}
    </details>
  );
}

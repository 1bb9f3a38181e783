import { visible } from './visible.ts';

/** Messages about places in a document. */
export function PathMessages({ class: named, items }: { class?: string; items: readonly { path: string; message: string }[] }) {
  return (
    <ul class={named}>
      {items.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          {path !== '' && <code>{visible(path)}</code>} {visible(message)}
        </li>
      ))}
    </ul>
  );
}

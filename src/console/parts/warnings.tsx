/** What is wrong with a document that is stored all the same. */
import type { components } from '../../../client/src/index.ts';
import { visible } from './visible.ts';

export function Warnings({ warnings }: { warnings: readonly components['schemas']['Warning'][] }) {
  if (warnings.length === 0) return null;
  return (
    <section class="notice warn rounded" aria-label="Warnings">
      <ul>
        {warnings.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            {path !== '' && <code>{visible(path)}</code>} {visible(message)}
          </li>
        ))}
      </ul>
    </section>
  );
}

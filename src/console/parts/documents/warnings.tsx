/** Warnings of a document that was stored despite them. */
import type { components } from '../../../../client/src/index.ts';
import { PathMessages } from '../text/path-messages.tsx';

export function Warnings({ warnings }: { warnings: readonly components['schemas']['Warning'][] }) {
  if (warnings.length === 0) return null;
  return (
    <section class="notice warn rounded" aria-label="Warnings">
      <PathMessages items={warnings} />
    </section>
  );
}

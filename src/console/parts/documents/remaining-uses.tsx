/** What still names a document that was deleted, as the answer of DELETE lists it. */
import type { components } from '../../../../client/src/index.ts';
import { visible } from '../text/visible.ts';

export type RemainingUse = components['schemas']['Warning'];

export function RemainingUses({ uses }: { uses: readonly RemainingUse[] }) {
  if (uses.length === 0) return null;
  return (
    <div class="notice warn" role="alert">
      <p>Deleted. Something still names it:</p>
      <ul>
        {uses.map(({ path, message }) => (
          <li key={path}>
            <code>{visible(path)}</code> {visible(message)}
          </li>
        ))}
      </ul>
    </div>
  );
}

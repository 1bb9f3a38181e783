/** A key that was just created or rotated: shown once. */
import type { components } from '../../../../client/src/index.ts';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { visible } from '../../parts/text/visible.ts';

type NewKeyProps = { created: components['schemas']['CreatedKey']; onDone?(): void };

export function NewKey({ created: { name, key, previousExpiresAt }, onDone }: NewKeyProps) {
  return (
    <section class="new-key" aria-label="New key">
      <h2>{visible(name)}</h2>
      <p>Copy the key now: it is not shown again.</p>
      {previousExpiresAt !== null && <p>The previous one works until {new Date(previousExpiresAt).toLocaleString()}.</p>}
      <p class="actions">
        <code>{key}</code>
        <CopyButton text={key} what="the key" />
        {onDone !== undefined && (
          <>
            <span class="grow" />
            <button type="button" onClick={onDone}>
              Done
            </button>
          </>
        )}
      </p>
    </section>
  );
}

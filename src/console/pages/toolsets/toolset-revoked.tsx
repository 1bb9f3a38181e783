/** The tools that the draft takes out of the toolset, which can be revoked, and those that are revoked, which can be given back. */
import { visible } from '../../parts/text/visible.ts';
import { isListed } from './toolset-draft.ts';
import type { OpenToolset } from './toolset-state.ts';

export function RevokedTools({ state: { document } }: { state: OpenToolset }) {
  const draft = document.draft.value;
  if (draft === null) return null;
  const { revoked = [] } = draft;
  // Of a toolset that is not stored yet, an empty text or the blank draft.
  const before: { tools?: { tool?: string }[] } = document.stored.value === '' ? {} : JSON.parse(document.stored.value);
  const removed = [...new Set((before.tools ?? []).flatMap(({ tool }) => tool ?? []))].filter(
    (tool) => !isListed(draft, tool) && !revoked.includes(tool),
  );
  if (removed.length + revoked.length === 0) return null;
  return (
    <section aria-label="Removed tools">
      <ul class="rows">
        {[...removed, ...revoked].map((tool) => {
          const isRevoked = revoked.includes(tool);
          return (
            <li key={tool}>
              <code>{visible(tool)}</code>
              {isRevoked && <span class="badge bad">revoked</span>}
              <span class="muted">{isRevoked ? 'no version can call it' : 'removed: sessions that use an earlier version keep it'}</span>
              <button
                type="button"
                class="plain"
                aria-label={isRevoked ? `Give ${tool} back` : `Revoke ${tool}`}
                onClick={() =>
                  document.replace({ ...draft, revoked: isRevoked ? revoked.filter((one) => one !== tool) : [...revoked, tool] })
                }
              >
                {isRevoked ? 'Give back' : 'Revoke'}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

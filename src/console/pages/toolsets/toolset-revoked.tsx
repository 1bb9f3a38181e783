/** The tools that the draft takes out of the toolset, which can be revoked, and those that are revoked, which can be given back. */
import { visible } from '../../parts/visible.ts';
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
        {removed.map((tool) => (
          <li key={tool}>
            <code>{visible(tool)}</code>
            <span class="muted">removed: sessions that use an earlier version keep it</span>
            <button
              type="button"
              class="plain"
              aria-label={`Revoke ${tool}`}
              onClick={() => document.replace({ ...draft, revoked: [...revoked, tool] })}
            >
              Revoke
            </button>
          </li>
        ))}
        {revoked.map((tool) => (
          <li key={tool}>
            <code>{visible(tool)}</code>
            <span class="badge bad">revoked</span>
            <span class="muted">no version can call it</span>
            <button
              type="button"
              class="plain"
              aria-label={`Give ${tool} back`}
              onClick={() => document.replace({ ...draft, revoked: revoked.filter((one) => one !== tool) })}
            >
              Give back
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

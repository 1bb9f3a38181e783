/** Two texts side by side in one column: lines that were removed and added, marked by sign and color, with every hidden character shown. */
import { changedWords, type DiffPart, lineDiff, withContext } from '../../text/line-diff.ts';
import { visible } from '../text/visible.ts';

const signs = { same: ' ', added: '+', removed: '−' } as const;

export function DiffLines({ before, after, label }: { before: string | null; after: string | null; label: string }) {
  const parts = withContext(lineDiff(before, after));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="diff" tabIndex={0} aria-label={label}>
      {parts.length === 0 || parts.every(({ kind }) => kind === 'skipped') ? (
        <p class="muted">No difference.</p>
      ) : (
        <pre>
          {parts.map((part, index) => {
            if (part.kind === 'skipped') return <span key={index} class="skipped">{`  ⋯ ${part.count} unchanged lines`}</span>;
            const Line = part.kind === 'added' ? 'ins' : part.kind === 'removed' ? 'del' : 'span';
            return (
              <Line key={index}>
                {signs[part.kind]} <LineText parts={parts} index={index} />
              </Line>
            );
          })}
        </pre>
      )}
    </section>
  );
}

/** In a line that was replaced by one other line, the words that differ are marked. */
function LineText({ parts, index }: { parts: readonly DiffPart[]; index: number }) {
  const kindAt = (at: number) => parts[at]?.kind;
  const part = parts[index];
  if (part === undefined || part.kind === 'skipped') return null;
  const first = part.kind === 'added' ? index - 1 : index;
  const [removed, added] = parts.slice(Math.max(first, 0), first + 2);
  const isPair = kindAt(first - 1) !== 'removed' && kindAt(first + 2) !== 'added';
  const words = isPair && removed?.kind === 'removed' && added?.kind === 'added' ? changedWords(removed.text, added.text) : null;
  const own = words?.[part.kind === 'added' ? 1 : 0];
  if (part.kind === 'same' || own === undefined) return <>{visible(part.text)}</>;
  return (
    <>
      {visible(own.start)}
      {own.changed !== '' && <mark>{visible(own.changed)}</mark>}
      {visible(own.end)}
    </>
  );
}

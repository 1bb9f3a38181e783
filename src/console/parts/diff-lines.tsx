/** Two texts side by side in one column: lines that were removed and added, marked by sign and color, with every hidden character shown. */
import { lineDiff, withContext } from '../text/line-diff.ts';
import { visible } from './visible.ts';

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
                {signs[part.kind]} {visible(part.text)}
              </Line>
            );
          })}
        </pre>
      )}
    </section>
  );
}

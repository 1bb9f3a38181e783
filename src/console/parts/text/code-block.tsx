import { type CodeLanguage, highlight } from './highlight.ts';

/** Code that scrolls within its box. `label` names the region for screen readers. */
export function CodeBlock({ text, language, label }: { text: string; language: CodeLanguage; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="code" tabIndex={0} aria-label={label}>
      <pre>
        <code>
          {highlight(text, language).map(({ kind, text: part }, index) =>
            kind === 'plain' ? (
              part
            ) : (
              <span key={index} class={`t-${kind}`}>
                {part}
              </span>
            ),
          )}
        </code>
      </pre>
    </section>
  );
}

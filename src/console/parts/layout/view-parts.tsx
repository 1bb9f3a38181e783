/** A view whose parts have addresses of their own. */
import type { ComponentChildren, ComponentType } from 'preact';
import { pathOf, type ViewProps } from '../../router.ts';

type ViewPartsProps = ViewProps & {
  view: string;
  title: string;
  /** The first is shown without an id. */
  parts: readonly { id: string | null; title: ComponentChildren; Content: ComponentType }[];
};

export function ViewParts({ id, view, title, parts }: ViewPartsProps) {
  const shown = parts.find((part) => part.id === id) ?? parts[0];
  return (
    <div class="view wide">
      <header class="head">
        <h1>{title}</h1>
        <nav class="view-tabs" aria-label={title}>
          {parts.map((part) => (
            <a key={part.id ?? ''} href={pathOf(view, part.id)} aria-current={part === shown ? 'page' : undefined}>
              {part.title}
            </a>
          ))}
        </nav>
      </header>
      {shown !== undefined && <shown.Content />}
    </div>
  );
}

/** The parts of a view, each with an address of its own. */
import type { ComponentChildren } from 'preact';
import { pathOf } from '../router.ts';

type ViewTabsProps = {
  label: string;
  view: string;
  current: string | null;
  tabs: readonly { id: string | null; title: ComponentChildren }[];
};

export function ViewTabs({ label, view, current, tabs }: ViewTabsProps) {
  return (
    <nav class="view-tabs" aria-label={label}>
      {tabs.map(({ id, title }) => (
        <a key={id ?? ''} href={pathOf(view, id)} aria-current={id === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

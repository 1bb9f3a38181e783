/** The panel at the side of a view: its tabs, and the content of the chosen one. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren, Ref } from 'preact';

type TabPanelProps<Tab extends string> = {
  label: string;
  tabs: readonly Tab[];
  tab: Signal<Tab>;
  children: ComponentChildren;
  /** A button beside the tabs. */
  action?: ComponentChildren;
  panel?: Ref<HTMLElement>;
};

export function TabPanel<Tab extends string>({ label, tabs, tab, children, action, panel }: TabPanelProps<Tab>) {
  return (
    <aside class="inspector" aria-label={label} ref={panel ?? null}>
      <header>
        <div class="tabs" role="tablist" aria-label={label}>
          {tabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab.value === name}
              aria-controls="inspected"
              onClick={() => (tab.value = name)}
            >
              {name}
            </button>
          ))}
        </div>
        {action}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div id="inspected" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
        {children}
      </div>
    </aside>
  );
}

/** The color scheme of the pages: that of the system, or the one chosen in this browser. */
import { signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageName = 'moniker-theme';

export const theme = signal<Theme>('system');

/** Applies the stored choice. */
export function loadTheme(): void {
  const stored = localStorage.getItem(storageName);
  apply(themes.find((one) => one === stored) ?? 'system');
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(storageName, chosen);
  apply(chosen);
}

function apply(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

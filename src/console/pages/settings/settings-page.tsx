/** `/console/settings/{part?}`: what this key may do, the master key, and the appearance. */
import type { ViewProps } from '../../router.ts';
import { isRoot } from '../../api/me.ts';
import { ViewParts } from '../../parts/layout/view-parts.tsx';
import { MasterKeyTab } from './master-key.tsx';
import { ThisKey } from './this-key.tsx';
import { chooseTheme, theme, themes } from '../../api/theme.ts';

const parts = [
  { id: null, title: 'This key', Content: ThisKey },
  { id: 'master-key', title: 'Master key', isRootOnly: true, Content: MasterKeyTab },
  { id: 'appearance', title: 'Appearance', Content: Appearance },
];

export function SettingsPage({ id }: ViewProps) {
  const shown = parts.filter(({ isRootOnly = false }) => !isRootOnly || isRoot());
  return <ViewParts id={id} view="settings" title="Settings" parts={shown} />;
}

const titles = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

/** The color scheme, for this browser. */
function Appearance() {
  return (
    <fieldset class="themes">
      <legend>Color scheme of this browser</legend>
      {themes.map((one) => (
        <label key={one} class="check">
          <input type="radio" name="theme" checked={theme.value === one} onChange={() => chooseTheme(one)} />
          {titles[one]}
        </label>
      ))}
    </fieldset>
  );
}

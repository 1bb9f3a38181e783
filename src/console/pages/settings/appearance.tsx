import { chooseTheme, theme, themes } from '../../api/theme.ts';

const titles = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

/** The color scheme, for this browser. */
export function Appearance() {
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

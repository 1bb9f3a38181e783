/** A menu of the header: the API key of the tab, or the person who is signed in. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useListeners } from '../layout/use-listeners.ts';
import { apiKey } from '../../api/key.ts';

/** `summary`: what the closed menu shows. */
export function HeaderMenu({ isSet, summary, children }: { isSet: boolean; summary: ComponentChildren; children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (event: Event): void => {
    const isInside = event.target instanceof Node && menu.current?.contains(event.target);
    const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
    if (!menu.current?.open || !(isEscape || (event.type === 'pointerdown' && !isInside))) return;
    menu.current.open = false;
    if (isEscape) menu.current.querySelector('summary')?.focus();
  };
  useListeners({ pointerdown: close, keydown: close });
  return (
    <details class="key-menu" ref={menu}>
      <summary>
        <span class={isSet ? 'dot set' : 'dot'} aria-hidden="true" />
        {summary}
      </summary>
      <div class="panel">{children}</div>
    </details>
  );
}

export function KeyMenu() {
  const isSet = apiKey.value !== '';
  return (
    <HeaderMenu
      isSet={isSet}
      summary={
        <>
          API key<span class="key-state">{isSet ? ': set' : ': not set'}</span>
        </>
      }
    >
      <label for="api-key">API key</label>
      <div class="key-row">
        <input
          id="api-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={apiKey.value}
          placeholder="mk_… or the root key"
          onInput={(event) => (apiKey.value = event.currentTarget.value.trim())}
        />
        <button type="button" disabled={apiKey.value === ''} onClick={() => (apiKey.value = '')}>
          Clear
        </button>
      </div>
      <p class="muted">Fills in the examples and authenticates the requests that you send here. Stored for this tab only.</p>
    </HeaderMenu>
  );
}

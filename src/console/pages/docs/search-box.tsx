/** The search field with its results, as a combobox (ARIA authoring practices: focus stays in the field). */
import { useComputed, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { useListeners } from '../../parts/layout/use-listeners.ts';
import { MethodBadge } from '../../parts/text/method-badge.tsx';
import { openRoute } from './route.ts';
import { searchReference, type SearchIndex, type SearchResult } from './search.ts';

const maxShown = 40;

export function SearchBox({ index }: { index: SearchIndex }) {
  const query = useSignal('');
  const isOpen = useSignal(false);
  const active = useSignal(0);
  const results = useComputed(() => searchReference(index, query.value));
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useSlash(input);
  const shown = results.value.slice(0, maxShown);
  const isListed = isOpen.value && query.value.trim() !== '';
  const close = () => (isOpen.value = false);
  const move = (step: number): void => {
    if (shown.length === 0) return;
    isOpen.value = true;
    active.value = (active.value + step + shown.length) % shown.length;
    document.getElementById(`result-${active.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  const open = (result: SearchResult | undefined): void => {
    if (result === undefined) return;
    close();
    query.value = '';
    input.current?.blur();
    openRoute(result.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter') open(shown[active.value]);
    else if (event.key === 'Escape') {
      if (isListed) close();
      else input.current?.blur();
    } else return;
    event.preventDefault();
  };
  return (
    <search class="search" ref={box}>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search the reference"
        aria-expanded={isListed}
        aria-controls={isListed ? 'results' : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isListed && shown.length > 0 ? `result-${active.value}` : undefined}
        placeholder="Search operations, parameters, schemas"
        autocomplete="off"
        spellcheck={false}
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
          active.value = 0;
          isOpen.value = true;
        }}
        onFocus={() => (isOpen.value = true)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <span class="kbd" aria-hidden="true">
        /
      </span>
      <p class="visually-hidden" role="status">
        {isListed ? countPhrase(results.value.length) : ''}
      </p>
      {isListed && (
        <div class="results">
          <p class="muted count">
            {shown.length === 0
              ? `No results for “${query.value.trim()}”. Try a path, a parameter or a schema name.`
              : countPhrase(results.value.length)}
          </p>
          {shown.length > 0 && (
            <div id="results" role="listbox" aria-label="Results">
              {shown.map((result, position) => (
                // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: as above
                <div
                  key={result.href}
                  id={`result-${position}`}
                  role="option"
                  aria-selected={position === active.value}
                  onMouseDown={(event) => event.preventDefault()}
                  onMouseMove={() => (active.value = position)}
                  onClick={() => open(result)}
                >
                  {result.method === '' ? (
                    <span class="badge">{result.kind === 'tag' ? 'group' : 'schema'}</span>
                  ) : (
                    <MethodBadge method={result.method} />
                  )}
                  <span class="title">{result.title}</span>
                  <span class="detail">{result.detail}</span>
                </div>
              ))}
            </div>
          )}
        </div>
      )}
    </search>
  );
}

function countPhrase(count: number): string {
  if (count === 0) return 'No results';
  return count === 1 ? '1 result' : `${count} results${count > maxShown ? `, the first ${maxShown} are shown` : ''}`;
}

/** `/` moves the focus to the search, except while the user types elsewhere. */
function useSlash(input: RefObject<HTMLInputElement | null>): void {
  const press = (event: KeyboardEvent): void => {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.current?.focus();
    input.current?.select();
  };
  useListeners({ keydown: press });
}

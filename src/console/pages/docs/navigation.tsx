/** The navigation: the operations of each group, and the schemas. Only open groups have their links in the page. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { MethodBadge } from '../../parts/text/method-badge.tsx';
import type { ApiReference } from './reference.ts';
import type { DocsRoute } from './route.ts';

const schemasGroup = 'Schemas';
const openGroups = signal<ReadonlySet<string>>(new Set());

function setOpen(name: string, isOpen: boolean): void {
  const next = new Set(openGroups.value);
  if (isOpen) next.add(name);
  else next.delete(name);
  openGroups.value = next;
}

export function DocsNavigation({ reference, current }: { reference: ApiReference; current: DocsRoute }) {
  const group = groupOf(reference, current);
  useEffect(() => {
    if (group !== '') setOpen(group, true);
    // After the group has opened.
    requestAnimationFrame(() => document.querySelector('.side [aria-current]')?.scrollIntoView({ block: 'nearest' }));
  }, [group, current]);
  const currentIf = (page: DocsRoute['page'], name: string) =>
    current.page === page && current.name === name ? ('page' as const) : undefined;
  return (
    <>
      <ul class="top-links">
        <li>
          <a href="#overview" aria-current={currentIf('overview', '')}>
            Overview
          </a>
        </li>
        <li>
          <a href="/openapi.json">OpenAPI document</a>
        </li>
        <li>
          <a href="/">Start page</a>
        </li>
      </ul>
      {reference.tags.map(({ name, operations }) => (
        <NavigationGroup key={name} name={name}>
          <li>
            <a href={`#tag/${encodeURIComponent(name)}`} aria-current={currentIf('tag', name)}>
              <span class="label">About {name}</span>
            </a>
          </li>
          {operations.map(({ id, method, summary }) => (
            <li key={id}>
              <a href={`#operation/${id}`} aria-current={currentIf('operation', id)}>
                <span class="label">{summary}</span>
                <MethodBadge method={method} />
              </a>
            </li>
          ))}
        </NavigationGroup>
      ))}
      <NavigationGroup name={schemasGroup}>
        {Object.keys(reference.schemas).map((name) => (
          <li key={name}>
            <a href={`#schema/${name}`} aria-current={currentIf('schema', name)}>
              <span class="label">{name}</span>
            </a>
          </li>
        ))}
      </NavigationGroup>
    </>
  );
}

function NavigationGroup({ name, children }: { name: string; children: ComponentChildren }) {
  const isOpen = openGroups.value.has(name);
  const id = `group-${name.replaceAll(/\W+/g, '-')}`;
  return (
    <section>
      <button
        type="button"
        class="group"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(name, !isOpen)}
      >
        {name}
      </button>
      {isOpen && <ul id={id}>{children}</ul>}
    </section>
  );
}

function groupOf({ operations }: ApiReference, { page, name }: DocsRoute): string {
  if (page === 'schema') return schemasGroup;
  return page === 'tag' ? name : (operations.get(name)?.tag ?? '');
}

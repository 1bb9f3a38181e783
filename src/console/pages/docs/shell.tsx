/** The frame of the reference: header, navigation, and the content that the route names. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { Prose } from '../../parts/text/prose.tsx';
import { KeyMenu } from '../../parts/actions/key-menu.tsx';
import { DocsNavigation } from './navigation.tsx';
import { OperationPage } from './operation-page.tsx';
import { OperationList } from './operation-list.tsx';
import { OverviewPage } from './overview-page.tsx';
import type { ApiReference, ApiTag } from './reference.ts';
import { type DocsRoute, route } from './route.ts';
import { SchemaPage } from './schema-page.tsx';
import { SearchBox } from './search-box.tsx';
import { buildSearchIndex } from './search.ts';

const isMenuOpen = signal(false);

export function DocsShell({ reference }: { reference: ApiReference }) {
  const index = useMemo(() => buildSearchIndex(reference), [reference]);
  const main = useRef<HTMLElement>(null);
  const current = route.value;
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    isMenuOpen.value = false;
    scrollTo(0, current.scrollY);
    // After a link, keyboards and screen readers continue at the new content.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [current]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <button
          type="button"
          class="plain menu"
          aria-expanded={isMenuOpen.value}
          aria-controls="navigation"
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value;
            scrollTo(0, 0);
          }}
        >
          Menu
        </button>
        <a class="brand" href="#overview">
          <span aria-hidden="true" class="logo" />
          {reference.title} API
        </a>
        <SearchBox index={index} />
        <KeyMenu />
      </header>
      <div class="frame">
        <nav id="navigation" aria-label="Reference" class={isMenuOpen.value ? 'side open' : 'side'}>
          <DocsNavigation reference={reference} current={current} />
        </nav>
        <main id="content" ref={main} tabIndex={-1} key={`${current.page}/${current.name}`}>
          <Content reference={reference} current={current} />
        </main>
      </div>
    </>
  );
}

function Content({ reference, current: { page, name } }: { reference: ApiReference; current: DocsRoute }) {
  if (page === 'overview') return <OverviewPage reference={reference} />;
  if (page === 'schema') {
    const schema = Object.hasOwn(reference.schemas, name) ? reference.schemas[name] : undefined;
    return schema === undefined ? <NotFound what={`schema ${name}`} /> : <SchemaPage reference={reference} name={name} schema={schema} />;
  }
  if (page === 'tag') {
    const tag = reference.tags.find((candidate) => candidate.name === name);
    return tag === undefined ? <NotFound what={`group ${name}`} /> : <TagPage tag={tag} />;
  }
  const operation = reference.operations.get(name);
  return operation === undefined ? <NotFound what={`operation ${name}`} /> : <OperationPage reference={reference} operation={operation} />;
}

function NotFound({ what }: { what: string }) {
  return (
    <article class="narrow">
      <h1>Not in this reference</h1>
      <p>
        There is no {what}. <a href="#overview">All operations</a>
      </p>
    </article>
  );
}

function TagPage({ tag: { name, description, operations } }: { tag: ApiTag }) {
  return (
    <article class="narrow">
      <h1>{name}</h1>
      <Prose text={description} />
      <OperationList operations={operations} />
    </article>
  );
}

/** The frame of the reference: header, navigation, and the content that the route names. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { Prose } from '../../parts/text/prose.tsx';
import { KeyMenu } from '../../parts/actions/key-menu.tsx';
import { DocsNavigation } from './navigation.tsx';
import { OperationPage } from './operation-page.tsx';
import { OperationList } from './operation-list.tsx';
import { type ApiReference, type ApiTag, operationsUsing } from './reference.ts';
import { type DocsRoute, route } from './route.ts';
import { SearchBox } from './search-box.tsx';
import { buildSearchIndex } from './search.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { exampleOf } from './example.ts';
import type { ApiSchema } from './schema.ts';
import { SchemaView } from './schema-view.tsx';
import { apiKey } from '../../api/key.ts';
import { initialForm, toCall } from './call.ts';
import { snippetsOf } from './snippets.ts';

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

/** One named schema: its fields, an example, and the operations that use it. */
function SchemaPage({ reference, name, schema }: { reference: ApiReference; name: string; schema: ApiSchema }) {
  const example = JSON.stringify(exampleOf(schema, reference.schemas, 'response'), null, 2);
  const users = operationsUsing(reference, name);
  return (
    <article class="operation">
      <header class="intro">
        <p class="eyebrow">Schema</p>
        <h1>{name}</h1>
      </header>
      <div class="aside">
        <section class="card" aria-label="Example">
          <header>
            <p class="card-title">Example</p>
            <CopyButton text={example} what="the example" />
          </header>
          <CodeBlock text={example} language="json" label={`Example of ${name}`} />
        </section>
      </div>
      <div class="details">
        <SchemaView schema={schema} schemas={reference.schemas} root={name} />
        <section>
          <h2>Used by</h2>
          {users.length === 0 ? <p class="muted">No operation uses this schema.</p> : <OperationList operations={users} />}
        </section>
      </div>
    </article>
  );
}

/** The first page: what the API is, how to authenticate, and all groups of operations. */
function OverviewPage({ reference }: { reference: ApiReference }) {
  const { title, version, description, tags, operations, schemas } = reference;
  const first = operations.get('createChatCompletion');
  const code = first && snippetsOf(toCall(first, initialForm(first, schemas)), location.origin, apiKey.value)[0]?.code;
  return (
    <article class="overview">
      <header>
        <h1>
          {title} API <span class="badge">{version}</span>
        </h1>
        <Prose text={description} />
      </header>
      <section aria-labelledby="start">
        <h2 id="start">First request</h2>
        <p class="muted">
          The <a href="/docs/readme">guide</a> begins at the beginning. Base URL: <code>{location.origin}</code>. Requests to{' '}
          <code>/v1</code> need a key: <code>Authorization: Bearer &lt;key&gt;</code>. Set it under “API key” to fill in the examples and to
          send requests from this page.
        </p>
        {code !== undefined && (
          <div class="card">
            <header>
              <p class="card-title">
                <a href="#operation/createChatCompletion">{first?.summary}</a>
              </p>
              <CopyButton text={code} what="the request" />
            </header>
            <CodeBlock text={code} language="shell" label="Request in curl" />
          </div>
        )}
      </section>
      <section aria-labelledby="groups">
        <h2 id="groups">{operations.size} operations</h2>
        <ul class="tag-cards">
          {tags.map(({ name, description: text, operations: own }) => (
            <li key={name}>
              <a href={`#tag/${encodeURIComponent(name)}`}>{name}</a> <span class="muted">{own.length}</span>
              <p class="muted">{text}</p>
            </li>
          ))}
        </ul>
      </section>
    </article>
  );
}

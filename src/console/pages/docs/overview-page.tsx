/** The first page: what the API is, how to authenticate, and all groups of operations. */
import { apiKey } from '../../api/key.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { Prose } from '../../parts/text/prose.tsx';
import { initialForm, toCall } from './call.ts';
import type { ApiReference } from './reference.ts';
import { snippetsOf } from './snippets.ts';

export function OverviewPage({ reference }: { reference: ApiReference }) {
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

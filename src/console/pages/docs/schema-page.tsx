/** One named schema: its fields, an example, and the operations that use it. */
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { exampleOf } from './example.ts';
import { OperationList } from './operation-list.tsx';
import { type ApiReference, operationsUsing } from './reference.ts';
import type { ApiSchema } from './schema.ts';
import { SchemaView } from './schema-view.tsx';

export function SchemaPage({ reference, name, schema }: { reference: ApiReference; name: string; schema: ApiSchema }) {
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

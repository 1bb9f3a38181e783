/** Beside an operation: the request as code, and the form that changes and sends it. */
import { type Signal, signal, useSignal } from '@preact/signals';
import { apiKey } from '../../api/key.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { type CallForm, toCall } from './call.ts';
import type { ApiOperation } from './reference.ts';
import type { SchemaMap } from './schema.ts';
import { snippetsOf } from './snippets.ts';
import { TestForm } from './test-form.tsx';

/** The chosen language stays chosen for all operations. */
const language = signal('curl');

type RequestPanelProps = { operation: ApiOperation; form: Signal<CallForm>; schemas: SchemaMap };

export function RequestPanel({ operation, form, schemas }: RequestPanelProps) {
  const isTesting = useSignal(false);
  return (
    <>
      <RequestCode operation={operation} form={form} />
      <details
        class="card tester"
        onToggle={(event) => {
          isTesting.value = event.currentTarget.open;
        }}
      >
        <summary>Try it</summary>
        {isTesting.value && <TestForm operation={operation} form={form} schemas={schemas} />}
      </details>
    </>
  );
}

function RequestCode({ operation, form }: Omit<RequestPanelProps, 'schemas'>) {
  const snippets = snippetsOf(toCall(operation, form.value), location.origin, apiKey.value);
  // An SDK tab exists for some operations only.
  const shown = snippets.find(({ name }) => name === language.value) ?? snippets[0];
  if (shown === undefined) return null;
  return (
    <section class="card" aria-label="Request">
      <header>
        <fieldset class="tabs" aria-label="Language">
          {snippets.map(({ name }) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === shown.name}
              onClick={() => {
                language.value = name;
              }}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <CopyButton text={shown.code} what="the request" />
      </header>
      <CodeBlock text={shown.code} language={shown.language} label={`Request in ${shown.name}`} />
    </section>
  );
}

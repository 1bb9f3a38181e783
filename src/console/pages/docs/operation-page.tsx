/** One operation: what it does and takes, its responses, and beside it the request to copy or to send. */
import { useMemo } from 'preact/hooks';
import { type Signal, signal, useSignal } from '@preact/signals';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { MethodBadge } from '../../parts/text/method-badge.tsx';
import { InlineText, Prose } from '../../parts/text/prose.tsx';
import { type CallForm, initialForm, toCall } from './call.ts';
import { ContentView } from './content-view.tsx';
import type { ApiOperation, ApiReference, Parameter } from './reference.ts';
import { mainResponse, ResponseExample, ResponseSection } from './response-section.tsx';
import { dereference, type SchemaMap } from './schema.ts';
import { SchemaFacts, SchemaType } from './schema-view.tsx';
import { apiKey } from '../../api/key.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { snippetsOf } from './snippets.ts';
import { TestForm } from './test-form.tsx';

/** What the user filled in remains until the tab is closed. */
const forms = new Map<string, Signal<CallForm>>();

export function OperationPage({ reference, operation }: { reference: ApiReference; operation: ApiOperation }) {
  const { schemas } = reference;
  const form = useMemo(() => formOf(operation, schemas), [operation]);
  const main = mainResponse(operation);
  const { method, path, tag, summary, description, requestBody, parameters } = operation;
  return (
    <article class="operation">
      <header class="intro">
        <p class="eyebrow">
          <a href={`#tag/${encodeURIComponent(tag)}`}>{tag}</a>
        </p>
        <h1>{summary}</h1>
        <p class="endpoint">
          <MethodBadge method={method} />
          <code>{path}</code>
          <CopyButton text={location.origin + path} what="the URL" />
        </p>
        <Prose text={description} />
        <Authorization operation={operation} />
      </header>
      <div class="aside">
        <RequestPanel operation={operation} form={form} schemas={schemas} />
        {main !== undefined && <ResponseExample status={main[0]} content={main[1].content ?? {}} schemas={schemas} />}
      </div>
      <div class="details">
        <ParameterSection title="Path parameters" place="path" parameters={parameters} schemas={schemas} />
        <ParameterSection title="Query parameters" place="query" parameters={parameters} schemas={schemas} />
        <ParameterSection title="Headers" place="header" parameters={parameters} schemas={schemas} />
        {requestBody !== null && (
          <section>
            <h2>
              Request body {requestBody.required ? <span class="required">required</span> : <span class="muted optional">optional</span>}
            </h2>
            {requestBody.description !== undefined && <Prose text={requestBody.description} />}
            <ContentView content={requestBody.content} schemas={schemas} />
          </section>
        )}
        <ResponseSection operation={operation} schemas={schemas} />
        <Neighbors reference={reference} operation={operation} />
      </div>
    </article>
  );
}

function formOf(operation: ApiOperation, schemas: SchemaMap): Signal<CallForm> {
  const known = forms.get(operation.id);
  if (known !== undefined) return known;
  const created = signal(initialForm(operation, schemas));
  forms.set(operation.id, created);
  return created;
}

function Authorization({ operation: { scopes, security } }: { operation: ApiOperation }) {
  if (security.length === 0) return <p class="authorization muted">No key required.</p>;
  return (
    <p class="authorization muted">
      <span>
        Key as <code>Authorization: Bearer</code>
        {security.includes('apiKey') && (
          <>
            {' '}
            or <code>x-api-key</code>
          </>
        )}
        {security.includes('googleApiKey') && (
          <>
            {' '}
            or <code>x-goog-api-key</code>
          </>
        )}
      </span>
      {scopes.length > 0 && (
        <span>
          Scope{' '}
          {scopes.map((scope, index) => (
            <span key={scope}>
              {index > 0 && ' or '}
              <span class="badge info">{scope}</span>
            </span>
          ))}
        </span>
      )}
    </p>
  );
}

type ParameterSectionProps = { title: string; place: Parameter['in']; parameters: readonly Parameter[]; schemas: SchemaMap };

function ParameterSection({ title, place, parameters, schemas }: ParameterSectionProps) {
  const shown = parameters.filter((parameter) => parameter.in === place);
  if (shown.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="fields">
        {shown.map(({ name, required, description, example, schema = {} }) => {
          const text = description ?? dereference(schema, schemas).description;
          return (
            <li key={name} class="field">
              <p class="field-head">
                <code class="name">{name}</code>
                <SchemaType schema={schema} />
                {required && <span class="required">required</span>}
              </p>
              {text !== undefined && (
                <p class="prose">
                  <InlineText text={text} />
                </p>
              )}
              <SchemaFacts schema={dereference(schema, schemas)} example={example} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Neighbors({ reference, operation }: { reference: ApiReference; operation: ApiOperation }) {
  const all = reference.tags.flatMap(({ operations }) => operations);
  const position = all.indexOf(operation);
  const [previous, next] = [all[position - 1], all[position + 1]];
  return (
    <nav class="neighbors" aria-label="Previous and next operation">
      {previous && (
        <a href={`#operation/${previous.id}`}>
          <span class="muted">Previous</span>
          {previous.summary}
        </a>
      )}
      {next && (
        <a class="next" href={`#operation/${next.id}`}>
          <span class="muted">Next</span>
          {next.summary}
        </a>
      )}
    </nav>
  );
}

/** The chosen language stays chosen for all operations. */
const language = signal('curl');

type RequestPanelProps = { operation: ApiOperation; form: Signal<CallForm>; schemas: SchemaMap };

/** Beside an operation: the request as code, and the form that changes and sends it. */
function RequestPanel({ operation, form, schemas }: RequestPanelProps) {
  const isTesting = useSignal(false);
  return (
    <>
      <RequestCode operation={operation} form={form} />
      <details class="card tester" onToggle={(event) => (isTesting.value = event.currentTarget.open)}>
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
            <button key={name} type="button" aria-pressed={name === shown.name} onClick={() => (language.value = name)}>
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

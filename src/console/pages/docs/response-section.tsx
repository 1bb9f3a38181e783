/** The documented responses: the main one is open, the others open on request with their schema and an example. */
import { useSignal } from '@preact/signals';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { InlineText } from '../../parts/text/prose.tsx';
import { exampleOf } from './example.ts';
import { ContentView } from './content-view.tsx';
import { type ApiOperation, type ApiResponse, type Content, jsonTypeOf } from './reference.ts';
import type { SchemaMap } from './schema.ts';
import { SchemaType } from './schema-view.tsx';

export function ResponseSection({ operation, schemas }: { operation: ApiOperation; schemas: SchemaMap }) {
  const { responses } = operation;
  const main = mainResponse(operation)?.[0];
  return (
    <section>
      <h2>Responses</h2>
      {responses.map(([status, response]) => (
        <ResponseItem key={`${operation.id}/${status}`} status={status} response={response} schemas={schemas} isMain={status === main} />
      ))}
    </section>
  );
}

type ResponseItemProps = { status: string; response: ApiResponse; schemas: SchemaMap; isMain: boolean };

function ResponseItem({ status, response: { description = '', headers = {}, content = {} }, schemas, isMain }: ResponseItemProps) {
  // The body is rendered when it is open, which keeps long lists of errors cheap.
  const isOpen = useSignal(isMain);
  return (
    <details class="response" open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <span class={`badge ${statusTone(status)}`}>{status}</span>
        <span>
          <InlineText text={description} />
        </span>
      </summary>
      {isOpen.value && (
        <div class="response-body">
          {Object.keys(headers).length > 0 && (
            <>
              <h3>Headers</h3>
              <ul class="fields">
                {Object.entries(headers).map(([name, header]) => (
                  <li key={name} class="field">
                    <p class="field-head">
                      <code class="name">{name}</code>
                      {header.schema !== undefined && <SchemaType schema={header.schema} />}
                    </p>
                    {header.description !== undefined && (
                      <p class="prose">
                        <InlineText text={header.description} />
                      </p>
                    )}
                  </li>
                ))}
              </ul>
            </>
          )}
          {Object.keys(content).length === 0 ? <p class="muted">No body.</p> : <h3>Body</h3>}
          <ContentView content={content} schemas={schemas} />
          {!isMain && <ResponseExample content={content} schemas={schemas} status={status} />}
        </div>
      )}
    </details>
  );
}

/** The JSON example of a response, from the document or generated from the schema. */
export function ResponseExample({ content, schemas, status }: { content: Content; schemas: SchemaMap; status: string }) {
  const type = jsonTypeOf(content);
  const media = type === null ? undefined : content[type];
  if (media === undefined || (media.schema === undefined && media.example === undefined)) return null;
  const example = JSON.stringify(media.example ?? exampleOf(media.schema ?? {}, schemas, 'response'), null, 2);
  return (
    <section class="card" aria-label={`Example of the response ${status}`}>
      <header>
        <p class="card-title">
          Response <span class={`badge ${statusTone(status)}`}>{status}</span>
        </p>
        <CopyButton text={example} what={`the example of the response ${status}`} />
      </header>
      <CodeBlock text={example} language="json" label={`Body of the response ${status}`} />
    </section>
  );
}

/** The first successful response, whose example is beside the operation. */
export function mainResponse({ responses }: ApiOperation): readonly [status: string, response: ApiResponse] | undefined {
  return responses.find(([status]) => status.startsWith('2'));
}

export function statusTone(status: string | number): 'ok' | 'info' | 'warn' | 'bad' {
  const first = String(status)[0];
  return first === '2' ? 'ok' : first === '3' ? 'info' : first === '4' ? 'warn' : 'bad';
}

/** The body of a request: an editor that reports invalid JSON, and a file instead where the body is not JSON. */
import { asWritten, Select } from '../../parts/fields/controls.tsx';
import type { Signal } from '@preact/signals';
import { type CallForm, exampleBody, jsonError } from './call.ts';
import { type Content, jsonTypeOf } from './reference.ts';
import type { SchemaMap } from './schema.ts';

/** The error of a JSON body, or null. An empty body is left to the service. */
export function bodyErrorOf({ body, contentType }: CallForm): string | null {
  return body !== null && isJsonType(contentType) && body.trim() !== '' ? jsonError(body) : null;
}

function isJsonType(contentType: string): boolean {
  return jsonTypeOf({ [contentType]: {} }) !== null;
}

type BodyInputProps = { content: Content; form: Signal<CallForm>; error: string | null; schemas: SchemaMap };

export function BodyInput({ content, form, error, schemas }: BodyInputProps) {
  const { body, contentType, file } = form.value;
  const text = body ?? '';
  const isJson = isJsonType(contentType);
  const types = Object.keys(content);
  const change = (part: Partial<CallForm>): void => {
    form.value = { ...form.value, ...part };
  };
  const setType = (type: string): void => change({ contentType: type, body: exampleBody(content, type, schemas), file: null });
  return (
    <fieldset>
      <legend>
        <label for="body">Body ({isJson ? 'JSON' : contentType})</label>
      </legend>
      {types.length > 1 && (
        <div class="input-row">
          <label for="content-type">
            <code>content-type</code>
          </label>
          <Select id="content-type" value={contentType} choices={asWritten(types)} onInput={setType} />
        </div>
      )}
      <textarea
        id="body"
        class="code"
        rows={Math.min(Math.max(text.split('\n').length, 4), 18)}
        spellcheck={false}
        disabled={file !== null}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : 'body-error'}
        value={text}
        onInput={(event) => change({ body: event.currentTarget.value })}
      />
      {error !== null && (
        <p id="body-error" class="error" role="status">
          {error}
        </p>
      )}
      {isJson ? (
        <div class="body-actions">
          <button
            type="button"
            class="plain"
            disabled={error !== null || text === ''}
            onClick={() => change({ body: JSON.stringify(JSON.parse(text), null, 2) })}
          >
            Format
          </button>
          <button type="button" class="plain" onClick={() => change({ body: exampleBody(content, contentType, schemas) })}>
            Reset
          </button>
        </div>
      ) : (
        <label class="file">
          <span>Or a file:</span>
          <input type="file" onChange={(event) => change({ file: event.currentTarget.files?.[0] ?? null })} />
        </label>
      )}
    </fieldset>
  );
}

/** The form that sends a request: parameters, headers, body, and a question before a request that deletes or replaces. */
import { asWritten, Select } from '../../parts/fields/controls.tsx';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { apiKey } from '../../api/key.ts';
import { type CallForm, fieldId, isMcpMessage, missingParameters, streamsByBody, toCall, withStream } from './call.ts';
import { type ApiOperation, type Parameter, streaming } from './reference.ts';
import { ResponseView } from './response-view.tsx';
import { allowedValues, dereference, type SchemaMap } from './schema.ts';
import { BodyInput, bodyErrorOf } from './body-input.tsx';
import { createExchange } from './exchange.ts';

type TestFormProps = { operation: ApiOperation; form: Signal<CallForm>; schemas: SchemaMap };

/** Operations that the user has confirmed in this tab. Deletions are always asked about. */
const confirmed = new Set<string>();

export function TestForm({ operation, form, schemas }: TestFormProps) {
  const exchange = useSignal(createExchange()).value;
  const note = useSignal('');
  const isAsking = useSignal(false);
  useEffect(() => exchange.stop, [exchange]);
  const { requestBody, security } = operation;
  const bodyError = bodyErrorOf(form.value);
  const submit = (event: Event): void => {
    event.preventDefault();
    const missing = missingParameters(operation, form.value);
    note.value = missing.length > 0 ? `Required: ${missing.join(', ')}.` : bodyError === null ? '' : 'Correct the body first.';
    if (note.value !== '') return;
    if (questionFor(operation, form.value) !== null && !isAsking.value) {
      isAsking.value = true;
      return;
    }
    isAsking.value = false;
    if (operation.method !== 'delete') confirmed.add(operation.id);
    void exchange.send(toCall(operation, form.value), apiKey.value);
  };
  const isRunning = exchange.state.value.phase === 'sending' || exchange.state.value.phase === 'receiving';
  return (
    <>
      <form onSubmit={submit} noValidate>
        {(['path', 'query', 'header'] as const).map((place) => (
          <ParameterInputs key={place} place={place} operation={operation} form={form} schemas={schemas} />
        ))}
        {requestBody !== null && <BodyInput content={requestBody.content} form={form} error={bodyError} schemas={schemas} />}
        {streaming(operation) === 'optional' && !isMcpMessage(operation) && <StreamChoice operation={operation} form={form} />}
        {security.length > 0 && apiKey.value === '' && (
          <p class="notice">No API key is set. Set one under “API key” at the top of the page.</p>
        )}
        {note.value !== '' && (
          <p class="error" role="alert">
            {note.value}
          </p>
        )}
        {isAsking.value ? (
          <div class="question" role="alert">
            <p>{questionFor(operation, form.value)}</p>
            <button type="submit" class="danger">
              {operation.method === 'delete' ? 'Delete' : 'Send'}
            </button>
            <button type="button" onClick={() => (isAsking.value = false)}>
              Cancel
            </button>
          </div>
        ) : (
          <div class="actions">
            <button type="submit" class="primary" disabled={isRunning}>
              Send request
            </button>
            {isRunning && (
              <button type="button" onClick={() => exchange.stop()}>
                Stop
              </button>
            )}
          </div>
        )}
      </form>
      <ResponseView state={exchange.state} />
    </>
  );
}

/** The question before a request that cannot be undone, or null. */
function questionFor(operation: ApiOperation, form: CallForm): string | null {
  const { id, method } = operation;
  if (method === 'delete') return `This sends DELETE ${toCall(operation, form).url}. It cannot be undone. Continue?`;
  if (confirmed.has(id)) return null;
  if (method === 'patch') return 'This changes the stored document. Continue?';
  if (method === 'put') return 'This replaces what is stored under this name, if it exists. Continue?';
  return /^(?:rollback|revoke|cancel|forget|rebind)/i.test(id) ? 'This changes or ends something that exists. Continue?' : null;
}

function setValue(form: Signal<CallForm>, name: string, value: string): void {
  form.value = { ...form.value, values: { ...form.value.values, [name]: value } };
}

type ParameterInputsProps = TestFormProps & { place: Parameter['in'] };

function ParameterInputs({ place, operation, form, schemas }: ParameterInputsProps) {
  const shown = operation.parameters.filter((parameter) => parameter.in === place);
  if (shown.length === 0) return null;
  return (
    <fieldset>
      <legend>{{ path: 'Path', query: 'Query', header: 'Headers' }[place]}</legend>
      {shown.map((parameter) => (
        <ParameterInput key={parameter.name} parameter={parameter} form={form} schemas={schemas} />
      ))}
    </fieldset>
  );
}

function ParameterInput({ parameter, form, schemas }: { parameter: Parameter; form: Signal<CallForm>; schemas: SchemaMap }) {
  const { name, required, schema = {} } = parameter;
  const id = fieldId(parameter);
  const resolved = dereference(schema, schemas);
  const values = resolved.type === 'boolean' ? [true, false] : allowedValues(resolved);
  const value = form.value.values[id] ?? '';
  const placeholder =
    resolved.default === undefined ? (typeof parameter.example === 'string' ? parameter.example : '') : `${resolved.default} (default)`;
  return (
    <div class="input-row">
      <label for={`field-${id}`}>
        <code>{name}</code>
        {required && <span class="required">required</span>}
      </label>
      {values.length > 0 ? (
        <Select
          id={`field-${id}`}
          value={value}
          choices={[
            ['', resolved.default === undefined ? 'Not sent' : `Not sent (default ${resolved.default})`],
            ...asWritten(values.map(String)),
          ]}
          onInput={(choice) => setValue(form, id, choice)}
        />
      ) : (
        <input
          id={`field-${id}`}
          type="text"
          inputMode={resolved.type === 'integer' || resolved.type === 'number' ? 'numeric' : 'text'}
          autocomplete="off"
          spellcheck={false}
          required={required}
          placeholder={placeholder}
          value={value}
          onInput={(event) => setValue(form, id, event.currentTarget.value)}
        />
      )}
    </div>
  );
}

function StreamChoice({ operation, form }: { operation: ApiOperation; form: Signal<CallForm> }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={form.value.stream}
        onChange={({ currentTarget: { checked } }) => {
          const { body } = form.value;
          form.value = {
            ...form.value,
            stream: checked,
            body: body !== null && streamsByBody(operation) ? withStream(body, checked) : body,
          };
        }}
      />
      Stream the response (server-sent events)
    </label>
  );
}

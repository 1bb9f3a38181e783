/** One question of an MCP server (elicitation): a form of plain fields, or a page to open. The texts are untrusted. */
import { PlainForm } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { visible } from '../../parts/text/visible.ts';
import { fieldsOf, readFields, type FormField } from '../../session/form-fields.ts';

type Answer = components['schemas']['ElicitationAnswer'];
type ElicitationProps = { server: string; params: Record<string, unknown>; onAnswer(answer: Answer): void };

export function ElicitationForm({ server, params, onAnswer }: ElicitationProps) {
  const fields = fieldsOf(params.requestedSchema);
  const fault = useSignal<string | null>(null);
  const isPage = params.mode === 'url';
  return (
    <PlainForm
      aria-label={`Question of ${server}`}
      send={(form) => {
        if (isPage) return onAnswer({ action: 'accept' });
        const content = readFields(fields, new FormData(form));
        if (typeof content === 'string') fault.value = content;
        else onAnswer({ action: 'accept', content });
      }}
    >
      <p class="reason">{visible(String(params.message ?? ''))}</p>
      {isPage ? <PageLink url={String(params.url ?? '')} /> : fields.map((field) => <Field key={field.name} field={field} />)}
      {fault.value !== null && (
        <p class="error" role="alert">
          {fault.value}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary">
          {isPage ? 'I have done it' : 'Send'}
        </button>
        <button type="button" onClick={() => onAnswer({ action: 'decline' })}>
          Decline
        </button>
        <button type="button" class="plain" onClick={() => onAnswer({ action: 'cancel' })}>
          Cancel
        </button>
      </div>
    </PlainForm>
  );
}

/** The whole address is shown: the server chose it. */
function PageLink({ url }: { url: string }) {
  const target = URL.canParse(url) ? new URL(url) : null;
  if (target?.protocol !== 'https:' && target?.protocol !== 'http:') return <p class="error">The server gave no web address.</p>;
  return (
    <p>
      Opens <strong>{target.host}</strong>:{' '}
      <a href={target.href} target="_blank" rel="noopener noreferrer nofollow">
        {visible(target.href)}
      </a>
    </p>
  );
}

function Field({ field: { name, title, description, kind, choices, isRequired, initial } }: { field: FormField }) {
  const id = `field-${name}`;
  const about = description === '' ? undefined : `${id}-about`;
  const common = { id, name, 'aria-describedby': about };
  const note = about && (
    <span id={about} class="muted">
      {visible(description)}
    </span>
  );
  if (kind === 'boolean')
    return (
      <p class="field">
        <label class="check">
          <input type="checkbox" {...common} defaultChecked={initial === true} />
          {visible(title)}
        </label>
        {note}
      </p>
    );
  return (
    <p class="field">
      <label for={id}>
        {visible(title)}
        {!isRequired && <span class="muted"> (optional)</span>}
      </label>
      {kind === 'choice' || kind === 'choices' ? (
        <select {...common} multiple={kind === 'choices'} required={isRequired}>
          {kind === 'choice' && !isRequired && <option value="">none</option>}
          {choices.map(({ value, label }) => (
            <option key={value} value={value} selected={initial === value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          inputMode={kind === 'number' ? 'decimal' : kind === 'integer' ? 'numeric' : 'text'}
          autocomplete="off"
          required={isRequired}
          defaultValue={initial === undefined ? '' : String(initial)}
        />
      )}
      {note}
    </p>
  );
}

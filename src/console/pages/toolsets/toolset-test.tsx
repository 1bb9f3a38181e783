/** Calls a tool of the stored toolset, as a model would. */
import { PlainForm, bound, boundChoice } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import { moniker } from '../../api/moniker.ts';
import { CodeInput } from '../../parts/fields/code-input.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CheckField, ChoiceField, TextField } from '../../parts/fields/fields.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { partsText } from '../../session/fold-events.ts';
import type { FormField } from '../../session/form-fields.ts';
import { recordIn } from '../../text/json.ts';
import { argumentFields, withArgumentText } from './test-arguments.ts';
import type { OpenToolset } from './toolset-state.ts';

export function TestPanel({ state, selected }: { state: OpenToolset; selected: number }) {
  const tool = state.report.value?.tools.find(({ entry }) => entry === `tools[${selected}]`);
  const name = useSignal(tool?.wireName ?? '');
  const args = useSignal('{}');
  const result = useSignal<{ text: string; isError: boolean; canonical: string | null } | null>(null);
  const problem = useSignal<unknown>(null);
  const fields = argumentFields(tool?.definition);
  const values = recordIn(args.value);
  const call = async (): Promise<void> => {
    result.value = null;
    problem.value = null;
    try {
      const body = { name: name.value, arguments: JSON.parse(args.value) as Record<string, unknown> };
      const answer = await moniker.value.post('/v1/toolsets/{toolset}/calls', {
        params: { path: state.path },
        body,
      });
      // Without content, the call waits for an approval or an input.
      const isEnded = 'content' in answer;
      const text = isEnded ? partsText(answer.content as { type: string }[]) : JSON.stringify(answer, null, 2);
      result.value = { text, isError: isEnded && answer.isError, canonical: answer.canonical };
    } catch (error) {
      problem.value = error instanceof SyntaxError ? new Error(`The arguments are not valid JSON: ${error.message}`) : error;
    }
  };
  return (
    <PlainForm class="fields" send={call}>
      <label for="test-name">Name, as a model would call it</label>
      <input id="test-name" required autocomplete="off" {...bound(name)} />
      {values === null ? (
        <p class="fault">The arguments are not a JSON object, so they are shown as text only.</p>
      ) : (
        fields.map((field) => (
          <ArgumentField
            key={field.name}
            field={field}
            value={values[field.name]}
            onInput={(typed) => (args.value = withArgumentText(values, field, typed))}
          />
        ))
      )}
      <label for="test-arguments">Arguments (JSON)</label>
      <CodeInput id="test-arguments" label="Arguments (JSON)" language="json" rows={5} {...boundChoice(args)} />
      <button type="submit" class="primary">
        Call
      </button>
      {problem.value !== null && <ProblemView error={problem.value} suggest={(one) => (name.value = one)} />}
      {result.value !== null && (
        <section aria-label="Result">
          <h2>
            {visible(result.value.canonical ?? '')}{' '}
            <span class={`badge ${result.value.isError ? 'bad' : 'ok'}`}>{result.value.isError ? 'failed' : 'done'}</span>
          </h2>
          <CodeBlock text={result.value.text} language="text" label="Result text" />
        </section>
      )}
    </PlainForm>
  );
}

function ArgumentField({ field, value, onInput }: { field: FormField; value: unknown; onInput(typed: string | boolean): void }) {
  const { name, kind, choices, description, isRequired } = field;
  const label = isRequired ? name : `${name} (optional)`;
  if (kind === 'boolean')
    return <CheckField label={label} path={name} hint={visible(description)} value={value === true} onInput={onInput} />;
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const common = { label, path: name, hint: visible(description), value: text, onInput };
  if (kind !== 'choice') return <TextField {...common} />;
  return <ChoiceField {...common} choices={[['', 'not set'], ...choices.map(({ value: one, label: shown }) => [one, shown] as const)]} />;
}

/** Further names of models and agents, for clients whose model names are fixed. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { loadModels, models } from '../../api/models.ts';
import { moniker } from '../../api/moniker.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { FieldIssues, TextField } from '../../parts/fields.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';
import { RecordPages } from '../../parts/record-pages.tsx';
import { visible } from '../../parts/visible.ts';

export function ModelAliases() {
  const pages = usePages((cursor, signal) =>
    moniker.value.get('/v1/model-aliases', { params: { query: { limit: 100, ...(cursor && { cursor }) } }, signal }),
  );
  const draft = useSignal({ alias: '', model: '' });
  const error = useSignal<unknown>(null);
  useEffect(() => void loadModels().catch(() => undefined), []);
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    error.value = null;
    try {
      await work();
      draft.value = { alias: '', model: '' };
      await pages.reload();
    } catch (thrown) {
      error.value = thrown;
    }
  };
  const { alias, model } = draft.value;
  const save = () => run(() => moniker.value.put('/v1/model-aliases/{alias}', { params: { path: { alias } }, body: { model } }));
  const remove = (name: string) => run(() => moniker.value.delete('/v1/model-aliases/{alias}', { params: { path: { alias: name } } }));
  return (
    <>
      <p class="muted">A client that asks for the name gets the model or the agent. One * in a name stands for any text, as in claude-*.</p>
      {error.value !== null && <ProblemView error={error.value} />}
      <RecordPages
        caption="Model aliases"
        pages={pages}
        keyOf={({ name }) => name}
        columns={[
          { label: 'Name', cell: ({ name }) => <code>{visible(name)}</code> },
          { label: 'Model', cell: (one) => <code>{visible(one.model)}</code> },
          {
            label: 'Action',
            cell: ({ name }) => (
              <ConfirmButton label="Remove" name={`Remove ${name}`} question={`Remove ${name}?`} onConfirm={() => void remove(name)} />
            ),
          },
        ]}
        empty={
          <>
            <h2>No model aliases yet</h2>
            <p>Add one below for a client whose model names cannot be changed, such as gpt-4o.</p>
          </>
        }
      />
      <FieldIssues.Provider value={error.value instanceof MonikerError ? error.value.issues : []}>
        <form
          class="fields two"
          aria-label="Set an alias"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <TextField
            label="Name"
            path="alias"
            placeholder="gpt-4o"
            value={alias}
            onInput={(text) => {
              draft.value = { alias: text.trim(), model };
            }}
          />
          <TextField
            label="Model or agent"
            path="model"
            placeholder="groq/llama-3.3-70b-versatile"
            suggestions={models.value}
            value={model}
            onInput={(text) => {
              draft.value = { alias, model: text.trim() };
            }}
          />
          <p class="submit">
            <button type="submit" class="primary" disabled={alias === '' || model === ''}>
              Set the alias
            </button>
          </p>
        </form>
      </FieldIssues.Provider>
    </>
  );
}

/** Further names of models and agents, for clients whose model names are fixed. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useAttempt, usePages } from '../../api/load.ts';
import { loadModels, models } from '../../api/models.ts';
import { moniker } from '../../api/moniker.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { SendingForm, TextField } from '../../parts/fields/fields.tsx';
import { membersOf } from '../../parts/fields/members.ts';
import { type RemainingUse, RemainingUses } from '../../parts/documents/remaining-uses.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { RecordPages } from '../../parts/records/record-pages.tsx';
import { visible } from '../../parts/text/visible.ts';

export function ModelAliases() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/model-aliases', { params: { query: { limit: 100, ...page } }, signal }));
  const draft = useSignal({ alias: '', model: '' });
  const left = useSignal<readonly RemainingUse[]>([]);
  const { problem, attempt } = useAttempt();
  useEffect(() => void loadModels().catch(() => undefined), []);
  const { alias, model } = draft.value;
  const members = membersOf(draft.value, (next) => (draft.value = next));
  const save = async (): Promise<void> => {
    await moniker.value.put('/v1/model-aliases/{alias}', { params: { path: { alias } }, body: { model } });
    draft.value = { alias: '', model: '' };
    await pages.reload();
  };
  const remove = (name: string) =>
    attempt(async () => {
      const removed = await moniker.value.delete('/v1/model-aliases/{alias}', { params: { path: { alias: name } } });
      left.value = removed?.warnings ?? [];
      await pages.reload();
    });
  return (
    <>
      <p class="muted">A client that asks for the name gets the model or the agent. One * in a name stands for any text, as in claude-*.</p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RemainingUses uses={left.value} />
      <RecordPages
        caption="Model aliases"
        pages={pages}
        keyOf={({ name }) => name}
        columns={[
          { label: 'Name', cell: ({ name }) => <code>{visible(name)}</code> },
          {
            label: 'Model',
            cell: ({ model, targets = [] }) => <code>{visible(model ?? targets.map((target) => target.model).join(', '))}</code>,
          },
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
      <SendingForm class="fields" aria-label="Set an alias" send={save} submit="Set the alias" isIncomplete={alias === '' || model === ''}>
        <div class="fields two">
          <TextField label="Name" placeholder="gpt-4o" {...members.requiredWord('alias')} />
          <TextField
            label="Model or agent"
            placeholder="groq/llama-3.3-70b-versatile"
            suggestions={models.value}
            {...members.requiredWord('model')}
          />
        </div>
      </SendingForm>
    </>
  );
}

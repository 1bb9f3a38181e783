/** A new key: what it may do, what it is bound to, and when it expires. */
import { useSignal } from '@preact/signals';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { CheckField, ChoiceField, FieldFault, FieldIssues, NamesField, TextField } from '../../parts/fields.tsx';
import { JsonField, readObject } from '../../parts/json-field.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';

type Request = components['schemas']['KeyRequest'];
type Scope = components['schemas']['Scope'];

const scopes: readonly (readonly [scope: Scope, meaning: string])[] = [
  ['chat', 'chat with models and agents, and use its own sessions'],
  ['tools', 'call tools, also over MCP'],
  ['toolsets', 'read and write toolsets'],
  ['approve', 'decide calls that wait for an approval'],
  ['admin', 'everything else: servers, keys, secrets, the policy'],
];

const lifetimes = ['', '1', '7', '30', '90', '365'] as const;
const dayMs = 86_400_000;

export function KeyForm({ create, onCancel }: { create(body: Request): Promise<void>; onCancel(): void }) {
  const draft = useSignal<Request>({ name: '', scopes: ['chat'] });
  const days = useSignal('90');
  const error = useSignal<unknown>(null);
  const isSending = useSignal(false);
  const names = useLoaded(async (signal) => {
    const options = { params: { query: { limit: 100 } }, signal };
    const [agents, toolsets] = await Promise.all([moniker.value.get('/v1/agents', options), moniker.value.get('/v1/toolsets', options)]);
    return { agents: agents.items.map(({ name }) => name), toolsets: toolsets.items.map(({ name }) => name) };
  });
  const { name, agents, toolsets, caller } = draft.value;
  const send = async (): Promise<void> => {
    isSending.value = true;
    error.value = null;
    const expiresAt = days.value === '' ? undefined : new Date(Date.now() + Number(days.value) * dayMs).toISOString();
    try {
      await create({ ...draft.value, ...(expiresAt && { expiresAt }) });
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isSending.value = false;
    }
  };
  const change = (members: Partial<Request>): void => {
    draft.value = { ...draft.value, ...members };
  };
  return (
    <form
      class="fields key-form"
      aria-label="Create a key"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {error.value !== null && <ProblemView error={error.value} />}
      <FieldIssues.Provider value={error.value instanceof MonikerError ? error.value.issues : []}>
        <div class="fields two">
          <TextField label="Name" path="name" placeholder="my app" value={name} onInput={(text) => change({ name: text })} />
          <ChoiceField
            label="Expires"
            path="expiresAt"
            value={days.value}
            choices={lifetimes.map((one) => [one, one === '' ? 'never' : one === '1' ? 'in a day' : `in ${one} days`])}
            onInput={(one) => (days.value = one)}
          />
        </div>
        <fieldset>
          <legend>It may</legend>
          {scopes.map(([scope, meaning]) => (
            <CheckField
              key={scope}
              label={`${scope}: ${meaning}`}
              path={`scopes.${scope}`}
              value={draft.value.scopes.includes(scope)}
              onInput={(isSet) =>
                change({ scopes: scopes.map(([one]) => one).filter((one) => (one === scope ? isSet : draft.value.scopes.includes(one))) })
              }
            />
          ))}
          <FieldFault path="scopes" />
        </fieldset>
        <div class="fields two">
          <NamesField
            label="Only these agents"
            path="agents"
            hint="Empty: all. A key that is bound to agents writes nothing."
            placeholder={names.data?.agents.join(', ')}
            value={agents ?? []}
            onInput={(list) => change({ agents: list.length > 0 ? list : undefined })}
          />
          <NamesField
            label="Only these toolsets"
            path="toolsets"
            hint="Empty: all, or those of its agents."
            placeholder={names.data?.toolsets.join(', ')}
            value={toolsets ?? []}
            onInput={(list) => change({ toolsets: list.length > 0 ? list : undefined })}
          />
        </div>
        <JsonField
          label="Fields of the caller (JSON)"
          path="caller"
          rows={2}
          hint={'Inserted by presets of toolsets, such as {"team": "payments"}.'}
          value={caller}
          read={readObject}
          // The service checks that the values are text.
          onInput={(fields) => change({ caller: fields as Request['caller'] })}
        />
        <p class="actions">
          <button type="submit" class="primary" disabled={isSending.value || name.trim() === ''}>
            Create
          </button>
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </p>
      </FieldIssues.Provider>
    </form>
  );
}

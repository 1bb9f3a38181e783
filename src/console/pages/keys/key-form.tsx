/** What a key may do, what it is bound to, its limits and its expiry: of a new key, or of one that exists. */
import { useSignal } from '@preact/signals';
import { MonikerError } from '../../../../client/src/index.ts';
import type { Scope } from '../../../core/principal.ts';
import { withMembers } from '../../api/document.ts';
import { useAttempt } from '../../api/load.ts';
import { CheckField, ChoiceField, FieldFault, FieldIssues, NamesField, TextField } from '../../parts/fields.tsx';
import { BindingFields } from '../../parts/binding-fields.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { JsonField, readObject } from '../../parts/json-field.tsx';
import { LimitFields } from '../../parts/limit-fields.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';
import { expiryOf, type KeyDraft } from './key-draft.ts';

const scopes: readonly (readonly [scope: Scope, meaning: string])[] = [
  ['chat', 'chat with models and agents, and use its own sessions'],
  ['tools', 'call tools, also over MCP'],
  ['toolsets', 'read and write toolsets'],
  ['approve', 'decide calls that wait for an approval'],
  ['admin', 'everything else: servers, keys, secrets, the policy'],
];

const lifetimes = ['1', '7', '30', '90', '365'] as const;

type KeyChange = { [Name in keyof KeyDraft]?: KeyDraft[Name] | undefined };

type KeyFormProps = {
  /** null: a new key. */
  existing: KeyDraft | null;
  /** Rejects with what is wrong with the draft. */
  save(draft: KeyDraft): Promise<void>;
  onCancel(): void;
};

export function KeyForm({ existing, save, onCancel }: KeyFormProps) {
  const draft = useSignal<KeyDraft>(existing ?? { name: '', scopes: ['chat'] });
  const expiry = useSignal(existing === null ? '90' : '');
  const isSending = useSignal(false);
  const { problem, attempt } = useAttempt();
  const send = async (): Promise<void> => {
    isSending.value = true;
    await attempt(() => save({ ...draft.value, ...expiryOf(expiry.value) }));
    isSending.value = false;
  };
  const change = (members: KeyChange): void => {
    draft.value = withMembers(draft.value, members);
  };
  const { name, limits } = draft.value;
  return (
    <form
      class="fields key-form"
      aria-label={existing === null ? 'Create a key' : 'Change the key'}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {problem.value !== null && <ProblemView error={problem.value} />}
      <FieldIssues.Provider value={problem.value instanceof MonikerError ? problem.value.issues : []}>
        <div class="fields two">
          <TextField label="Name" path="name" placeholder="my app" value={name} onInput={(text) => change({ name: text })} />
          <ChoiceField
            label="Expires"
            path="expiresAt"
            value={expiry.value}
            choices={[
              ['', existing === null ? 'as the workspace says' : 'as it is'],
              ...lifetimes.map((days) => [days, days === '1' ? 'in a day' : `in ${days} days`] as const),
              ['never', 'never'],
            ]}
            onInput={(choice) => (expiry.value = choice)}
          />
        </div>
        <ScopeFields scopes={draft.value.scopes} onInput={(chosen) => change({ scopes: chosen })} />
        <BindingFields
          agents={draft.value.agents}
          toolsets={draft.value.toolsets}
          agentsHint="Empty: all. A key that is bound to agents writes nothing."
          change={change}
        />
        <NamesField
          label="Only these models"
          path="models"
          hint="Empty: all. Patterns with *, also for the models of agents."
          placeholder="openai/gpt-5*, anthropic/*"
          value={draft.value.models ?? []}
          onInput={(list) => change({ models: list.length > 0 ? list : undefined })}
        />
        <JsonField
          label="Fields of the caller (JSON)"
          path="caller"
          rows={2}
          hint={'Inserted by presets of toolsets, such as {"team": "payments"}.'}
          value={draft.value.caller}
          read={readObject}
          // The service checks that the values are text.
          onInput={(fields) => change({ caller: fields as KeyDraft['caller'] })}
        />
        <NetworkFields draft={draft.value} change={change} />
        <Disclosure title="Limits" isOpen={limits !== undefined}>
          <LimitFields limits={limits ?? {}} onInput={(next) => change({ limits: Object.keys(next).length > 0 ? next : undefined })} />
        </Disclosure>
        <p class="actions">
          <button type="submit" class="primary" disabled={isSending.value || name.trim() === ''}>
            {existing === null ? 'Create' : 'Save'}
          </button>
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </p>
      </FieldIssues.Provider>
    </form>
  );
}

function ScopeFields({ scopes: chosen, onInput }: { scopes: readonly Scope[]; onInput(scopes: Scope[]): void }) {
  return (
    <fieldset>
      <legend>It may</legend>
      {scopes.map(([scope, meaning]) => (
        <CheckField
          key={scope}
          label={`${scope}: ${meaning}`}
          path={`scopes.${scope}`}
          value={chosen.includes(scope)}
          onInput={(isSet) => onInput(scopes.map(([one]) => one).filter((one) => (one === scope ? isSet : chosen.includes(one))))}
        />
      ))}
      <FieldFault path="scopes" />
    </fieldset>
  );
}

function NetworkFields({ draft: { egressHosts, ips }, change }: { draft: KeyDraft; change(members: KeyChange): void }) {
  return (
    <Disclosure title="Network" isOpen={egressHosts !== undefined || ips !== undefined}>
      <div class="fields two">
        <NamesField
          label="Only from these addresses"
          path="ips"
          hint="Empty: from everywhere. Addresses and CIDR ranges."
          placeholder="203.0.113.0/24, 2001:db8::/32"
          value={ips ?? []}
          onInput={(list) => change({ ips: list.length > 0 ? list : undefined })}
        />
        <NamesField
          label="Tools reach only these hosts"
          path="egressHosts"
          hint={egressHosts?.length === 0 ? 'The key reaches no host.' : 'Empty: all. The word none: no host.'}
          placeholder="api.example.com, *.example.org"
          value={egressHosts?.length === 0 ? ['none'] : (egressHosts ?? [])}
          onInput={(list) => change({ egressHosts: list.length === 0 ? undefined : list.join() === 'none' ? [] : list })}
        />
      </div>
    </Disclosure>
  );
}

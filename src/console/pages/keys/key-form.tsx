/** What a key may do, what it is bound to, its limits and its expiry: of a new key, or of one that exists. */
import { useSignal } from '@preact/signals';
import type { Scope } from '../../../core/people/principal.ts';
import { withMembers } from '../../api/document.ts';
import { CheckField, ChoiceField, FieldFault, NamesField, SendingForm } from '../../parts/fields/fields.tsx';
import { CacheFields } from '../../parts/fields/cache-fields.tsx';
import { BindingFields } from '../../parts/fields/binding-fields.tsx';
import { Disclosure } from '../../parts/layout/disclosure.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { JsonField, readObject } from '../../parts/fields/json-field.tsx';
import { LimitFields } from '../../parts/fields/limit-fields.tsx';
import { expiryOf, type KeyDraft } from './key-draft.ts';

const scopes: readonly (readonly [scope: Scope, meaning: string])[] = [
  ['chat', 'chat with models and agents, and use its own sessions'],
  ['tools', 'call tools, also over MCP'],
  ['toolsets', 'read and write toolsets'],
  ['approve', 'decide calls that wait for an approval'],
  ['admin', 'everything else: servers, keys, secrets, the policy'],
];

const lifetimes = ['1', '7', '30', '90', '365'] as const;

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
  const edit = (next: KeyDraft) => (draft.value = next);
  const { name, limits } = draft.value;
  const members = memberFields(draft.value, edit);
  return (
    <SendingForm
      class="fields key-form"
      aria-label={existing === null ? 'Create a key' : 'Change the key'}
      send={() => save({ ...draft.value, ...expiryOf(expiry.value) })}
      submit={existing === null ? 'Create' : 'Save'}
      isIncomplete={name.trim() === ''}
      actions={
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      }
    >
      <div class="fields two">
        {members.required('name', 'Name', { placeholder: 'my app' })}
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
      <ScopeFields scopes={draft.value.scopes} onInput={(chosen) => edit({ ...draft.value, scopes: chosen })} />
      <BindingFields draft={draft.value} edit={edit} agentsHint="Empty: all. A key that is bound to agents writes nothing." />
      {members.names('models', 'Only these models', {
        hint: 'Empty: all. Patterns with *, also for the models of agents.',
        placeholder: 'openai/gpt-5*, anthropic/*',
      })}
      <JsonField
        label="Fields of the caller (JSON)"
        path="caller"
        rows={2}
        hint={'Inserted by presets of toolsets, such as {"team": "payments"}.'}
        value={draft.value.caller}
        read={readObject}
        // The service checks that the values are text.
        onInput={(fields) => edit(withMembers(draft.value, { caller: fields as KeyDraft['caller'] }))}
      />
      <CacheFields draft={draft.value} edit={edit} />
      <NetworkFields draft={draft.value} edit={edit} />
      <Disclosure title="Limits" isOpen={limits !== undefined}>
        <LimitFields
          limits={limits ?? {}}
          onInput={(next) => edit(withMembers(draft.value, { limits: Object.keys(next).length > 0 ? next : undefined }))}
        />
      </Disclosure>
    </SendingForm>
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

function NetworkFields({ draft, edit }: { draft: KeyDraft; edit(next: KeyDraft): void }) {
  const { egressHosts, ips } = draft;
  return (
    <Disclosure title="Network" isOpen={egressHosts !== undefined || ips !== undefined}>
      <div class="fields two">
        {memberFields(draft, edit).names('ips', 'Only from these addresses', {
          hint: 'Empty: from everywhere. Addresses and CIDR ranges.',
          placeholder: '203.0.113.0/24, 2001:db8::/32',
        })}
        <NamesField
          label="Tools reach only these hosts"
          path="egressHosts"
          hint={egressHosts?.length === 0 ? 'The key reaches no host.' : 'Empty: all. The word none: no host.'}
          placeholder="api.example.com, *.example.org"
          value={egressHosts?.length === 0 ? ['none'] : (egressHosts ?? [])}
          onInput={(list) => edit(withMembers(draft, { egressHosts: list.length === 0 ? undefined : list.join() === 'none' ? [] : list }))}
        />
      </div>
    </Disclosure>
  );
}

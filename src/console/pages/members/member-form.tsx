/** A member: the email, the role, and what the member is bound to. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { BindingFields } from '../../parts/fields/binding-fields.tsx';
import { ChoiceField, TextField, SendingForm } from '../../parts/fields/fields.tsx';

type Role = components['schemas']['Role'];
export type MemberDraft = { name: string; email: string; role: Role; toolsets?: string[]; agents?: string[] };

export const roleTitles: Readonly<Record<Role, string>> = { owner: 'Owner', editor: 'Editor', user: 'User', approver: 'Approver' };

const meanings: Readonly<Record<Role, string>> = {
  owner: 'May do everything in the workspace: servers, keys, secrets, members and the policy too.',
  editor: 'Chats, calls tools, and writes toolsets, agents and skills.',
  user: 'Chats and calls tools.',
  approver: 'Decides the approvals of everybody’s sessions in the workspace, and may call tools.',
};
const roles = Object.keys(meanings) as Role[];

type MemberFormProps = {
  /** null: a new member. */
  existing: MemberDraft | null;
  blank: MemberDraft;
  save(draft: MemberDraft): Promise<void>;
};

export function MemberForm({ existing, blank, save }: MemberFormProps) {
  const draft = useSignal<MemberDraft>(existing ?? blank);
  /** The name is made from the email until it is typed. */
  const isNamed = useSignal(existing !== null);
  const { name, email, role } = draft.value;
  const change = (members: { [Name in keyof MemberDraft]?: MemberDraft[Name] | undefined }) =>
    (draft.value = withMembers(draft.value, members));
  const mayBeBound = role === 'editor' || role === 'user';
  return (
    <SendingForm
      class="fields"
      aria-label={existing === null ? 'Add a member' : 'Change the member'}
      send={() => save(draft.value)}
      submit={existing === null ? 'Add' : 'Save'}
      isIncomplete={email === '' || name === ''}
      explained={{ code: 'precondition_failed', text: 'A member has this name. Choose another name.' }}
    >
      <TextField
        label="Email"
        path="email"
        hint="The identity provider must have verified it."
        placeholder="ada@example.com"
        value={email}
        onInput={(text) => change({ email: text.trim(), ...(!isNamed.value && { name: nameOf(text) }) })}
      />
      {existing === null && (
        <TextField
          label="Name"
          path="member"
          hint="Names the member in the API and in project files."
          placeholder="ada"
          value={name}
          onInput={(text) => {
            isNamed.value = true;
            change({ name: text.trim() });
          }}
        />
      )}
      <ChoiceField
        label="Role"
        path="role"
        hint={meanings[role]}
        value={role}
        choices={roles.map((one) => [one, roleTitles[one]])}
        onInput={(next) => {
          const isBound = next === 'editor' || next === 'user';
          change({ role: next, ...(!isBound && { toolsets: undefined, agents: undefined }) });
        }}
      />
      {mayBeBound && <BindingFields draft={draft.value} edit={(next) => (draft.value = next)} agentsHint="Empty: all." />}
    </SendingForm>
  );
}

/** A name from the part of an email before the `@`. */
function nameOf(email: string): string {
  const [local = ''] = email.trim().toLowerCase().split('@');
  return local
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 50);
}

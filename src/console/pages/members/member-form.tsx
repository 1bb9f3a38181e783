/** A member: the email, the role, and what the member is bound to. */
import { useSignal } from '@preact/signals';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { useAttempt } from '../../api/load.ts';
import { BindingFields } from '../../parts/binding-fields.tsx';
import { ChoiceField, FieldIssues, TextField } from '../../parts/fields.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';

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
  const isSending = useSignal(false);
  const { problem, attempt } = useAttempt();
  const { name, email, role, toolsets, agents } = draft.value;
  const change = (members: { [Name in keyof MemberDraft]?: MemberDraft[Name] | undefined }): void => {
    draft.value = withMembers(draft.value, members);
  };
  const send = async (): Promise<void> => {
    isSending.value = true;
    await attempt(() => save(draft.value));
    isSending.value = false;
  };
  const isTaken = problem.value instanceof MonikerError && problem.value.code === 'precondition_failed';
  const mayBeBound = role === 'editor' || role === 'user';
  return (
    <form
      class="fields"
      aria-label={existing === null ? 'Add a member' : 'Change the member'}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {isTaken && <p class="notice warn rounded">A member has this name. Choose another name.</p>}
      {problem.value !== null && !isTaken && <ProblemView error={problem.value} />}
      <FieldIssues.Provider value={problem.value instanceof MonikerError ? problem.value.issues : []}>
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
          onInput={(chosen) => {
            const next = roles.find((one) => one === chosen) ?? role;
            const isBound = next === 'editor' || next === 'user';
            change({ role: next, ...(!isBound && { toolsets: undefined, agents: undefined }) });
          }}
        />
        {mayBeBound && <BindingFields agents={agents} toolsets={toolsets} agentsHint="Empty: all." change={change} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={isSending.value || email === '' || name === ''}>
            {existing === null ? 'Add' : 'Save'}
          </button>
        </p>
      </FieldIssues.Provider>
    </form>
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

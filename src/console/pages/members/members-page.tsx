/** `/console/members`: the people who may use the workspace, each with a role. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, usePages } from '../../api/load.ts';
import { me } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { RecordPages, type Column } from '../../parts/records/records.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { bindingsOf } from '../keys/key-draft.ts';
import { MemberForm, type MemberDraft, roleTitles } from './member-form.tsx';

type Member = components['schemas']['MemberView'];

const blank: MemberDraft = { name: '', email: '', role: 'user' };

export function MembersPage() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/members', { params: { query: { limit: 100, ...page } }, signal }));
  /** The member that is changed; `blank`: a new one. */
  const opened = useSignal<MemberDraft | null>(null);
  const { problem, act } = useAttempt();
  const save = async ({ name, ...body }: MemberDraft): Promise<void> => {
    const isNew = opened.value === blank;
    const header: { 'if-none-match'?: string } = isNew ? { 'if-none-match': '*' } : {};
    await moniker.value.put('/v1/members/{member}', { params: { path: { member: name }, header }, body });
    opened.value = null;
    announce(isNew ? 'The member is added' : 'The member is changed');
    await pages.reload();
  };
  const remove = (name: string) =>
    act(() => moniker.value.delete('/v1/members/{member}', { params: { path: { member: name } } }), 'The member is removed', pages.reload);
  const columns: readonly Column<Member>[] = [
    {
      label: 'Member',
      cell: (member) => (
        <button type="button" class="link" onClick={() => (opened.value = draftOf(member))}>
          {visible(member.email)}
        </button>
      ),
    },
    { label: 'Name', cell: ({ name }) => visible(name) },
    { label: 'Role', cell: ({ role, byGroups }) => `${roleTitles[role]}${byGroups === undefined ? '' : ', by groups'}` },
    { label: 'Bound to', cell: (member) => visible(bindingsOf(member, 'the whole workspace')) },
    {
      label: 'Action',
      cell: ({ name, email, user }) =>
        user === me.value?.user?.id ? (
          <span class="muted">you</span>
        ) : (
          <ConfirmButton
            label="Remove"
            name={`Remove ${email}`}
            question="Remove? Within 30 seconds they are signed out."
            onConfirm={() => void remove(name)}
          />
        ),
    },
  ];
  return (
    <div class="view wide">
      <div class="head">
        <h1>Members</h1>
        <span class="grow" />
        <button type="button" class="primary" onClick={() => (opened.value = blank)}>
          Add a member
        </button>
      </div>
      <p class="muted">
        Members sign in at <a href="/sign-in">/sign-in</a> with the email that is written here, and from MCP clients by the address of a
        toolset.
      </p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RecordPages
        caption="Members"
        pages={pages}
        columns={columns}
        keyOf={({ name }) => name}
        none="No members yet"
        hint="Only keys can use the workspace. Add the people who should sign in, each with a role."
      />
      {opened.value !== null && (
        <Sheet title={opened.value === blank ? 'Add a member' : visible(opened.value.email)} onClose={() => (opened.value = null)}>
          <MemberForm existing={opened.value === blank ? null : opened.value} blank={blank} save={save} />
        </Sheet>
      )}
    </div>
  );
}

function draftOf({ name, email, role, toolsets, agents }: Member): MemberDraft {
  return { name, email, role, ...(toolsets && { toolsets }), ...(agents && { agents }) };
}

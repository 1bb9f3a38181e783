/** `/console/workspaces/{name?}`: the workspaces of the installation, for the root key, or the settings of one. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { me } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { chosenWorkspace } from '../../api/workspace.ts';
import { announce } from '../../api/announce.ts';
import { TextField, SendingForm } from '../../parts/fields/fields.tsx';
import { RecordPages, type Column, StateBadge, Time } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf, type ViewProps } from '../../router.ts';
import { loadWorkspaceNames } from '../console/workspace-choice.tsx';
import { WorkspaceEditor } from './workspace-editor.tsx';

type Workspace = components['schemas']['WorkspaceView'];

export function WorkspacesPage({ id }: ViewProps) {
  return id === null ? <WorkspaceList /> : <WorkspaceEditor key={id} name={id} />;
}

const columns: readonly Column<Workspace>[] = [
  { label: 'Workspace', cell: ({ name }) => <a href={pathOf('workspaces', name)}>{visible(name)}</a> },
  { label: 'State', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Created', cell: ({ createdAt }) => (createdAt === null ? 'with the installation' : <Time iso={createdAt} />) },
  { label: 'Action', cell: (workspace) => <Enter workspace={workspace} /> },
];

function Enter({ workspace: { name, status } }: { workspace: Workspace }) {
  if (status !== 'active') return null;
  if (name === me.value?.workspace) return <span class="muted">this tab acts here</span>;
  return (
    <button type="button" onClick={() => (chosenWorkspace.value = name)}>
      Switch to {name}
    </button>
  );
}

function WorkspaceList() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/workspaces', { params: { query: { limit: 50, ...page } }, signal }));
  return (
    <div class="view wide">
      <h1>Workspaces</h1>
      <p class="muted">
        Each workspace has its own servers, toolsets, agents, keys, sessions and records, which no other one can see. Keys act in the
        workspace that created them; the root key acts in all of them.
      </p>
      <NewWorkspace />
      <RecordPages caption="Workspaces" pages={pages} columns={columns} keyOf={({ name }) => name} none="No workspaces" />
    </div>
  );
}

function NewWorkspace() {
  const name = useSignal('');
  const isTaken = useSignal(false);
  const create = async (): Promise<void> => {
    const params = { path: { workspace: name.value } };
    const { data } = await moniker.value.GET('/v1/workspaces/{workspace}', { params });
    // The name of one that was deleted can be used again.
    isTaken.value = data !== undefined && data.status !== 'deleted';
    if (isTaken.value) return;
    const created = await moniker.value.put('/v1/workspaces/{workspace}', { params, body: {} });
    announce(`The workspace ${created.name} is created`);
    void loadWorkspaceNames();
    navigate(pathOf('workspaces', created.name));
  };
  return (
    <SendingForm class="new-workspace" aria-label="Create a workspace" send={create} submit="Create" isIncomplete={name.value === ''}>
      {isTaken.value && <p class="notice warn rounded">There is a workspace of this name. Choose another one.</p>}
      <div class="fields two">
        <TextField
          label="New workspace"
          path="workspace"
          hint="Part of its keys, such as mk_acme_…. It cannot be changed."
          placeholder="acme"
          value={name.value}
          onInput={(text) => (name.value = text.trim())}
        />
      </div>
    </SendingForm>
  );
}

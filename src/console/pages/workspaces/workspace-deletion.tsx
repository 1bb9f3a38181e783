/** Deleting a workspace: asks for its name, then shows what is left until everything is erased. */
import { PlainForm } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, useEvery } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { chosenWorkspace } from '../../api/workspace.ts';
import { announce } from '../../api/announce.ts';
import { Facts, StateBadge } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { count } from '../../text/format.ts';
import { loadWorkspaceNames } from '../console/workspace-choice.tsx';

type Workspace = components['schemas']['WorkspaceView'];
type DeletionProps = { workspace: Workspace; onChanged(workspace: Workspace): void };

export function DeleteWorkspace({ workspace: { name }, onChanged }: DeletionProps) {
  const typed = useSignal('');
  const { problem, attempt } = useAttempt();
  const remove = () =>
    attempt(async () => {
      const view = await moniker.value.delete('/v1/workspaces/{workspace}', { params: { path: { workspace: name } } });
      announce(`The workspace ${name} is being deleted`);
      if (chosenWorkspace.value === name) chosenWorkspace.value = null;
      void loadWorkspaceNames();
      onChanged(view);
    });
  if (name === 'default') return null;
  return (
    <section class="danger-zone" aria-label="Delete the workspace">
      <h2>Delete the workspace</h2>
      <p>
        Its keys are refused within 30 seconds, and running turns end. Its sessions with their files, servers, toolsets, agents, secrets and
        records are erased permanently, in the background.
      </p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <PlainForm class="actions" send={() => typed.value === name && remove()}>
        <label for="deleted-name">Type {name} to delete it</label>
        <input
          id="deleted-name"
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value.trim())}
        />
        <button type="submit" class="danger" disabled={typed.value !== name}>
          Delete permanently
        </button>
      </PlainForm>
    </section>
  );
}

const pollMs = 2_000;

export function WorkspaceErasure({ workspace, onChanged }: DeletionProps) {
  const { name, status, deletion } = workspace;
  const { problem, attempt } = useAttempt();
  useEvery(pollMs, status === 'deleting', () =>
    attempt(async () => onChanged(await moniker.value.get('/v1/workspaces/{workspace}', { params: { path: { workspace: name } } }))),
  );
  if (deletion === undefined) return null;
  const left = Object.entries(deletion.left).map(([kind, number]) => `${count(number)} ${kind}`);
  return (
    <section class="danger-zone" aria-label="Deletion">
      <Facts
        rows={[
          ['State', <StateBadge key="state" state={status} />],
          ['Begun', new Date(deletion.startedAt).toLocaleString()],
          ['Ended', deletion.finishedAt && new Date(deletion.finishedAt).toLocaleString()],
          ['Left', status === 'deleting' ? left.join(', ') || 'being counted' : 'nothing'],
        ]}
      />
      {problem.value !== null && <ProblemView error={problem.value} />}
      {status === 'deleted' && <p class="muted">It is listed for 30 days. Its name can be used again.</p>}
    </section>
  );
}

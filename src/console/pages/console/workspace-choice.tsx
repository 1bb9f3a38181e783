/** The workspace that the tab acts in. Shown to the root key, and to members of several workspaces. */
import { asWritten, Select } from '../../parts/fields/controls.tsx';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isRoot, me } from '../../api/me.ts';
import { chosenWorkspace } from '../../api/workspace.ts';
import { moniker } from '../../api/moniker.ts';
import { navigate, pathOf, place } from '../../router.ts';

const names = signal<readonly string[]>([]);

/** Reads the names again: of all workspaces for the root key, else of those where the person is a member. Without the list there is no choice. */
export async function loadWorkspaceNames(): Promise<void> {
  try {
    if (isRoot()) {
      const { items } = await moniker.value.get('/v1/workspaces', { params: { query: { limit: 100 } } });
      names.value = items.flatMap(({ name, status }) => (status === 'active' ? [name] : []));
    } else {
      const { person } = await moniker.value.get('/sign-in', { headers: { accept: 'application/json' } });
      names.value = person?.workspaces.map(({ workspace }) => workspace) ?? [];
    }
  } catch {
    // As above.
  }
}

export function WorkspaceChoice() {
  const mayChoose = isRoot() || me.value?.user !== undefined;
  useEffect(() => {
    if (mayChoose) void loadWorkspaceNames();
  }, [mayChoose]);
  const current = chosenWorkspace.value ?? me.value?.workspace ?? '';
  const choices = [...new Set([...names.value, current])].filter((name) => name !== '').sort();
  if (!mayChoose || choices.length < 2) return null;
  return (
    <label class="workspace">
      Workspace
      <Select
        value={current}
        choices={asWritten(choices)}
        onInput={(name) => {
          // What is open belongs to the workspace that is left.
          navigate(pathOf(place.value.view));
          chosenWorkspace.value = name;
        }}
      />
    </label>
  );
}

/** The workspace that the tab acts in. Shown to the root key as soon as there is more than one. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isRoot, me } from '../../api/me.ts';
import { chosenWorkspace } from '../../api/workspace.ts';
import { moniker } from '../../api/moniker.ts';
import { navigate, pathOf, place } from '../../router.ts';

const names = signal<readonly string[]>([]);

/** Reads the names again. Without the list, the workspaces page shows what is wrong. */
export async function loadWorkspaceNames(): Promise<void> {
  try {
    const { items } = await moniker.value.get('/v1/workspaces', { params: { query: { limit: 100 } } });
    names.value = items.flatMap(({ name, status }) => (status === 'active' ? [name] : []));
  } catch {
    // As above.
  }
}

export function WorkspaceChoice() {
  const mayChoose = isRoot();
  useEffect(() => {
    if (mayChoose) void loadWorkspaceNames();
  }, [mayChoose]);
  const current = chosenWorkspace.value ?? me.value?.workspace ?? '';
  const choices = [...new Set([...names.value, current])].filter((name) => name !== '').sort();
  if (!mayChoose || choices.length < 2) return null;
  return (
    <label class="workspace">
      Workspace
      <select
        value={current}
        onChange={(event) => {
          // What is open belongs to the workspace that is left.
          navigate(pathOf(place.value.view));
          chosenWorkspace.value = event.currentTarget.value;
        }}
      >
        {choices.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The workspace that this tab acts in: that of its key, or another one that the root key or a member has chosen. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';

const storageName = 'moniker-workspace';

/** null: the workspace of the key. */
export const chosenWorkspace = signal<string | null>(null);

/** Reads the choice, which is kept for the tab until its key changes. */
export function loadWorkspace(apiKey: ReadonlySignal<string>): void {
  let key = apiKey.value;
  chosenWorkspace.value = sessionStorage.getItem(storageName);
  effect(() => {
    if (key !== '' && key !== apiKey.value) chosenWorkspace.value = null;
    key = apiKey.value;
  });
  effect(() => {
    if (chosenWorkspace.value === null) sessionStorage.removeItem(storageName);
    else sessionStorage.setItem(storageName, chosenWorkspace.value);
  });
}

/** What the key of this tab is and may do: read once for each key. */
import { effect, signal } from '@preact/signals';
import type { Scope } from '../../core/principal.ts';
import { MonikerError, type components } from '../../../client/src/index.ts';
import { apiKey } from './key.ts';
import { moniker } from './moniker.ts';
import { chosenWorkspace } from './workspace.ts';

type Me = components['schemas']['Me'];

/** null: not read yet, or not readable. */
export const me = signal<Me | null>(null);

/** Whether the key has one of the scopes, as far as the tab knows: the service decides. `admin` includes every scope. */
export function hasScope(scopes: readonly Scope[]): boolean {
  return me.value === null || scopes.length === 0 || me.value.scopes.some((scope) => scope === 'admin' || scopes.includes(scope));
}

export function isRoot(): boolean {
  return me.value?.id === 'root';
}

/** Reads it again whenever the key or the workspace changes, until the returned function is called. Errors are shown by the view, which sends the same key. */
export function followMe(): () => void {
  return effect(() => {
    const client = moniker.value;
    me.value = null;
    if (apiKey.value === '') return;
    client.get('/v1/me').then(
      (found) => {
        if (moniker.value === client) me.value = found;
      },
      (error) => {
        const isRefused = error instanceof MonikerError && [403, 404].includes(error.status);
        // The chosen workspace was deleted, or the person is no longer a member of it.
        if (isRefused && moniker.value === client) chosenWorkspace.value = null;
      },
    );
  });
}

/** Who this tab acts as, and what they may do: its key, or the person who is signed in. Read once for each. */
import { computed, effect, signal } from '@preact/signals';
import type { Scope } from '../../core/people/principal.ts';
import { MonikerError, type components } from '../../../client/src/index.ts';
import { apiKey } from './key.ts';
import { isKeyRejected, moniker } from './moniker.ts';
import { chosenWorkspace } from './workspace.ts';

type Me = components['schemas']['Me'];

/** null: not read yet, or not readable. */
export const me = signal<Me | null>(null);
/** Whether the response that says so is still to come. */
export const isAsking = signal(true);

/** Whether the tab has a key that was not rejected, or a person is signed in. */
export const hasAccess = computed(() => (apiKey.value !== '' || me.value !== null) && !isKeyRejected.value);

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
    isAsking.value = true;
    // Without a key, the cookie of a person who is signed in authenticates.
    client.get('/v1/me').then(
      (found) => {
        if (moniker.value !== client) return;
        me.value = found;
        isAsking.value = false;
      },
      (error) => {
        const isRefused = error instanceof MonikerError && [403, 404].includes(error.status);
        // The chosen workspace was deleted, or the person is no longer a member of it.
        if (moniker.value !== client) return;
        isAsking.value = false;
        if (isRefused) chosenWorkspace.value = null;
      },
    );
  });
}

/** A store for requests to the OAuth library that only read a client: it has that client and forgets everything else. */
import type { OAuthClient } from '../../core/people/grant.ts';
import type { OAuthStore } from './library.ts';

export function createClientStore(client: OAuthClient | null): OAuthStore & { saved: Record<string, unknown> | null } {
  return {
    saved: null,
    get: (key) => Promise.resolve(client !== null && key === `client:${client.clientId}` ? client : null),
    put(key, value) {
      if (key.startsWith('client:')) this.saved = JSON.parse(value) as Record<string, unknown>;
      return Promise.resolve();
    },
    delete: () => Promise.resolve(),
    list: () => Promise.resolve({ keys: [], list_complete: true }),
  };
}

import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/core/people/principal.ts';
import type { Sessions, SessionView } from '../../../../src/ports/session.ts';
import { forkSession } from '../../../../src/objects/session/turn/fork-session.ts';
import { finish, makeRoom, reply } from '../runner-session.ts';

const owner: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };

/** A session with one turn, and a new session that fails to take over its conversation. */
async function failing() {
  const { room, accept, settle } = await makeRoom([() => reply({ type: 'text', text: 'done' }, finish)]);
  accept('t1');
  await settle();
  const removed: string[] = [];
  // A fork uses nothing else of it.
  const sessions = {
    create: async (_owner: Principal, { from }: { from: SessionView['from'] }) => ({ id: 'made', lastEvent: 0, from }),
    get: (id: string) => ({
      applyFiles: async () => undefined,
      importConversation: () => Promise.reject(new Error('the object is away')),
      remove: async () => {
        removed.push(id);
        throw new Error('this one, too');
      },
    }),
  } as unknown as Sessions;
  return { removed, fork: (key?: string) => forkSession({ openSession: room, session: 's', sessions }, owner, 't1', key) };
}

describe('a fork whose copy fails', () => {
  it('is deleted, since its id was not returned', async () => {
    const { fork, removed } = await failing();
    await expect(fork()).rejects.toThrow('the object is away');
    expect(removed).toEqual(['made']);
  });

  it('stays with an idempotency key, for the repeat', async () => {
    const { fork, removed } = await failing();
    await expect(fork('key')).rejects.toThrow('the object is away');
    expect(removed).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/core/people/principal.ts';
import type { SessionSetup } from '../../../../src/ports/session.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { createSessions } from '../../../../src/objects/session/client/session-client.ts';

const caller: Principal = { workspace: 'default', keyId: 'k1', scopes: ['chat'] };
const id = '0'.repeat(64);

/** A session with this `setup`, and how often it was read. */
function sessionWith(setup: SessionSetup) {
  const asked = { count: 0 };
  const stub = {
    run: async () => {
      asked.count += 1;
      return { ok: true, value: setup };
    },
  };
  // The part of the namespace that reading a session by its id uses.
  const bindings = { SESSION: { get: () => stub, idFromString: (text: string) => text } } as unknown as Pick<Bindings, 'SESSION'>;
  const sessions = createSessions(
    bindings,
    () => Promise.reject(new Error('no catalog here')) as never,
    async () => null,
    async () => undefined,
  );
  return { sessions, asked };
}

describe('the setup of a session', () => {
  it('is read once per session and key', async () => {
    const { sessions, asked } = sessionWith({ model: 'a/b', listed: true });
    for (let time = 0; time < 3; time += 1) expect(await sessions.get(id).setup(caller)).toEqual({ model: 'a/b', listed: true });
    expect(asked.count).toBe(1);
    await sessions.get(id).setup({ ...caller, keyId: 'k2' });
    expect(asked.count).toBe(2);
  });

  it('is not cached when it is large, as with tools of a client', async () => {
    const tools = [{ name: 'look_up', description: 'x'.repeat(16_000), inputSchema: { type: 'object' } }];
    const { sessions, asked } = sessionWith({ model: 'a/b', listed: true, tools });
    for (let time = 0; time < 3; time += 1) expect((await sessions.get(id).setup(caller)).tools).toEqual(tools);
    expect(asked.count).toBe(3);
  });
});

import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/core/people/principal.ts';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { WaitStore } from '../../../../src/objects/session/pending/wait-store.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { sessionSql } from '../session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const owner: Principal = { workspace: 'default', keyId: 'chat', scopes: ['chat'] };
const at = { turn: 't1', step: 1, callId: 'a', name: 'n', canonical: 'crm.n' };
const required: SessionEventBody = {
  ...{ type: 'input-required', ...at, arguments: {}, entry: 'n', server: 'crm', requests: {}, round: 1 },
  expiresAt: '2030-01-01T00:00:00.000Z',
};

describe("questions of tools in a session's tables", () => {
  it('hold values larger than a value of its storage, and are deleted with the result', async () => {
    const { sessions } = wire(bindings);
    const { id } = await sessions.create(owner, { model: 'rehearsal/default', listed: false });
    const stub = env.SESSION.get(env.SESSION.idFromString(id));
    await runInDurableObject(stub, async (_instance, { storage }) => {
      const waits = new WaitStore(sessionSql(storage), () => 0);
      const state = 'ü'.repeat(2_500_000);
      waits.applyEvent(required);
      waits.addQuestion('a', { requests: {}, state });
      expect(waits.given('a')).toBeNull();
      const asked = waits.get('input', 'a');
      if (asked === null) throw new Error('it was not asked');
      waits.addAnswers(asked, { k: { action: 'accept', content: { id: '7' } } }, 'hash');
      waits.applyEvent({ type: 'input-given', ...at, round: 1, actions: { k: 'accept' }, by: 'chat' });
      // As another object of the same session reads them.
      const again = new WaitStore(sessionSql(storage), () => 0);
      expect(again.given('a')).toEqual({ responses: { k: { action: 'accept', content: { id: '7' } } }, state });
      again.applyEvent({ type: 'tool-result', ...at, via: 'wire', isError: false, content: [] });
      expect([again.given('a'), again.get('input', 'a')?.state, again.nextExpiry()]).toEqual([null, 'answered', null]);
      const [row] = sessionSql(storage).exec('SELECT count(*) AS parts FROM wait_parts');
      expect(row).toEqual({ parts: 0 });
    });
  });

  it("cannot be answered in another key's session, or without an open question", async () => {
    const { sessions } = wire(bindings);
    const { id } = await sessions.create(owner, { model: 'rehearsal/default', listed: false });
    const given = { callId: 'a', input: {} };
    const stranger: Principal = { ...owner, keyId: 'other' };
    await expect(sessions.get(id).submitInput(stranger, given)).rejects.toMatchObject({ code: 'not_found' });
    await expect(sessions.get(id).submitInput(owner, given)).rejects.toMatchObject({ code: 'not_found' });
  });
});

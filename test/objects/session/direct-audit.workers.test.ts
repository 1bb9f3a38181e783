/** A direct call in a session stores its intent before it runs, and the intent is sent to the Catalog if the process dies. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { bodyOf } from '../../http/harness.ts';
import { send } from '../catalog/real-service.ts';
import { testEnv } from '../../storage/workspace.ts';
import { waitFor } from '../../wait-for.ts';
import { takeErrors } from '../../service-errors.ts';

const stubOf = (id: string) => testEnv.SESSION.get(testEnv.SESSION.idFromString(id));
const auditOf = async (id: string) => (await bodyOf(await send('GET', `/v1/audit?session=${id}`))).items;
const call = (session: string, command: string) =>
  send('POST', '/v1/toolsets/audited-calls/calls', { name: 'shell', arguments: { command }, session });
const make = async (): Promise<string> => (await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default' }))).id;

beforeAll(async () => {
  await send('PUT', '/v1/toolsets/audited-calls', { tools: [{ tool: 'builtin.bash', name: 'shell', aliases: [] }] });
});

describe('the audit of a direct call in a session', () => {
  it('is one row with its outcome', async () => {
    const id = await make();
    expect(await bodyOf(await call(id, 'echo hello'))).toMatchObject({ isError: false });
    expect(await auditOf(id)).toMatchObject([{ canonical: 'builtin.bash', verdict: 'ran', code: null }]);
  });

  it('stores the intent while the call runs, and keeps it when the process dies', async () => {
    const id = await make();
    const lost = call(id, 'sleep 20').catch(() => null);
    const rows = () =>
      runInDurableObject(stubOf(id), (_instance, { storage }) => storage.sql.exec<{ body: string }>('SELECT body FROM audit').toArray());
    await waitFor(async () => expect((await rows()).map(({ body }) => JSON.parse(body).verdict)).toEqual(['outcome_unknown']));
    await runInDurableObject(stubOf(id), (_instance, state) => state.abort('the process dies')).catch(() => undefined);
    await runInDurableObject(stubOf(id), (_instance, { storage }) => void storage.sql.exec('UPDATE timers SET due = 1'));
    await runDurableObjectAlarm(stubOf(id));
    await waitFor(async () => expect(await auditOf(id)).toMatchObject([{ verdict: 'outcome_unknown', code: 'outcome_unknown' }]));
    expect((await lost)?.status).toBe(500);
    expect(takeErrors()).toMatchObject([{ message: 'request failed', cause: expect.stringContaining('the process dies') }]);
  });

  it('does not run a call whose intent cannot be stored', async () => {
    const id = await make();
    const sql = (query: string) => runInDurableObject(stubOf(id), (_instance, { storage }) => void storage.sql.exec(query));
    await call(id, 'true');
    await sql(
      "CREATE TRIGGER unaudited BEFORE INSERT ON audit WHEN json_extract(NEW.body, '$.verdict') = 'outcome_unknown' BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    expect(await bodyOf(await call(id, 'echo ran > /workspace/effect.txt'))).toMatchObject({ isError: true, code: 'tool_error' });
    expect((await send('GET', `/v1/sessions/${id}/files/effect.txt`)).status).toBe(404);
    expect((await auditOf(id))[0]).toMatchObject({ verdict: 'refused', code: 'tool_error' });
    expect(takeErrors()).toMatchObject([{ message: 'a call was not run: its audit row cannot be written' }]);
  });

  it('returns the true result when the outcome cannot be stored', async () => {
    const id = await make();
    await call(id, 'true');
    await runInDurableObject(stubOf(id), (_instance, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER unaudited BEFORE INSERT ON audit WHEN json_extract(NEW.body, '$.verdict') = 'ran' BEGIN SELECT RAISE(ABORT, 'full'); END",
      );
    });
    const answer = await call(id, 'echo ran > /workspace/effect.txt');
    expect([answer.status, (await bodyOf(answer)).isError]).toEqual([200, false]);
    expect((await auditOf(id))[0]).toMatchObject({ verdict: 'outcome_unknown' });
    expect(takeErrors()).toMatchObject([{ message: 'the outcome of a call could not be written to the audit' }]);
  });
});

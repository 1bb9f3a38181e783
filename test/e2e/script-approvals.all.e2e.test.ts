/**
 * One approval lists all effects of a script and is valid for exactly these: across a kill of the service, by link, and after changes of
 * the session's files.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { endedTurn, eventually } from './eventually.ts';

const dataDir = makeDataDir();
let service: RunningService;

beforeAll(async () => {
  service = await startService(dataDir, { MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787' });
  const made = await service.call('PUT', '/v1/toolsets/office', { tools: [{ tool: 'builtin.bash' }, { tool: 'builtin.delete_file' }] });
  expect(made.status).toBe(201);
});

afterAll(async () => {
  await service?.stop();
  removeDataDir(dataDir);
});

const names = ['junk.txt', 'contract.txt', 'ledger.csv'];

async function begin(): Promise<string> {
  const made = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'office' });
  for (const name of names) await put(made.json.id, name, `${name}\n`);
  return made.json.id;
}

const fileUrl = (session: string, name: string) => `${service.url}/v1/sessions/${session}/files/workspace/${name}`;
const headers = () => ({ authorization: `Bearer ${service.key}` });
const put = async (session: string, name: string, body: string) => {
  const answer = await fetch(fileUrl(session, name), { method: 'PUT', headers: headers(), body });
  expect(answer.ok).toBe(true);
};
const read = async (session: string, name: string) => {
  const answer = await fetch(fileUrl(session, name), { headers: headers() });
  return answer.ok ? await answer.text() : null;
};
const readAll = (session: string) => Promise.all(names.map((name) => read(session, name)));
const say = async (session: string, input: string) => (await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json;
const script = (session: string, command: string) => say(session, `/bash ${JSON.stringify({ command })}`);
const decide = (session: string, callId: string, body: object) => service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, body);

const ended = (session: string) => endedTurn(service, session);
const asked = (session: string, round: number) =>
  eventually(`the question of round ${round}`, async () => {
    const { items } = (await service.call('GET', `/v1/sessions/${session}/approvals`)).json;
    return items.find((item: { round?: number }) => item.round === round);
  });

describe('the approval of a script', () => {
  it('lists every effect in every representation, survives a kill, and runs the listed effects', async () => {
    const session = await begin();
    const { pending } = await script(session, 'rm junk.txt; rm contract.txt; echo pwned > ledger.csv');
    const question = {
      reason: 'It deletes 2 files (/workspace/junk.txt, /workspace/contract.txt) and replaces /workspace/ledger.csv',
      effects: names.map((name) => expect.objectContaining({ target: `/workspace/${name}` })),
      effectCount: 3,
    };
    expect(pending).toMatchObject([question]);
    expect(await readAll(session)).toEqual(names.map((name) => `${name}\n`));
    const [{ callId }] = pending;
    await service.stop('SIGKILL');
    service = await startService(dataDir, { MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787' });
    expect((await service.call('GET', `/v1/sessions/${session}/approvals`)).json.items).toMatchObject([question]);
    const { url } = (await service.call('POST', `/v1/sessions/${session}/approvals/${callId}/link`)).json;
    const page = await (await fetch(`${service.url}${new URL(url).pathname}`, { headers: { accept: 'text/html' } })).text();
    for (const name of names) expect(page).toContain(`<code>/workspace/${name}</code>`);
    expect((await decide(session, callId, { decision: 'approve', remember: true })).json.detail).toContain('several effects');
    expect((await decide(session, callId, { decision: 'approve' })).status).toBe(200);
    expect((await ended(session)).status).toBe('completed');
    expect(await readAll(session)).toEqual([null, null, 'pwned\n']);
  });

  it('is required again when the script was rewritten while it waited, and old decisions and links are not valid for the new one', async () => {
    const session = await begin();
    await put(session, 'run.sh', 'rm junk.txt\n');
    const { pending } = await script(session, 'bash run.sh');
    expect(pending).toMatchObject([{ effects: [{ target: '/workspace/junk.txt' }] }]);
    const [{ callId }] = pending;
    const link = async () => new URL((await service.call('POST', `/v1/sessions/${session}/approvals/${callId}/link`)).json.url).pathname;
    const old = await link();
    await put(session, 'run.sh', 'rm contract.txt\n');
    await service.stop('SIGKILL');
    service = await startService(dataDir, { MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787' });
    expect((await decide(session, callId, { decision: 'approve' })).status).toBe(200);
    expect(await asked(session, 2)).toMatchObject({ callId, effects: [{ target: '/workspace/contract.txt' }] });
    expect(await readAll(session)).toEqual(names.map((name) => `${name}\n`));
    // The same request again, a second approver who saw the first list, and its link.
    expect((await decide(session, callId, { decision: 'approve' })).json).toMatchObject({ code: 'conflict', round: 2 });
    expect((await decide(session, callId, { decision: 'approve', round: 1 })).status).toBe(409);
    const byLink = await fetch(`${service.url}${old}`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: '{"decision":"approve"}',
    });
    expect(byLink.status).toBe(404);
    expect(await readAll(session)).toEqual(names.map((name) => `${name}\n`));
    expect((await decide(session, callId, { decision: 'approve', round: 2 })).status).toBe(200);
    expect((await ended(session)).status).toBe('completed');
    expect(await readAll(session)).toEqual(['junk.txt\n', null, 'ledger.csv\n']);
  });

  it('is denied without naming the round', async () => {
    const session = await begin();
    await put(session, 'run.sh', 'rm junk.txt\n');
    const [{ callId }] = (await script(session, '. ./run.sh')).pending;
    await put(session, 'run.sh', 'rm contract.txt\n');
    await decide(session, callId, { decision: 'approve' });
    await asked(session, 2);
    expect((await decide(session, callId, { decision: 'deny' })).status).toBe(200);
    await ended(session);
    expect(await readAll(session)).toEqual(names.map((name) => `${name}\n`));
  });

  it('is valid for one direct call of a session, and not after any change', async () => {
    const session = await begin();
    const call = async (command: string) =>
      (await service.call('POST', '/v1/toolsets/office/calls', { name: 'bash', arguments: { command }, session })).json;
    await put(session, 'list.txt', 'junk.txt\n');
    const command = 'xargs rm < list.txt';
    const [first] = (await call(command)).pending;
    expect(first).toMatchObject({ effects: [{ target: '/workspace/junk.txt' }] });
    await put(session, 'list.txt', 'contract.txt\n');
    await decide(session, first.callId, { decision: 'approve' });
    const [second] = (await call(command)).pending;
    expect(second).toMatchObject({ round: 2, effects: [{ target: '/workspace/contract.txt' }] });
    expect((await decide(session, second.callId, { decision: 'approve' })).status).toBe(409);
    expect((await call(command)).code).toBe('approval_required');
    await decide(session, second.callId, { decision: 'approve', round: 2 });
    expect(await call(command)).toMatchObject({ isError: false });
    expect(await readAll(session)).toEqual(['junk.txt\n', null, 'ledger.csv\n']);
    // The approval was used once.
    await put(session, 'contract.txt', 'a new one');
    expect((await call(command)).code).toBe('approval_required');
  });
});

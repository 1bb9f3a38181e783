/** Deleting and overwriting through the running service: files that the user put into a session are lost only after an approval. */
import { beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';
import { waitUntil } from '../wait-for.ts';

const service = shareService();

describe('the files of a session', () => {
  let session: string;
  const say = async (command: string) =>
    (await service.call('POST', `/v1/sessions/${session}/turns`, { input: `/bash ${JSON.stringify({ command })}` })).json;
  const read = async (path: string): Promise<Response> =>
    await fetch(`${service.url}/v1/sessions/${session}/files/${path}`, { headers: { authorization: `Bearer ${service.key}` } });

  beforeAll(async () => {
    await service.call('PUT', '/v1/toolsets/shell', { tools: [{ tool: 'builtin.bash', name: 'bash' }] });
    session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'shell' })).json.id;
    for (const name of ['a.txt', 'b.txt']) {
      const headers = { authorization: `Bearer ${service.key}` };
      await fetch(`${service.url}/v1/sessions/${session}/files/${name}`, { method: 'PUT', headers, body: name });
    }
  });

  it('are evaluated by POST /v1/policy/test in their current state, without being changed', async () => {
    const test = async (command: string, policy?: object) =>
      (await service.call('POST', '/v1/policy/test', { tool: 'bash', toolset: 'shell', session, arguments: { command }, policy })).json;
    expect(await test('rm a.txt')).toMatchObject({ verdict: 'ask', kind: 'delete-file' });
    expect(await test('mv b.txt a.txt')).toMatchObject({ verdict: 'ask', kind: 'overwrite-file' });
    expect(await test('echo x > n; rm n')).toMatchObject({ verdict: 'allow' });
    expect(await test('rm a.txt', { rules: [{ decision: 'deny', effect: 'destroy' }] })).toMatchObject({ verdict: 'deny' });
    expect(await (await read('a.txt')).text()).toBe('a.txt');
    expect((await read('n')).status).toBe(404);
  });

  it('can be deleted together with an approval that is valid once and creates no rule', async () => {
    const { pending } = await say('rm -rf .');
    const word = (body: object) => service.call('POST', `/v1/sessions/${session}/approvals/${pending[0].callId}`, body);
    const refused = await word({ decision: 'approve', remember: true });
    expect(refused).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining('an approval for /workspace is valid only once') },
    });
    expect((await word({ decision: 'deny' })).status).toBe(200);
    expect(await (await read('a.txt')).text()).toBe('a.txt');
  });

  it('wait for the approval, and are deleted after it', async () => {
    expect(await say('echo mine > m; echo again > m')).toMatchObject({ status: 'completed' });
    const waiting = await say('echo x > a.txt');
    expect(waiting).toMatchObject({ status: 'waiting', pending: [{ reason: expect.stringContaining('/workspace/a.txt') }] });
    expect(await (await read('a.txt')).text()).toBe('a.txt');
    const { callId } = waiting.pending[0];
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'deny' });
    const everything = await say('rm -rf /');
    expect(everything).toMatchObject({ status: 'waiting', pending: [{ canonical: 'builtin.bash' }] });
    await service.call('POST', `/v1/sessions/${session}/approvals/${everything.pending[0].callId}`, { decision: 'approve' });
    await waitUntil(async () => (await read('a.txt')).status === 404);
    expect([(await read('a.txt')).status, (await read('m')).status]).toEqual([404, 404]);
    expect(await say('echo new > a.txt')).toMatchObject({ status: 'completed' });
  });
});

describe('the policy document', () => {
  it('is rejected, each rule by its path, where a rule can never match or names a missing tool', async () => {
    const rules = [
      { decision: 'deny', tool: 'builtin.bahs' },
      { decision: 'deny', tool: 'later.tool' },
      { decision: 'deny', tool: 'builtin.bash', effect: 'send' },
    ];
    const { status, json } = await service.call('PUT', '/v1/policy', { rules });
    expect(status).toBe(422);
    expect(json.issues).toEqual([{ path: 'rules[0].tool', message: expect.stringContaining('did you mean builtin.bash') }]);
    const never = await service.call('PUT', '/v1/policy', { rules: [...rules.slice(1), { decision: 'ask', path: '/a', effect: 'send' }] });
    expect(never.json.issues).toEqual([{ path: 'rules[2]', message: expect.stringContaining('would never match') }]);
    expect((await service.call('PUT', '/v1/policy', { rules: rules.slice(1) })).status).toBe(201);
  });
});

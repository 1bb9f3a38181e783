/** The data folder of every release is opened by this build, with everything that it has. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import type { Facts } from './data-folder.ts';
import { fixture } from './data-folder.ts';
import { makeDataDir, removeDataDir, type RunningService, startService } from './service.ts';
import { deliver, signStandard } from './webhook-payloads.ts';

const folder = join(import.meta.dirname, '../fixtures');
const releases = readdirSync(folder).filter((name) => /^data-.*\.tgz$/.test(name));

it('there is one of the first release', () => {
  expect(releases).toContain('data-0.1.0.tgz');
});

describe.each(releases)('%s', (name) => {
  const dataDir = makeDataDir();
  let service: RunningService;
  let facts: Facts;
  const get = async (path: string) => {
    const answer = await service.call('GET', path);
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    return answer.json;
  };

  beforeAll(async () => {
    expect(spawnSync('tar', ['-xzf', join(folder, name), '-C', dataDir]).status).toBe(0);
    facts = JSON.parse(readFileSync(join(dataDir, 'facts.json'), 'utf8')) as Facts;
    service = await startService(dataDir);
  });

  afterAll(async () => {
    await service?.stop();
    removeDataDir(dataDir);
  });

  it('has its session, which continues, and its files', async () => {
    const path = `/v1/sessions/${facts.ended}`;
    expect(JSON.stringify(await get(`${path}/messages`))).toContain('note.txt');
    expect((await service.call('GET', `${path}/files/note.txt`)).text).toBe('kept');
    expect((await service.call('POST', `${path}/turns`, { input: 'hello again' })).json.status).toBe('completed');
  });

  it('has its API key', async () => {
    const answer = await service.call('GET', '/v1/models', undefined, { authorization: `Bearer ${facts.apiKey}` });
    expect(answer.status, answer.text).toBe(200);
  });

  it('opens its secrets: a signed delivery is verified, and gets its turn', async () => {
    expect((await get('/v1/secrets/token')).name).toBe('token');
    expect((await deliver(service, 'triage', signStandard(fixture.webhookSecret, { n: 4 }, 'msg_2'))).status).toBe(202);
    await vi.waitFor(async () => expect((await get('/v1/webhooks/triage/deliveries/msg_2')).status).toBe('completed'), {
      timeout: waitMs,
    });
  });

  it('has its schedule with its next time', async () => {
    expect(await get('/v1/schedules/daily')).toMatchObject({ cron: '0 4 * * *' });
  });

  it('has an approval that waits: its turn ends once it is decided', async () => {
    const [waiting] = (await get('/v1/approvals')).items;
    expect(waiting).toMatchObject({ session: facts.waiting, state: 'pending' });
    const path = `/v1/sessions/${facts.waiting}`;
    const decided = await service.call('POST', `${path}/approvals/${waiting.callId}`, { decision: 'approve' });
    expect(decided.status, decided.text).toBeLessThan(300);
    await vi.waitFor(async () => expect((await get(path)).turn.status).toBe('completed'), { timeout: waitMs });
    expect((await service.call('GET', `${path}/files/done.txt`)).text).toBe('approved\n');
  });

  it('has its toolsets compiled with the tools of this build', async () => {
    await vi.waitFor(async () => expect((await get('/readyz')).staleToolsets).toBe(0), { timeout: waitMs });
    const [{ name }] = (await get('/v1/toolsets')).items;
    const { tools, warnings } = await get(`/v1/toolsets/${name}/tools`);
    expect(tools.map(({ state }: { state: string }) => state)).not.toContain('missing');
    expect(JSON.stringify(warnings)).not.toContain('earlier build');
  });

  it('has an audit that is verified', async () => {
    const { ok, checked } = await get('/v1/audit/verify');
    expect([ok, checked > 0]).toEqual([true, true]);
  });
});

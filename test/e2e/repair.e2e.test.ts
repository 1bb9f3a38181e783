/** `moniker doctor --repair` and the restore of one session, on folders with really damaged files. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { copyOf, damages, databaseOf, keys, makeWorkedFolder, moniker, removeWorkedFolder, type WorkedFolder } from './damaged-folder.ts';
import { type RunningService, startService } from './service.ts';

let worked: WorkedFolder;
beforeAll(async () => {
  worked = await makeWorkedFolder();
});
afterAll(() => removeWorkedFolder(worked));

let running: RunningService | null = null;
const copies: string[] = [];
afterEach(async () => {
  await running?.stop();
  running = null;
  for (const copy of copies.splice(0)) rmSync(join(copy, '..'), { recursive: true, force: true });
});

function folder(): string {
  const copy = copyOf(worked.dataDir);
  copies.push(copy);
  return copy;
}

async function start(dataDir: string): Promise<RunningService> {
  running = await startService(dataDir, keys);
  return running;
}

type Backup = { leftOut: { object: { kind: string; id: string }; reason: string }[]; header: string | null; lines: string[] };

async function backUp(service: RunningService): Promise<Backup> {
  const { status, text, headers } = await service.call('GET', '/v1/backup');
  expect(status, text).toBe(200);
  const lines = text.trimEnd().split('\n');
  return { leftOut: JSON.parse(lines.at(-1) ?? '').part.leftOut, header: headers.get('x-left-out'), lines };
}

/** The line before a session, and its own. */
function linesOf(archive: string, session: string): string[] {
  const lines = gunzipSync(readFileSync(archive)).toString('utf8').trimEnd().split('\n');
  const first = lines.findIndex((line) => line.includes(`"kind":"session","id":"${session}"`));
  return lines.slice(first - 1, first + 1);
}

describe('moniker doctor --repair', () => {
  it('moves damaged databases away, after which one session is restored from an archive', async () => {
    const dataDir = folder();
    const [lost = '', other = ''] = worked.sessions;
    const file = databaseOf(dataDir, 'Session', lost);
    damages['overwritten in the middle']?.(file, '');
    const { status, stdout } = moniker(['doctor', '--repair', '--data', dataDir]);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`moniker restore FILE --session ${lost}`)]);
    expect(existsSync(file)).toBe(false);
    const [time = ''] = readdirSync(join(dataDir, 'quarantine'));
    expect(readdirSync(join(dataDir, 'quarantine', time, 'moniker-Session'))).toContain(basename(file));
    expect(moniker(['doctor', '--data', dataDir]).stdout).toContain(
      `session ${lost} is in the list of sessions, but its database is missing`,
    );

    const service = await start(dataDir);
    const connection = ['--url', service.url, '--key', service.key];
    expect((await backUp(service)).leftOut).toEqual([
      { object: { kind: 'session', id: lost }, reason: expect.stringContaining('in the list of sessions') },
    ]);
    expect(moniker(['restore', worked.archive, '--session', other, ...connection])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`The session ${other} exists`),
    });
    const absent = '0'.repeat(64);
    expect(moniker(['restore', worked.archive, '--session', absent, ...connection])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`It has no session ${absent}`),
    });
    const [head = '', ...own] = linesOf(worked.archive, lost);
    const send = (...lines: string[]) =>
      service.call('POST', `/v1/restore?session=${lost}`, lines.join('\n'), { 'content-type': 'application/jsonl' });
    // Each line is signed, and of this session.
    for (const lines of [
      own,
      [head],
      [head, (own[0] ?? '').replace('rehearsal', 'rehearsai')],
      [own[0] ?? '', head],
      linesOf(worked.archive, other),
    ])
      expect((await send(...lines)).status).toBe(422);
    expect((await service.call('GET', `/v1/sessions/${lost}`)).status).toBe(404);
    expect(moniker(['restore', worked.archive, '--session', lost, ...connection])).toMatchObject({ status: 0, stderr: '' });
    expect((await service.call('GET', `/v1/sessions/${lost}/messages`)).json.items).toHaveLength(4);
    const turn = await service.call('POST', `/v1/sessions/${lost}/turns`, { input: '/sh {"command": "echo again"}' });
    expect(turn.json.status, turn.text).toBe('completed');
    // Its list entry and the audit row of the new call arrive in the background.
    await vi.waitFor(
      async () => {
        const rows = (await service.call('GET', `/v1/audit?session=${lost}&kind=call`)).json.items;
        expect(rows).toHaveLength(2);
        expect((await service.call('GET', '/v1/sessions')).json.items.map(({ id }: { id: string }) => id)).toContain(lost);
      },
      { timeout: waitMs },
    );
    const [change] = (await service.call('GET', '/v1/audit?kind=change')).json.items;
    expect(change).toMatchObject({ action: 'restore', resource: 'session', name: lost });
    expect((await backUp(service)).leftOut).toEqual([]);
    expect((await service.call('GET', '/v1/audit/verify')).json).toMatchObject({ ok: true, broken: null });
  });

  it('leaves a session in the list, from where the root key deletes it', async () => {
    const dataDir = folder();
    const [lost = ''] = worked.sessions;
    damages['a text']?.(databaseOf(dataDir, 'Session', lost), '');
    expect(moniker(['doctor', '--repair', lost, '--data', dataDir]).status).toBe(0);
    const service = await start(dataDir);
    expect((await service.call('DELETE', `/v1/sessions/${lost}`)).status).toBe(204);
    expect((await service.call('DELETE', `/v1/sessions/${lost}`)).status).toBe(404);
    expect((await backUp(service)).leftOut).toEqual([]);
  });

  it('moves a catalog only if it is named, and its workspace is restored from the archive', async () => {
    const dataDir = folder();
    const file = databaseOf(dataDir, 'Catalog');
    damages['cut in half']?.(file, '');
    const kept = moniker(['doctor', '--repair', '--data', dataDir]);
    expect(kept).toMatchObject({ status: 1, stderr: expect.stringContaining('was left in its place') });
    const moved = moniker(['doctor', '--repair', 'catalog', '--data', dataDir]);
    expect([moved.status, moved.stdout]).toEqual([0, expect.stringContaining('was moved to')]);
    const service = await start(dataDir);
    expect((await service.call('GET', '/v1/agents/clerk')).status).toBe(404);
    const restored = moniker(['restore', worked.archive, '--url', service.url, '--key', service.key]);
    expect([restored.status, restored.stderr]).toEqual([0, '']);
    expect((await service.call('GET', '/v1/agents/clerk')).status).toBe(200);
    for (const id of worked.sessions) expect((await service.call('GET', `/v1/sessions/${id}`)).status).toBe(200);
    expect((await service.call('GET', '/v1/audit/verify')).json).toMatchObject({ ok: true });
  });

  it('is refused while a service uses the folder, and for an object that is not there', async () => {
    const dataDir = folder();
    expect(moniker(['doctor', '--repair', 'nothing', '--data', dataDir])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('has no database "nothing"'),
    });
    await start(dataDir);
    expect(moniker(['doctor', '--repair', '--data', dataDir])).toMatchObject({ status: 1, stderr: expect.stringContaining('is using') });
  });

  it('finds nothing in an intact folder, and writes nothing there', () => {
    const dataDir = folder();
    const list = (): string[] => readdirSync(join(dataDir, 'state'), { recursive: true, encoding: 'utf8' }).toSorted();
    const before = list();
    expect(moniker(['doctor', '--repair', '--data', dataDir]).stdout).toMatch(/^\d+ databases are intact\.\n$/);
    expect(moniker(['doctor', '--data', dataDir]).stdout).toMatch(/^ok {6}databases +\d+ databases are intact$/m);
    expect(list()).toEqual(before);
  });
});

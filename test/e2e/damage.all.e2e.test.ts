/** Damage names its object: one damaged session or shard costs that one only, and a damaged Catalog is named at start. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  copyOf,
  damages,
  databaseOf,
  failedStart,
  keys,
  makeWorkedFolder,
  metadataOf,
  moniker,
  removeWorkedFolder,
  type WorkedFolder,
} from './damaged-folder.ts';
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

describe.each(Object.keys(damages))('files that are %s', (kind) => {
  const damage = damages[kind] ?? (() => undefined);

  it('of a session, an audit shard and a usage shard are named, and cost nothing else', async () => {
    const dataDir = folder();
    const [lost = '', other = ''] = worked.sessions;
    const shard = databaseOf(dataDir, 'AuditShard');
    const usage = databaseOf(dataDir, 'UsageShard');
    const catalog = databaseOf(dataDir, 'Catalog');
    for (const file of [databaseOf(dataDir, 'Session', lost), shard, usage]) damage(file, catalog);

    const { stdout } = moniker(['doctor', '--data', dataDir]);
    expect(stdout).toContain(`session ${lost}`);
    // An object without rows may have an empty file: only the list of sessions says that something is missing.
    const isVisible = kind !== 'empty';
    if (isVisible) for (const file of [shard, usage]) expect(stdout).toContain(basename(file));

    const service = await start(dataDir);
    expect((await service.call('GET', `/v1/sessions/${other}/messages`)).status).toBe(200);
    const refused = await service.call('GET', `/v1/sessions/${lost}/messages`);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    if (refused.status === 500) expect(refused.json.detail).toContain(`The session ${lost} cannot be used: its database`);

    const { leftOut, header, lines } = await backUp(service);
    expect(leftOut).toContainEqual({ object: { kind: 'session', id: lost }, reason: expect.stringMatching(/\w{5}/) });
    expect(header).toContain(`session ${lost}`);
    expect(lines.some((line) => line.includes(`"kind":"session","id":"${other}"`))).toBe(true);
    expect(leftOut.map(({ object }) => object.kind).toSorted()).toEqual(isVisible ? ['audit', 'session', 'usage'] : ['session']);

    if (!isVisible) return;
    const number = leftOut.find(({ object }) => object.kind === 'audit')?.object.id;
    const list = await service.call('GET', '/v1/audit?limit=200');
    expect([list.status, list.json.leftOut]).toEqual([200, [{ log: number, reason: expect.stringMatching(/\w{5}/) }]]);
    expect(list.json.items.length).toBeGreaterThan(5);
    const { ok, broken, logs, nextCursor } = (await service.call('GET', '/v1/audit/verify')).json;
    expect({ ok, broken, nextCursor }).toMatchObject({ ok: false, broken: { log: number, reason: 'unreadable' }, nextCursor: null });
    const others = logs.filter(({ log }: { log: string }) => log !== number);
    expect(others.length).toBe(8);
    expect(others.every(({ fault }: { fault: unknown }) => fault === null)).toBe(true);
  });

  it('of the catalog are named at a start, which is refused', async () => {
    const dataDir = folder();
    const file = databaseOf(dataDir, 'Catalog');
    damage(file, databaseOf(dataDir, 'Session', worked.sessions[0]));
    const { code, printed } = await failedStart(dataDir);
    expect(code, printed).toBe(1);
    expect(printed).toMatch(/The service cannot start\. The database of the catalog .*moniker-Catalog\/\w+\.sqlite/);
    expect(printed).toContain('moniker doctor --repair catalog');
    expect(printed).not.toMatch(/^ {4}at /m);
    expect(readdirSync(join(file, '..'))).toContain(basename(file));
  });

  it('of the alarms of a class are named at a start, or made again', async () => {
    const dataDir = folder();
    const file = metadataOf(dataDir, 'Catalog');
    const before = alarmsOf(file);
    expect(before).toHaveLength(1);
    damage(file, databaseOf(dataDir, 'Session', worked.sessions[0]));
    const { code, printed } = await failedStart(dataDir);
    expect(code, printed).toBe(1);
    expect(printed).toContain('The database of the alarms of Catalog');
    const { status, stdout } = moniker(['doctor', '--repair', '--data', dataDir]);
    expect([status, stdout]).toEqual([0, expect.stringContaining('moniker-Catalog/metadata.sqlite was moved to')]);
    expect(alarmsOf(file)).toEqual(before);
    expect((await (await start(dataDir)).call('GET', '/v1/sessions')).json.items).toHaveLength(4);
  });
});

function alarmsOf(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare('SELECT actor_id, CAST(scheduled_time AS TEXT) AS due FROM _cf_ALARM').all();
  } finally {
    database.close();
  }
}

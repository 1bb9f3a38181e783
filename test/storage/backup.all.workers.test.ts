/** Archives that are forged, damaged or from elsewhere, restores that stop, and what becomes of work in progress. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { type ArchivePart, chainHash, readLine, startHash, type TableRows, writeLine } from '../../src/core/backup/archive.ts';
import type { Principal } from '../../src/core/people/principal.ts';
import type { RestoreState } from '../../src/ports/backup.ts';
import { createBackups } from '../../src/storage/backup/backup-client.ts';
import type { BackupRpc } from '../../src/storage/backup/backup-objects.ts';
import { macOfLine } from '../../src/storage/backup/write-archive.ts';
import { kvKeys, objectName } from '../../src/storage/keys.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import { sessionObjectId } from '../../src/objects/session/client/session-client.ts';
import { wire } from '../../src/wiring/wire.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { waitFor } from '../wait-for.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { emptyWorkspace, testEnv } from './workspace.ts';

const master = createMasterKey(String(testEnv.MONIKER_MASTER_KEY));
const { sessions, planTurn } = wire(testEnv);
const again = { replace: true, allowCommands: false };

async function workspaceToBackUp() {
  const { workspace, catalog } = await emptyWorkspace();
  const name = await objectName(workspace, 'catalog', '');
  // Created for each use: a restore resets the object, and its stubs stay broken.
  const object = () => testEnv.CATALOG.get(testEnv.CATALOG.idFromName(name));
  const deps = { bindings: testEnv, master, clock: fakeClock(Date.now()), workspace, auditShards: 2 };
  const backups = createBackups(deps, 'root');
  const root: Principal = { workspace, keyId: 'root', scopes: ['admin'] };
  await catalog.put('toolset', 'desk', {
    tools: [
      { tool: 'builtin.bash', name: 'sh', approval: 'always' },
      { tool: 'builtin.write_file', name: 'save' },
    ],
  });
  await catalog.put('agent', 'clerk', { model: 'rehearsal/default', toolset: 'desk' });
  const sql = <Row extends Record<string, SqlStorageValue>>(query: string, ...values: (string | number)[]) =>
    runInDurableObject(object(), (_instance, { storage }) => storage.sql.exec<Row>(query, ...values).toArray());
  const session = async (): Promise<string> =>
    (await sessions.create(root, { model: 'rehearsal/default', toolset: 'desk', listed: true })).id;
  const say = async (id: string, text: string): Promise<string> => {
    const plan = await planTurn(root, { model: 'rehearsal/default', toolset: 'desk' });
    return (await sessions.get(id).submit(root, { plan, input: [{ type: 'text', text }] })).turn;
  };
  const read = async (): Promise<string[]> => {
    const lines: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await backups.page(cursor);
      lines.push(...page.lines.map((line) => new TextDecoder().decode(line).trimEnd()));
      if (page.next === null) return lines;
      cursor = page.next;
    }
  };
  const restore = async (lines: readonly string[], options = again): Promise<RestoreState> => {
    const state = await backups.restore(lines, options);
    await finish();
    return state;
  };
  /** Makes the restored sessions available, as the alarm does. */
  const finish = async (): Promise<void> => {
    for (let times = 0; times < 20 && (await backups.restoreState()).state === 'finishing'; times += 1)
      await runDurableObjectAlarm(object());
  };
  /** Lines with other parts, signed like those of the service. */
  const sign = async (parts: readonly ArchivePart[]): Promise<string[]> => {
    const lines: string[] = [];
    let hash = startHash;
    for (const [number, value] of parts.entries()) {
      const part = JSON.stringify(value);
      hash = chainHash(hash, number, part);
      lines.push(writeLine({ number, hash, mac: await macOfLine({ master, workspace }, hash), part }).trimEnd());
    }
    return lines;
  };
  const changed = async (change: (part: ArchivePart) => ArchivePart): Promise<string[]> => await sign(partsOf(await read()).map(change));
  return { workspace, catalog, object, deps, backups, root, sql, session, say, read, restore, finish, sign, changed };
}

function partsOf(lines: readonly string[]): ArchivePart[] {
  let previous: ReturnType<typeof readLine> | null = null;
  return lines.map((text) => {
    previous = readLine(text, previous);
    return JSON.parse(previous.part) as ArchivePart;
  });
}

/** Changes the rows of one table of the Catalog. */
const inTable =
  (name: string, change: (table: TableRows) => TableRows) =>
  (part: ArchivePart): ArchivePart =>
    part.kind === 'object' && part.object.kind === 'catalog'
      ? { ...part, tables: part.tables.map((table) => (table.name === name ? change(table) : table)) }
      : part;
const setColumn =
  (column: string, value: unknown) =>
  (table: TableRows): TableRows => ({
    ...table,
    rows: table.rows.map((row) => row.with(table.columns.indexOf(column), value)),
  });

describe('an archive', () => {
  it.each<[string, RegExp, (part: ArchivePart) => ArchivePart]>([
    ['of another workspace', /is of the workspace "other"/, (part) => (part.kind === 'header' ? { ...part, workspace: 'other' } : part)],
    ['of another master key', /another MONIKER_MASTER_KEY/, (part) => (part.kind === 'header' ? { ...part, masterKey: 'ffff' } : part)],
    ['of a newer format', /format 99/, (part) => (part.kind === 'header' ? { ...part, format: 99 } : part)],
    ['of a newer release', /newer release/, (part) => (part.kind === 'object' ? { ...part, schema: 9_999 } : part)],
    ['with rows of another workspace', /not of the workspace/, inTable('meta', setColumn('value', 'other'))],
    ['with a text as a number', /version has no value of its type/, inTable('documents', setColumn('version', 'one'))],
    ['with an object as a text', /body has no value of its type/, inTable('documents', setColumn('body', { toString: 'x' }))],
    ['with an empty required value', /body has no value of its type/, inTable('documents', setColumn('body', null))],
    ['with a document that is not JSON', /is not valid JSON/, inTable('documents', setColumn('body', '{'))],
    ['with an unknown table', /no such table/, inTable('documents', (table) => ({ ...table, name: 'restoring' }))],
    ['with a table of SQLite', /part \d+ /i, inTable('documents', (table) => ({ ...table, name: 'sqlite_master; DROP' }))],
    [
      'with an unknown column',
      /no column __proto__|part \d+ /i,
      inTable('documents', (table) => ({ ...table, columns: table.columns.with(0, '__proto__') })),
    ],
    [
      'with a column twice',
      /named twice/,
      inTable('documents', (table) => ({ ...table, columns: table.columns.with(0, table.columns[1] ?? '') })),
    ],
    ['with too few values', /1 values in place of/, inTable('documents', (table) => ({ ...table, rows: [['x']] }))],
  ])('%s is refused, and the restore can be given up', async (_what, message, change) => {
    const { changed, restore, backups, catalog } = await workspaceToBackUp();
    await expect(restore(await changed(change))).rejects.toThrow(message);
    expect((await backups.abandon()).state).toBe('none');
    await catalog.put('agent', 'next', { model: 'rehearsal/default' });
    expect((await catalog.list('agent', { limit: 10 })).items.map(({ name }) => name)).toContain('next');
  });

  it('that the service did not sign is refused before anything is deleted', async () => {
    const { read, restore, backups, catalog } = await workspaceToBackUp();
    const forged = (await read()).map((line) => line.replace(/"mac":"[0-9a-f]{64}"/, `"mac":"${'0'.repeat(64)}"`));
    await expect(restore(forged)).rejects.toThrow(/signature is invalid/);
    expect((await backups.restoreState()).state).toBe('none');
    expect(await catalog.get('agent', 'clerk')).toMatchObject({ version: 1 });
  });

  it('is refused where something exists, unless it replaces it', async () => {
    const { read, restore } = await workspaceToBackUp();
    const lines = await read();
    await expect(restore(lines, { replace: false, allowCommands: false })).rejects.toThrow(/not empty: it has the toolset "desk"/);
    expect((await restore(lines)).state).not.toBe('restoring');
  });
});

describe('a restore', () => {
  it('continues with repeated lines and after a restart, and refuses other requests until its end', async () => {
    const { read, backups, catalog, session, say, root, object, finish } = await workspaceToBackUp();
    const id = await session();
    const turn = await say(id, '/save {"path": "a.txt", "content": "kept"}');
    await sessions.get(id).waitForAnswer(root, turn);
    const lines = await read();
    for (const [number, line] of lines.entries()) {
      await backups.restore(number === 0 ? [line] : [lines[number - 1] ?? '', line], again);
      if (number === lines.length - 1) break;
      expect(await backups.restoreState()).toMatchObject({ state: 'restoring', nextPart: number + 1 });
      await expect(catalog.get('agent', 'clerk')).rejects.toThrow(/restore of this workspace is in progress/);
      await expect(backups.page(undefined)).rejects.toThrow(/in progress/);
      await expect(sessions.get(id).view(root)).rejects.toThrow(/no such session|in progress/);
      if (number % 3 === 0) await evictDurableObject(object());
    }
    await finish();
    const file = await sessions.get(id).readFile(root, 'a.txt');
    expect('content' in file && new TextDecoder().decode(file.content)).toBe('kept');
    expect((await catalog.sessions({ keyId: null }, { limit: 10 })).items.map((one) => one.id)).toEqual([id]);
  });

  it('is not done before every audit shard is, and ends when the last lines are sent again', async () => {
    const { read, deps, backups, finish, catalog } = await workspaceToBackUp();
    const lines = await read();
    let failures = 1;
    const failing = (shard: DurableObjectStub): DurableObjectStub => {
      const end = async (...given: Parameters<BackupRpc['restoreStep']>) => {
        if (given[1].step === 'end' && failures-- > 0) throw new Error('the shard is away');
        // The method that a restore calls.
        return await (shard as unknown as BackupRpc).restoreStep(...given);
      };
      return { restoreStep: end } as unknown as DurableObjectStub;
    };
    const { AUDIT_SHARD } = testEnv;
    const shards = {
      idFromName: (name: string) => AUDIT_SHARD.idFromName(name),
      get: (id: DurableObjectId) => failing(AUDIT_SHARD.get(id)),
    };
    const bindings = { ...testEnv, AUDIT_SHARD: shards as unknown as DurableObjectNamespace };
    await expect(createBackups({ ...deps, bindings }, 'root').restore(lines, again)).rejects.toThrow('the shard is away');
    expect(await backups.restoreState()).toMatchObject({ state: 'restoring' });
    await expect(catalog.get('agent', 'clerk')).rejects.toThrow(/restore of this workspace is in progress/);
    await backups.restore(lines.slice(-1), again);
    await finish();
    expect(await catalog.get('agent', 'clerk')).toMatchObject({ version: 1 });
  });

  it('begins anew after it has stopped, also with another archive', async () => {
    const { read, restore, backups, catalog, session, root } = await workspaceToBackUp();
    const earlier = await read();
    const id = await session();
    const lines = await read();
    await backups.restore(lines.slice(0, -2), again);
    await restore(earlier);
    expect(await catalog.get('agent', 'clerk')).toMatchObject({ version: 1 });
    await expect(sessions.get(id).view(root)).rejects.toThrow(/no such session/);
  });

  it('keeps the ids of sessions from another installation, which can be backed up again', async () => {
    const { read, restore, changed, session, say, root } = await workspaceToBackUp();
    const id = await session();
    await sessions.get(id).waitForAnswer(root, await say(id, '/save {"path": "a.txt", "content": "kept"}'));
    const foreign = 'f0'.repeat(32);
    const lines = await changed((part) => JSON.parse(JSON.stringify(part).replaceAll(id, foreign)) as ArchivePart);
    await restore(lines);
    expect(await sessions.get(foreign).view(root)).toMatchObject({ id: foreign });
    expect((await sessions.get(foreign).waitForAnswer(root, await say(foreign, '/save {"path": "b.txt", "content": "more"}'))).status).toBe(
      'completed',
    );
    const second = await read();
    expect(second.some((line) => line.includes(`"id":"${foreign}"`))).toBe(true);
    await restore(second);
    expect((await sessions.get(foreign).listFiles(root, '/workspace')).entries.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
  });

  it('cancels a turn that ran, and keeps one that waits for a decision', { retry: onBusyMachine }, async () => {
    const { read, restore, session, say, root } = await workspaceToBackUp();
    const [running, waiting] = [await session(), await session()];
    await say(waiting, '/sh {"command": "echo yes > done.txt"}');
    await waitFor(async () => (await sessions.get(waiting).approvals(root)).length === 1);
    const turn = await say(running, '/save {"path": "a.txt", "content": "kept"}');
    await sessions.get(running).waitForAnswer(root, turn);
    // As if it had been read in the middle of the turn.
    const stub = testEnv.SESSION.get(sessionObjectId(testEnv.SESSION, running));
    await runInDurableObject(stub, (_instance, { storage }) => {
      storage.sql.exec('DELETE FROM events WHERE body LIKE \'{"type":"turn-end"%\'');
      storage.sql.exec("UPDATE turns SET state = 'running', status = NULL, reason = NULL, last_event = NULL");
      storage.sql.exec(
        'UPDATE turns SET plan = ?',
        JSON.stringify({ model: 'rehearsal/default', instructions: '', settings: {}, limits: {} }),
      );
    });
    await evictDurableObject(stub);
    await restore(await read());
    expect((await sessions.get(running).view(root)).turn).toMatchObject({ id: turn, status: 'cancelled' });
    const [approval] = await sessions.get(waiting).approvals(root);
    await sessions.get(waiting).decide(root, approval?.callId ?? '', 'approve', { remember: false });
    await waitFor(
      async () =>
        'content' in
        (await sessions
          .get(waiting)
          .readFile(root, 'done.txt')
          .catch(() => ({}))),
    );
  });

  it('repeats no delivery, callback or missed run, and leaves commands out', async () => {
    const { read, restore, catalog, sql, workspace } = await workspaceToBackUp();
    await catalog.put('schedule', 'daily', { agent: 'clerk', interval: '1h', input: 'hello' });
    const past = Date.now() - 5 * 3_600_000;
    await sql('UPDATE schedule_state SET due_at = ?', past);
    await sql(
      `INSERT INTO deliveries (kind, name, id, status, run, repeats, warnings, is_json, bytes, received_at, run_at, attempts, due_at, held)
        VALUES ('webhook', 'gone', 'd1', 'pending', 1, 0, '[]', 1, 0, ?, ?, 0, ?, 0)`,
      ...[past, past, Date.now() + 3_600_000],
    );
    await sql(
      `INSERT INTO callbacks (id, source, kind, name, type, session, status, created_at, attempts, due_at)
        VALUES ('c1', 's', 'webhook', 'gone', 'turn.completed', 'x', 'pending', ?, 0, ?)`,
      ...[past, Date.now() + 3_600_000],
    );
    await sql('INSERT INTO documents VALUES (\'server\', \'local\', 1, 0, \'{"kind":"mcp","command":"npx"}\', NULL, 1, 1)');
    await sql("INSERT INTO documents VALUES ('secret', 'DIR', 1, 0, '{\"hosts\":[\"local.stdio\"]}', 'sealed', 1, 1)");
    await sql("INSERT INTO documents VALUES ('secret', 'API', 1, 0, '{\"hosts\":[\"api.example.com\"]}', 'sealed', 1, 1)");
    const lines = await read();
    await catalog.put('agent', 'newer', { model: 'rehearsal/default' });
    await waitFor(async () => (await testEnv.KV.get(kvKeys.published('agent', workspace, 'newer'))) !== null);
    const { skipped } = await restore(lines);
    expect(skipped).toMatchObject([
      { kind: 'server', name: 'local' },
      { kind: 'secret', name: 'DIR' },
    ]);
    expect((await catalog.list('secret', { limit: 10 })).items.map(({ name }) => name)).toEqual(['API']);
    expect((await catalog.list('server', { limit: 10 })).items).toEqual([]);
    expect(await sql('SELECT status, due_at FROM deliveries')).toEqual([{ status: 'failed', due_at: null }]);
    expect(await sql('SELECT status, due_at FROM callbacks')).toEqual([{ status: 'dead', due_at: null }]);
    expect(Number((await sql<{ due_at: number }>('SELECT due_at FROM schedule_state'))[0]?.due_at)).toBeGreaterThan(Date.now());
    await catalog.put('toolset', 'later', { tools: [{ tool: 'builtin.read_file', name: 'peruse' }] });
    const [edition] = await sql<{ hash: string }>("SELECT hash FROM toolset_versions WHERE name = 'later'");
    const later = kvKeys.edition(workspace, edition?.hash ?? '');
    await waitFor(async () => (await testEnv.KV.get(later)) !== null);
    expect((await restore(lines, { replace: true, allowCommands: true })).skipped).toEqual([]);
    expect(await testEnv.KV.get(later)).toBeNull();
    await waitFor(async () => (await testEnv.KV.get(kvKeys.published('agent', workspace, 'newer')))?.includes('"deleted":true') === true);
    expect(await testEnv.KV.get(kvKeys.published('agent', workspace, 'clerk'))).toContain('rehearsal/default');
  });
});

describe('a backup', () => {
  it('reads an object again that changes between its pages', async () => {
    const { backups, session, root, restore } = await workspaceToBackUp();
    const id = await session();
    const write = (name: string, byte: number) => sessions.get(id).writeFile(root, name, new Uint8Array(9_000_000).fill(byte));
    for (const name of ['a', 'b', 'c']) await write(name, 1);
    const lines: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; ; pages += 1) {
      const page = await backups.page(cursor);
      lines.push(...page.lines.map((line) => new TextDecoder().decode(line).trimEnd()));
      if (page.next === null) break;
      if (pages === 0) await write('c', 2);
      cursor = page.next;
    }
    expect(pages).toBeGreaterThan(2);
    const starts = partsOf(lines).filter((part) => part.kind === 'object' && part.object.id === id && part.first);
    expect(starts).toHaveLength(2);
    await restore(lines);
    const file = await sessions.get(id).readFile(root, 'c');
    expect('content' in file && [file.content.byteLength, file.content[5]]).toEqual([9_000_000, 2]);
  });

  it('refuses a cursor that it did not return', async () => {
    const { backups, session, root } = await workspaceToBackUp();
    await sessions.get(await session()).writeFile(root, 'a', new Uint8Array(9_000_000));
    const { next } = await backups.page(undefined);
    expect(next).not.toBeNull();
    for (const cursor of ['x', `${next}0`, `A${next}`, '', '{}.{}']) await expect(backups.page(cursor)).rejects.toThrow(/cursor/);
  });
});

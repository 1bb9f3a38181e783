/**
 * The point inside a migration. A crash build has a second step of the session's schema. A session is reverted to the first one, in its
 * file, and the runtime dies while it is migrated again. That code cannot wait: the crash build blocks in it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { addedColumn } from './crash-build.ts';
import { openCell, poll, terminalMs } from './cell.ts';
import { checkInvariants } from './invariants.ts';
import type { Lane } from './lane.ts';

const point = 'schema-migration-mid';

export async function crashInMigration(lane: Lane): Promise<void> {
  const cell = await openCell(lane, point);
  await cell.say('hello', [{ calls: [cell.get('a')] }, { text: 'Done.' }]);
  await cell.ended({ alone: false });
  const before = await cell.events();

  await lane.stop('SIGTERM');
  takeBack(databaseOf(lane.stateDir, cell.session));
  await lane.start({ CRASH_STOP_AT: point, CRASH_STOP_BY: lane.kill });
  // This request gets no response: the object dies while it opens. A graceful eviction waits until it is open.
  const opened = cell.call('GET', '').catch(() => null);
  await poll(async () => lane.printed().includes(`crash point ${point}`), Date.now() + terminalMs);
  if (lane.kill === 'evict') {
    await opened;
    await lane.evict(cell.session);
  } else if (lane.kill === 'abort') {
    // The migration was interrupted under this request, or under an alarm that came first.
    await opened;
  } else {
    await lane.stop(lane.kill === 'sigterm' ? 'SIGTERM' : 'SIGKILL');
    await opened;
    if (lane.kill === 'deploy') lane.changeBuild();
    await lane.start();
  }

  await poll(async () => (await cell.call('GET', '')).status === 200, Date.now() + terminalMs);
  expect(await cell.events(), 'nothing of the log has changed').toEqual(before);
  await cell.say('next', [{ calls: [cell.post('b')] }, { text: 'Done again.' }]);
  await cell.ended({ alone: false });
  expect([cell.effects('a'), cell.effects('b')]).toEqual([1, 1]);
  await checkInvariants(cell);
  // The runtime as the other cells expect it.
  if (lane.kill === 'evict' || lane.kill === 'abort') {
    await lane.stop('SIGTERM');
    await lane.start();
  }
}

/** Removes the step that a crash build adds. */
function takeBack(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec(`ALTER TABLE meta DROP COLUMN ${addedColumn}`);
    database.exec('UPDATE schema SET version = 1');
  } finally {
    database.close();
  }
}

function databaseOf(stateDir: string, session: string): string {
  const found = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith(`${session}.sqlite`));
  expect(found, 'the file of the session').toHaveLength(1);
  return join(stateDir, found[0] ?? '');
}

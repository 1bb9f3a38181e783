/**
 * Restores one session of an archive into a workspace that is in use: one whose database was lost. The lines are those of the session, with the
 * line before them, whose hash theirs continue; the signature of each says that this installation wrote it.
 */
import { damaged, readArchivePart, readLine } from '../../core/backup/archive.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { restoreInProgress } from '../../objects/shared/object-client.ts';
import type { RestoreState } from '../../ports/backup.ts';
import { activateSession, backupObject, catalogBackup } from './backup-objects.ts';
import { forged, isOurs, readRestoreState } from './restore-archive.ts';
import type { ArchiveDeps } from './write-archive.ts';

/** `nextPart` of the state is the line to continue with; with the last line of the session it is available, and the state is `none`. */
export async function restoreSessionLines(deps: ArchiveDeps, keyId: string, id: string, lines: readonly string[]): Promise<RestoreState> {
  const { bindings, workspace } = deps;
  if ((await readRestoreState(deps)).state !== 'none') throw new Problem('unavailable', restoreInProgress);
  let previous = headOf(lines[0] ?? '');
  if (previous === null || lines.length < 2)
    throw invalidRequest([{ path: '', message: 'must have the line before the session, and lines of the session' }]);
  const session = backupObject(bindings, { workspace, object: { kind: 'session', id } });
  let isLast = false;
  for (const text of lines.slice(1)) {
    const line = readLine(text, previous);
    if (!(await isOurs(deps, line))) throw forged(line.number);
    const part = readArchivePart(line);
    if (part.kind !== 'object' || part.object.kind !== 'session' || part.object.id !== id || isLast)
      throw damaged(line.number, `it is not of the session ${id}`);
    const { object: _object, kind: _kind, ...rows } = part;
    if (rows.first) await session.restoreStep({ step: 'mark' });
    await session.restoreStep({ step: 'part', ...rows });
    previous = line;
    isLast = rows.last;
  }
  if (!isLast) return { state: 'restoring', nextPart: previous.number + 1, sessionsLeft: 0, skipped: [] };
  await catalogBackup(bindings, workspace).noteBackup(keyId, id);
  // Its revision may be newer than that of the archive, whose updates would be ignored.
  await catalogBackup(bindings, workspace).dropSession(id);
  await activateSession(bindings, workspace, id, true);
  return { state: 'none', nextPart: 0, sessionsLeft: 0, skipped: [] };
}

/** Of a line whose part is not read: the hashes of the lines after it prove its hash. */
function headOf(text: string): { number: number; hash: string } | null {
  const [, number, hash] = /^\{"number":(\d{1,9}),"hash":"([0-9a-f]{64})",/.exec(text) ?? [];
  return number === undefined || hash === undefined ? null : { number: Number(number), hash };
}

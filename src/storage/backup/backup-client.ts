/** The port of backups over the Durable Objects. */
import type { BackupPort } from '../../ports/backup.ts';
import { abandonRestore, readRestoreState, type RestoreDeps, restoreLines } from './restore-archive.ts';
import { writeArchivePage } from './write-archive.ts';

export function createBackups(deps: RestoreDeps, keyId: string): BackupPort {
  return {
    page: (cursor) => writeArchivePage(deps, keyId, cursor),
    restoreState: () => readRestoreState(deps),
    restore: (lines, options) => restoreLines(deps, lines, options),
    abandon: () => abandonRestore(deps),
  };
}

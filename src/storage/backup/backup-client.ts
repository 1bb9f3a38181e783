/** The port of backups over the Durable Objects. What it does is imported when it is used, which is rare. */
import type { BackupPort } from '../../ports/backup.ts';
import type { ArchiveDeps } from './write-archive.ts';

export function createBackups(deps: ArchiveDeps, keyId: string): BackupPort {
  return {
    page: async (cursor) => await (await import('./write-archive.ts')).writeArchivePage(deps, keyId, cursor),
    restoreState: async () => await (await restoring()).readRestoreState(deps),
    restore: async (lines, options) => await (await restoring()).restoreLines(deps, lines, options),
    restoreSession: async (id, lines) => await (await import('./restore-session.ts')).restoreSessionLines(deps, keyId, id, lines),
    abandon: async () => await (await restoring()).abandonRestore(deps),
  };
}

const restoring = () => import('./restore-archive.ts');

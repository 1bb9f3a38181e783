/** The backup of a workspace and its restore, as routes use them (`storage/backup/`). */
import * as z from 'zod';
import type { LeftOut } from '../core/backup/archive.ts';

export const RestoreState = z
  .object({
    state: z.enum(['none', 'clearing', 'restoring', 'finishing']).meta({
      description:
        '`none`: no restore is in progress. `clearing`: sessions of the workspace are being deleted; send the same lines again. `restoring`: send the archive from line `nextPart`. `finishing`: the workspace is usable, and its sessions become available one after the other.',
    }),
    nextPart: z.int().meta({ description: 'The number of the next part, from 0, which is expected first in the next request.' }),
    sessionsLeft: z.int().meta({ description: 'While clearing or finishing: sessions that are not done.' }),
    skipped: z
      .array(z.object({ kind: z.string(), name: z.string(), reason: z.string() }))
      .meta({ description: 'What was not restored, in the response to the last part.' }),
  })
  .meta({ id: 'RestoreState', example: { state: 'restoring', nextPart: 12, sessionsLeft: 0, skipped: [] } });
export type RestoreState = z.infer<typeof RestoreState>;

/** Some lines of an archive. `next`: the cursor of the rest; null at the end. `leftOut`: objects that cannot be read, in this page or before. */
export type ArchivePage = { lines: Uint8Array[]; next: string | null; leftOut: readonly LeftOut[] };

export interface BackupPort {
  /** The first page is recorded in the audit. */
  page(cursor: string | undefined): Promise<ArchivePage>;
  restoreState(): Promise<RestoreState>;
  /** Applies lines of an archive that follow those of earlier calls; lines that were applied before are skipped. */
  restore(lines: readonly string[], options: { replace: boolean; allowCommands: boolean }): Promise<RestoreState>;
  /**
   * Restores one session that does not exist, from its lines and the one before them. Further calls continue with the last line of the call before
   * and those that follow it.
   */
  restoreSession(id: string, lines: readonly string[]): Promise<RestoreState>;
  /** Deletes what a restore has written. */
  abandon(): Promise<RestoreState>;
}

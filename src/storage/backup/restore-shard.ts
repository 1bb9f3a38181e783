/** The steps of a restore that audit shards, usage shards and the Catalog share. */
import type { RestoreStep } from './backup-objects.ts';
import { resetReason } from '../../objects/shared/object-client.ts';
import type { ObjectBackup } from './object-backup.ts';

/** `end`: checks the rows and ends the restore; the tables have the newest schema. */
export async function restoreShard(ctx: DurableObjectState, backup: ObjectBackup, request: RestoreStep, end: () => void): Promise<void> {
  switch (request.step) {
    case 'mark':
      await ctx.storage.deleteAlarm();
      return backup.mark();
    case 'begin':
      return backup.begin(request.schema);
    case 'part':
      if (request.first) backup.begin(request.schema);
      return backup.write(request.tables);
    case 'end':
      // Repeated after a lost response.
      if (!backup.isRestoring) return;
      backup.migrate();
      return end();
    case 'abandon':
      if (backup.isRestoring) backup.abandon();
      return;
    case 'reset':
      await ctx.storage.sync();
      return ctx.abort(resetReason);
    case 'activate':
      return;
    default:
      return request satisfies never;
  }
}

/**
 * What the launcher (`local/launch/`) sees of its machine and tells the Worker, which cannot see it: the disk of the data folder, the open
 * files of the runtime, and that the service is to stop. A deployed Worker has no launcher and gets no report.
 */
import * as z from 'zod';

/** Why nothing can be stored. `full`: less room is left than the reserve. `failing`: the runtime could not write a moment ago. */
const StorageFault = z.enum(['full', 'read-only', 'failing']);
export type StorageFault = z.infer<typeof StorageFault>;

/** `draining`: work in progress ends, and nothing new begins. `ending`: what is still open ends now. */
const Stopping = z.enum(['no', 'draining', 'ending']);

export const HostReport = z.strictObject({
  disk: z.strictObject({
    freeBytes: z.number().min(0).nullable().meta({ description: 'Room on the disk of the data folder; null: not known.' }),
    totalBytes: z.number().min(0).nullable(),
    fault: StorageFault.nullable().meta({ description: 'Why nothing can be stored; null: everything can.' }),
  }),
  files: z
    .strictObject({ open: z.int().min(0), limit: z.number().min(0) })
    .nullable()
    .meta({ description: 'Open files of the runtime, and how many it may have; null: not known.' }),
  stopping: Stopping,
});
export type HostReport = z.infer<typeof HostReport>;

/** The path of the bridge (`servers/stdio.ts`) at which the Worker asks for a new report, with the token of the launcher. */
export const hostReportPath = '/host';

/** At this part of the limit, no new work begins: at the limit itself the runtime ends. */
export const maxOpenFilesShare = 0.9;

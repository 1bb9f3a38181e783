/** The rotation of the master key, which the Catalog of the first workspace coordinates. */
import * as z from 'zod';

/** `step`: what kind of value; `after`: the last one that was looked at. */
export type ResealPosition = { step: number; after: string };

/** A value that neither the current nor the previous master key opens. */
export type UnreadableValue = { kind: string; name: string };

/** What one step did. `next`: null at the end. `left`: values that the current key did not seal. `publishing`: writes to KV that are due. */
export type ResealStep = { next: ResealPosition | null; done: number; left: number; publishing: number; unreadable: UnreadableValue[] };

const fingerprint = z.string().meta({ description: 'Identifies a key and reveals nothing about it.', example: '1f0c9ab2' });
const values = z.int().meta({ description: 'A number of values.' });

export const WorkspaceReseal = z
  .object({
    workspace: z.string(),
    done: values,
    left: values.nullable().meta({ description: 'Values that the current key has not sealed. null: not counted yet.' }),
    isDone: z.boolean(),
    fault: z.string().nullable().meta({ description: 'Why the newest attempt failed. It is retried.' }),
    unreadable: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .meta({ description: 'Values that neither key opens, at most 20. PUT them again.' }),
  })
  .meta({ id: 'WorkspaceReseal' });
export type WorkspaceReseal = z.infer<typeof WorkspaceReseal>;

/** Keys are shown as fingerprints. `retired`: oldest first. */
export const MasterKeyState = z
  .object({
    current: fingerprint,
    previous: fingerprint.nullable(),
    retired: z
      .array(fingerprint)
      .meta({ description: 'Earlier keys, under which API keys may have been created. They open and sign nothing.' }),
    reseal: z.object({
      status: z.enum(['none', 'running', 'done', 'failed']).meta({
        description: '`failed`: there are unreadable values, or a workspace fails repeatedly, which is still retried.',
      }),
      startedAt: z.iso.datetime().nullable(),
      finishedAt: z.iso.datetime().nullable(),
      removableAt: z.iso.datetime().nullable().meta({
        description: 'From then on MONIKER_MASTER_KEY_PREVIOUS can be removed from the settings. null: not yet.',
      }),
      done: values,
      left: values,
      workspaces: z.array(WorkspaceReseal).meta({ description: 'At most 100; those that are not done come first.' }),
    }),
  })
  .meta({ id: 'MasterKeyState' });
export type MasterKeyState = z.infer<typeof MasterKeyState>;

export interface MasterKeyPort {
  masterKeyState(): Promise<MasterKeyState>;
  /** Starts in the background, or again from the beginning. Throws `conflict` without a previous key. */
  startReseal(): Promise<MasterKeyState>;
  /** Seals some values of this Catalog's workspace again. May be repeated. */
  resealSome(position: ResealPosition): Promise<ResealStep>;
}

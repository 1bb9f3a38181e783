/** `/v1/master-key`: the fingerprints of the master key, and sealing everything again after it was changed. Only for the root key. */
import { z } from 'zod';
import { defineRoute } from '../../route.ts';

const fingerprint = z.string().meta({ description: 'Identifies a key and reveals nothing about it.', example: '1f0c9ab2' });
const values = z.int().meta({ description: 'A number of values.' });

const WorkspaceReseal = z
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

const MasterKeyState = z
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

const common = { tag: 'Keys', scopes: ['admin'], rootOnly: true } as const;

export const masterKeyRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/master-key',
      operationId: 'getMasterKey',
      summary: 'Read the state of the master key',
      answers: { 200: { description: 'Fingerprints, and the progress of the newest rotation.', schema: MasterKeyState } },
    },
    async ({ answer, services, principal }) => answer(200, await services.masterKey(principal).masterKeyState()),
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/master-key/reseal',
      operationId: 'resealWithMasterKey',
      summary: 'Seal everything with the current master key',
      description:
        'After MONIKER_MASTER_KEY was changed and MONIKER_MASTER_KEY_PREVIOUS set to the key before it: seals all secrets, provider keys, tokens and signing secrets of all workspaces again, and signs the audit again, in the background. It survives restarts, and calls are served meanwhile. Repeating it starts from the beginning. API keys stay valid.',
      answers: { 202: { description: 'Started. `GET /v1/master-key` shows the progress.', schema: MasterKeyState } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal }) => answer(202, await services.masterKey(principal).startReseal()),
  ),
];

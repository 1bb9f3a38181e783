/** `/v1/master-key`: the fingerprints of the master key, and sealing everything again after it was changed. Only for the root key. */
import { MasterKeyState } from '../../../ports/master-key.ts';
import { defineRoute } from '../../route.ts';

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

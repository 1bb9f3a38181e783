/** `/v1/host`: where the launcher (`local/launch/host-watch.ts`) reports what it sees of its machine, and that the service is to stop. */
import * as z from 'zod';
import { HostReport } from '../../../core/host-report.ts';
import { Problem } from '../../../core/problem.ts';
import { isFromLauncher } from '../../launcher-proof.ts';
import { defineRoute } from '../../route.ts';

export const hostRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/host',
      operationId: 'reportHost',
      tag: 'Service',
      scopes: ['admin'],
      rootOnly: true,
      storesNothing: true,
      summary: 'Report the machine of the service',
      description:
        'Sent by the launcher of `npm start` and `moniker start`, with its token in `x-moniker-launcher`: room on the disk, open files, and whether the service stops. Returns how much is in progress that a stop waits for.',
      body: { schema: HostReport },
      answers: { 200: { description: 'The report was taken.', schema: z.object({ busy: z.int() }) } },
    },
    ({ c, services, body, answer }) => {
      if (!isFromLauncher(c, services.settings))
        throw new Problem('forbidden', 'Only the launcher of this service reports its machine, with the token that it made at the start.');
      services.host.report(body);
      return answer(200, { busy: services.host.busy() });
    },
  ),
];

/** `/v1/programs`: the processes of commands; and for the launcher (`local/stdio/program-check.ts`), which runs them, those that are to end. */
import * as z from 'zod';
import { Problem } from '../../../core/problem.ts';
import { ServerName } from '../../../core/servers/server.ts';
import { noLauncher, ServerProcess } from '../../../core/servers/stdio.ts';
import { WorkspaceName } from '../../../core/people/workspace.ts';
import { defineRoute } from '../../route.ts';

/** More than the launcher runs. */
const maxPrograms = 500;
const Key = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'Identifies what runs, with its secrets; made with the launcher’s token.' });

export const programRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/programs',
      operationId: 'listPrograms',
      workspace: 'Servers',
      tag: 'Servers',
      scopes: ['admin'],
      summary: 'List the processes of commands',
      description: 'The processes that the launcher runs for the servers of the workspace with a `command`. A deployed Worker has none.',
      answers: { 200: { description: 'The processes.', schema: z.object({ items: z.array(ServerProcess) }) } },
      problems: ['unavailable'],
    },
    async ({ services, principal, answer }) => answer(200, { items: await services.servers(principal.workspace).processes() }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/v1/programs/check',
      storesNothing: true,
      operationId: 'checkPrograms',
      tag: 'Servers',
      scopes: ['admin'],
      rootOnly: true,
      summary: 'Find programs that are to end',
      description:
        'Sent by the launcher of `npm start` and `moniker start`, which runs the commands of servers and ends the programs in `unwanted`: those of servers, secrets and workspaces that were changed or deleted.',
      body: {
        schema: z.strictObject({
          programs: z.array(z.strictObject({ workspace: WorkspaceName, server: ServerName, key: Key })).max(maxPrograms),
        }),
      },
      answers: { 200: { description: 'The keys of the programs that are to end.', schema: z.object({ unwanted: z.array(Key) }) } },
      problems: ['not_configured', 'unavailable'],
    },
    async ({ services, body, answer }) => {
      if (services.settings.launcher === null) throw new Problem('not_configured', noLauncher);
      return answer(200, { unwanted: await services.unwantedPrograms(body.programs) });
    },
  ),
];

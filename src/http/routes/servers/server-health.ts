/** `/v1/servers/{server}/refresh` and `…/test`: refreshes the tool list of a server, and tests a server that need not be stored. */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { Problem, parseInput } from '../../../core/problem.ts';
import { Server } from '../../../core/servers/server.ts';
import { ListingReport } from '../../../core/servers/server-tool.ts';
import { ServerTest } from '../../../core/servers/server-state.ts';
import { commandPermission } from '../../launcher-proof.ts';
import { requireSameName } from '../../conditions.ts';
import { defineRoute } from '../../route.ts';
import { serverParams } from './servers.ts';

const common = { tag: 'Servers', scopes: ['admin'], workspace: 'Servers', params: serverParams } as const;

export const serverHealthRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/refresh',
      operationId: 'refreshServer',
      summary: 'Refresh the tool list of a server',
      description:
        'Changed and new tools are held. If the server cannot be read, its definitions stay unchanged. Returns `rate_limited` with a retry time if a refresh is in progress.',
      answers: { 200: { description: 'The changes in the listing.', schema: ListingReport } },
      problems: ['conflict', 'rate_limited', 'upstream_error', 'upstream_timeout', 'not_configured'],
    },
    async ({ answer, services, principal, params }) => {
      const report = await services.servers(principal.workspace).refresh(params.server, 'asked');
      if (report === null)
        throw new Problem('rate_limited', 'A refresh of this server is already in progress.', { retryAfterMs: limits.refreshClaimMs });
      return answer(200, report);
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/test',
      operationId: 'testServer',
      summary: 'Test a server',
      description:
        'Connects, lists and stores nothing. With a body, tests that document as a new server, using the stored server’s tokens if URL and `oauth` are the same; without a body, tests the stored server. The response reports what is wrong.',
      body: { schema: z.record(z.string(), z.unknown()), documented: Server, maxBytes: limits.maxLargeBodyBytes, isOptional: true },
      answers: { 200: { description: 'The test result.', schema: ServerTest } },
    },
    async ({ c, answer, services, principal, params, body }) => {
      const { test } = services.servers(principal.workspace);
      if (Object.keys(body).length === 0) return answer(200, await test(params.server));
      const given = parseInput(Server, body);
      requireSameName(params.server, given);
      const permission = commandPermission(c, services.settings);
      return answer(200, await test(params.server, await services.catalog(principal).completeServer(params.server, given, permission)));
    },
  ),
];

/** `/v1/servers/{server}/refresh` and `…/test`: reading what a server lists now, and trying one that may not be stored yet. */
import { z } from 'zod';
import { parseDocument } from '../../core/issues.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { ListingReport, Server } from '../../core/servers/server.ts';
import { ServerTest } from '../../core/servers/server-test.ts';
import { requireSameName } from '../documents.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { serverParams } from './servers.ts';

const common = { tag: 'Servers', scopes: ['admin'], workspace: 'Servers', params: serverParams } as const;

export function mountServerHealth(app: App): void {
  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/refresh',
      operationId: 'refreshServer',
      summary: 'Read the definitions of a server again',
      description:
        'Tools that changed or are new are held. Where the server cannot be read, its definitions stay as they were. One that is being read just now is `rate_limited`, with the time to wait.',
      answers: { 200: { description: 'What the listing brought.', schema: ListingReport } },
      problems: ['conflict', 'rate_limited', 'upstream_error', 'upstream_timeout', 'not_configured'],
    },
    async ({ c, services, principal, params }) => {
      const report = await services.servers(principal.workspace).refresh(params.server, 'asked');
      if (report === null) throw new Problem('rate_limited', 'The server is being read just now.', { retryAfterMs: limits.refreshLeaseMs });
      return c.json(report);
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/test',
      operationId: 'testServer',
      summary: 'Try a server',
      description:
        'Connects and lists, and stores nothing. With a body that document is tried, as a new server, with the tokens of the stored one where address and `oauth` are the same; without one, the server that is stored. What is wrong with it is in the answer.',
      body: { schema: z.record(z.string(), z.unknown()), documented: Server, maxBytes: limits.maxLargeBodyBytes, isOptional: true },
      answers: { 200: { description: 'How it went.', schema: ServerTest } },
    },
    async ({ c, services, principal, params, body }) => {
      const document = Object.keys(body).length === 0 ? undefined : parseDocument(Server, body);
      if (document !== undefined) requireSameName(params.server, document);
      return c.json(await services.servers(principal.workspace).test(params.server, document));
    },
  );
}

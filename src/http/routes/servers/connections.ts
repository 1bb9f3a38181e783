/**
 * `/v1/me/connections`: the accounts that a user, or the holder of a key, has connected at servers with `oauth.per: "user"`; and
 * `/v1/servers/{server}/connections`: who has, for administrators. Tokens are shown nowhere.
 */
import * as z from 'zod';
import { AuthorizationStatus } from '../../../core/servers/server-state.ts';
import { ServerName } from '../../../core/servers/server.ts';
import { connectPageUrl } from '../../../core/servers/user-connection.ts';
import { publicBase } from '../../../core/people/settings.ts';
import { requireUserServer, startInBrowser, startOnPage, userServers } from './connect-sign-in.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import { isFromOwnPage } from '../../sign-in/browser-session.ts';
import { serverParams } from './servers.ts';

const OwnConnection = AuthorizationStatus.extend({
  server: ServerName,
  url: z.url().nullable().meta({ description: 'The page on which the user connects; null without MONIKER_PUBLIC_URL.' }),
}).meta({
  id: 'OwnConnection',
  example: { server: 'github', status: 'signed-out', url: 'https://moniker.example.com/connect/github' },
});
const ConnectionStart = z
  .object({
    authorizationUrl: z.url().meta({
      description:
        'For the browser of the user. A page of this service gets the URL of the authorization server, and a cookie without which the sign-in cannot be finished; every other caller gets the page /connect/{server}, where the user starts.',
    }),
    expiresAt: z.iso.datetime().nullable().meta({ description: 'The user must complete the sign-in by then; null: not started yet.' }),
  })
  .meta({ id: 'ConnectionStart', example: { authorizationUrl: 'https://moniker.example.com/connect/github', expiresAt: null } });
const ServerConnectionOf = z
  .object({
    key: z.string().meta({ description: 'Id of the key, or `user-…` of a person.' }),
    name: z.string().optional().meta({ description: 'Name of the key.' }),
    connectedAt: z.iso.datetime(),
  })
  .meta({ id: 'UserConnection' });

const own = { tag: 'Connections', scopes: ['chat', 'tools'] } as const;
const ofServer = { tag: 'Connections', scopes: ['admin'], workspace: 'Servers' } as const;

export const connectionRoutes = [
  defineRoute(
    {
      ...own,
      method: 'get',
      path: '/v1/me/connections',
      operationId: 'listMyConnections',
      summary: 'List the servers that require an account of yours',
      description: 'The servers with `oauth.per: "user"` that this key has tools of, with the state of your connection to each.',
      answers: { 200: { description: 'All of them.', schema: z.object({ items: z.array(OwnConnection) }) } },
    },
    async ({ answer, services, principal }) => {
      const { workspace, keyId } = principal;
      const base = publicBase(services.settings.publicUrl);
      const items = await Promise.all(
        (await userServers(services, principal)).map(async (server) => {
          const status = await services.signIns.status(workspace, server, keyId);
          const url = base === null ? null : connectPageUrl(base, workspace, server);
          return { server, url, ...(status ?? { status: 'signed-out' as const }) };
        }),
      );
      return answer(200, { items });
    },
  ),

  defineRoute(
    {
      ...own,
      method: 'post',
      path: '/v1/me/connections/{server}',
      operationId: 'connectServer',
      summary: 'Start connecting an account of yours to a server',
      description: 'For a server with `oauth.per: "user"`. An existing connection remains until the new one is complete.',
      params: serverParams,
      answers: {
        200: { description: 'The URL to open.', schema: ConnectionStart, headers: { 'set-cookie': 'Only for a page of this service.' } },
      },
      problems: ['conflict', 'upstream_error', 'upstream_timeout'],
    },
    async ({ c, answer, services, principal, params: { server } }) => {
      // At another address of this service, the browser would not send the cookie to /oauth/callback.
      const home = publicBase(services.settings.publicUrl);
      const isAtHome = home !== null && c.req.header('origin') === new URL(home).origin;
      if (!isAtHome || !isFromOwnPage(c, false))
        return answer(200, { ...(await startOnPage(services, principal, server)), expiresAt: null });
      const headers = new Headers();
      const { authorizationUrl, expiresAt } = await startInBrowser({ c, services, principal }, server, headers);
      const body = { authorizationUrl, expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() };
      return answer(200, body, { 'set-cookie': headers.get('set-cookie') ?? '' });
    },
  ),

  defineRoute(
    {
      ...own,
      method: 'delete',
      path: '/v1/me/connections/{server}',
      operationId: 'disconnectServer',
      summary: 'End your connection to a server',
      description:
        'Its tokens are deleted here, and revoked at their issuer if possible (RFC 7009). Other isolates stop sending them within a minute.',
      params: serverParams,
      answers: { 204: { description: 'Gone.' } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params: { server } }) => {
      await requireUserServer(services, principal, server);
      await services.signIns.forget(principal.workspace, server, { owner: principal.keyId });
      return answer(204, null);
    },
  ),

  defineRoute(
    {
      ...ofServer,
      method: 'get',
      path: '/v1/servers/{server}/connections',
      operationId: 'listServerConnections',
      summary: 'List who has connected to a server',
      description: 'The users and keys with an account at this server, which has `oauth.per: "user"`. Sorted by key.',
      params: serverParams,
      query: PageQuery,
      answers: { 200: { description: 'A page of them.', schema: pageOf(ServerConnectionOf) } },
    },
    async ({ answer, services, principal, params, query }) => {
      const { items, nextCursor } = await services.catalog(principal.workspace).connections(params.server, query);
      return answer(200, { items: items.map(({ keyId, ...rest }) => ({ key: keyId, ...rest })), nextCursor });
    },
  ),

  defineRoute(
    {
      ...ofServer,
      method: 'delete',
      path: '/v1/servers/{server}/connections/{key}',
      operationId: 'removeServerConnection',
      summary: 'End a connection of a user to a server',
      description: 'As the user can with DELETE /v1/me/connections/{server}.',
      params: serverParams.extend({
        key: z
          .string()
          .regex(/^[A-Za-z0-9-]{1,80}$/)
          .meta({ description: 'Id of the key or user.', example: 'user-ada' }),
      }),
      answers: { 204: { description: 'Gone.' } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params: { server, key } }) => {
      await services.signIns.forget(principal.workspace, server, { owner: key, keyId: principal.keyId });
      return answer(204, null);
    },
  ),
];

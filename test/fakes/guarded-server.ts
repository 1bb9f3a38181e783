/** An MCP server that requires OAuth, and its authorization server, on loopback. */
import { createAuthorizationServer, type AuthorizationServerOptions, type FakeAuthorizationServer } from './authorization-server.ts';
import { listenMcpServer, type FakeMcpServer } from './mcp-server.ts';
import { listenUpstream, type ListeningUpstream } from './upstreams/upstream.ts';

export type GuardedServer = { issuer: FakeAuthorizationServer; server: FakeMcpServer; close(): Promise<void> };

/** An MCP server that accepts only tokens of its authorization server; each listens on a separate port. */
export async function listenGuarded(options: Partial<AuthorizationServerOptions> = {}): Promise<GuardedServer> {
  let issuer: FakeAuthorizationServer | null = null;
  const answer = async (request: Request, origin: string): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    return (await issuer?.answer(new Request(`${origin}${pathname}${search}`, request))) ?? new Response('no', { status: 404 });
  };
  const login: ListeningUpstream = await listenUpstream({ handle: (request) => answer(request, login.url) });
  const metadata: ListeningUpstream = await listenUpstream({ handle: (request) => answer(request, new URL(server.url).origin) });
  const server = await listenMcpServer({
    tools: [{ name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } }],
    gate(request) {
      const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? null;
      if (issuer?.takes(token) === true) return null;
      const challenge = `Bearer resource_metadata="${metadata.url}/.well-known/oauth-protected-resource/mcp", scope="tools"`;
      return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
    },
  });
  issuer = createAuthorizationServer({ issuer: login.url, resource: server.url, ...options });
  // Its metadata is at a path derived from the server's path.
  const own = issuer.answer;
  const { pathname } = new URL(server.url);
  issuer.answer = (request) => own(new Request(request.url.replace(/(oauth-protected-resource).*$/, `$1${pathname}`), request));
  return {
    issuer,
    server,
    async close() {
      login.close();
      metadata.close();
      await server.close();
    },
  };
}

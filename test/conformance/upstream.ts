/**
 * An MCP server with the fixtures of the official conformance suite, on loopback, in both eras: the suite runs against it directly (to
 * verify it) and against Moniker with it as upstream (to test the gateway).
 */
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { registerPrompts, registerResources } from './fixture-offers.ts';
import { registerTools } from './fixture-tools.ts';
import { createSessionEndpoint } from './session-endpoint.ts';

export type FixtureUpstream = {
  /** The URL of its endpoint. */
  url: string;
  close(): Promise<void>;
};

/** `eras`: what it supports; a server of one era rejects the other. `asksOpenly`: of its tools that ask for input. */
export async function startFixtureUpstream(eras: 'both' | 'legacy' | 'modern' = 'both', asksOpenly = false): Promise<FixtureUpstream> {
  const make = (): McpServer => makeFixtureServer(asksOpenly);
  const modern = createMcpHandler(make, { legacy: 'reject', keepAliveMs: 0 });
  const sessions = createSessionEndpoint(make);
  const { url, close } = await listenUpstream({
    async handle(request) {
      const refused =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ?? originValidationResponse(request, localhostAllowedOrigins());
      if (refused !== undefined) return refused;
      const isLegacy = eras === 'legacy' || (eras === 'both' && (await isLegacyRequest(request)));
      return isLegacy ? sessions.handle(request) : modern.fetch(request);
    },
  });
  return {
    url: `${url}/mcp`,
    close: async () => {
      await Promise.all([modern.close(), sessions.forget()]);
      close();
    },
  };
}

function makeFixtureServer(asksOpenly: boolean): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixtures', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true }, completions: {} } },
  );
  registerTools(server, asksOpenly);
  registerResources(server);
  registerPrompts(server);
  return server;
}

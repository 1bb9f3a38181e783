/** What tests of resources and prompts do with a service: servers that count what reaches them, toolsets, keys and policies. */
import { afterAll, expect } from 'vitest';
import { listenMcpServer, type FakeMcpServer, type McpServerParts } from '../fakes/mcp-server.ts';
import type { SharedService } from './shared-service.ts';

export const offered: McpServerParts = {
  tools: [{ name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  prompts: [{ name: 'review', arguments: [{ name: 'file', required: false }] }],
  resources: [
    { uri: 'file:///readme', name: 'readme' },
    { uri: 'file:///secret/keys', name: 'keys' },
  ],
  resourceTemplates: [{ uriTemplate: 'db://{table}/rows', name: 'rows' }],
};

/** The requests for resources and prompts that reached the server. */
export function heardBy({ heard }: FakeMcpServer): string[] {
  return heard.map(({ method }) => method).filter((method) => /^(resources\/(read|subscribe)|prompts\/get|completion)/.test(method));
}

type Row = { canonical: string; requested: string; verdict: string; code: string | null; toolset: string };

/** Call it where hooks can be registered: a hook ends the servers. */
export function offerSteps(service: SharedService) {
  const servers: FakeMcpServer[] = [];
  afterAll(() => {
    for (const server of servers) server.close();
  });
  const put = async (path: string, document: object): Promise<void> => {
    const { status, text } = await service.call('PUT', path, document);
    expect([200, 201], text).toContain(status);
  };
  return {
    /** Adds a server with these offers, under this name. */
    async addServer(name: string, document: object = {}, parts: McpServerParts = offered): Promise<FakeMcpServer> {
      const server = await listenMcpServer(parts);
      servers.push(server);
      await put(`/v1/servers/${name}`, { kind: 'mcp', url: server.url, ...document });
      return server;
    },
    addToolset: (name: string, document: object) => put(`/v1/toolsets/${name}`, document),
    /** A key that may only use this toolset. */
    async keyFor(toolset: string, scopes = ['tools']): Promise<string> {
      const { json, text } = await service.call('POST', '/v1/keys', { name: toolset, scopes, toolsets: [toolset] });
      expect(json.key, text).toBeTypeOf('string');
      return json.key as string;
    },
    async withPolicy(rules: object[], work: () => Promise<void>): Promise<void> {
      await put('/v1/policy', { rules });
      try {
        await work();
      } finally {
        await service.call('DELETE', '/v1/policy');
      }
    },
    async auditOf(tool: string): Promise<Row[]> {
      return (await service.call('GET', `/v1/audit?tool=${encodeURIComponent(tool)}`)).json.items as Row[];
    },
  };
}

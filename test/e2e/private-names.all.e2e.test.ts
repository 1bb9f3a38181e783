import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canNameHosts, makeDataDir, removeDataDir, startService, type RunningService, withHosts } from './service.ts';
import { isSkipped } from '../selection.ts';

/** A loopback address that no other test uses; the guard allows only a few ports. */
const byte = (): number => 1 + Math.floor(Math.random() * 250);
const address = `127.${byte()}.${byte()}.${byte()}`;

/** Public names that resolve to this machine or its network, as an attacker's name server can return. */
const names: Record<string, readonly string[]> = {
  'loopback.attacker.example': [address],
  'mapped.attacker.example': [`::ffff:${address}`],
  'both.attacker.example': ['192.0.2.1', address],
  'six.attacker.example': ['::1'],
  'any.attacker.example': ['0.0.0.0'],
  'any6.attacker.example': ['::'],
  'ten.attacker.example': ['10.0.0.1'],
  'metadata.attacker.example': ['169.254.169.254'],
  'carrier.attacker.example': ['100.64.0.1'],
  'unique-local.attacker.example': ['fd00::1'],
  'translated.attacker.example': ['64:ff9b::7f00:1'],
  'allowed.partner.example': [address],
};

describe.skipIf(isSkipped(!canNameHosts, 'public names with private addresses', 'unshare -m needs root'))(
  'public names that resolve to private addresses, self-hosted',
  () => {
    const dataDir = makeDataDir();
    const reached: string[] = [];
    let upstream: Server;
    let service: RunningService;

    beforeAll(async () => {
      upstream = createServer((request, response) => {
        reached.push(`${request.headers.host}${request.url}`);
        const target = /^\/to\/(.+)$/.exec(request.url ?? '')?.[1];
        if (target !== undefined) response.writeHead(302, { location: decodeURIComponent(target) });
        response.end('internal page');
      });
      await new Promise<void>((resolve) => upstream.listen(80, address, resolve));
      const lines = Object.entries(names).flatMap(([name, addresses]) => addresses.map((to) => `${to} ${name}`));
      writeFileSync(join(dataDir, 'hosts'), ['127.0.0.1 localhost', ...lines, ''].join('\n'));
      const allowed = `${address}:80,servers:allowed.partner.example:80`;
      service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: allowed }, withHosts(join(dataDir, 'hosts')));
      await service.call('PUT', '/v1/toolsets/web', { tools: [{ tool: 'builtin.http_request', name: 'get', approval: 'never' }] });
    });

    afterAll(async () => {
      await service.stop();
      upstream.close();
      removeDataDir(dataDir);
    });

    const request = (url: string) => service.call('POST', '/v1/toolsets/web/calls', { name: 'get', arguments: { url } });

    it.each(Object.keys(names))('a tool does not reach %s', async (name) => {
      reached.length = 0;
      const { json } = await request(`http://${name}/`);
      expect(reached).toEqual([]);
      expect(json).toMatchObject({ isError: true });
      expect(json.content[0].text).toContain(`MONIKER_ALLOW_PRIVATE_HOSTS=${name}:80`);
      expect(json.content[0].text).toContain('private');
    });

    it('a redirect from an allowed host does not reach one either', async () => {
      expect((await request(`http://${address}/`)).json).toMatchObject({ isError: false });
      reached.length = 0;
      const { json } = await request(`http://${address}/to/${encodeURIComponent('http://loopback.attacker.example/admin')}`);
      // The call is repeated once, as safe calls whose connection broke.
      expect(reached).toEqual([expect.stringMatching(/\/to\//), expect.stringMatching(/\/to\//)]);
      expect(json).toMatchObject({ isError: true });
    });

    it('a provider and a server do not reach one either', async () => {
      reached.length = 0;
      const provider = { kind: 'openai-compatible', baseUrl: 'http://loopback.attacker.example/v1', models: ['m'] };
      await service.call('PUT', '/v1/providers/inner', provider);
      const body = { model: 'inner/m', messages: [{ role: 'user', content: 'hi' }] };
      const chat = await service.call('POST', '/v1/chat/completions', body);
      expect(chat.status).toBe(502);
      expect(chat.text).toContain('MONIKER_ALLOW_PRIVATE_HOSTS=providers:loopback.attacker.example:80');
      await service.call('PUT', '/v1/servers/inner', { kind: 'mcp', url: 'http://loopback.attacker.example/mcp' });
      const refresh = await service.call('POST', '/v1/servers/inner/refresh');
      expect(refresh.text).toContain('MONIKER_ALLOW_PRIVATE_HOSTS=servers:loopback.attacker.example:80');
      expect(reached).toEqual([]);
    });

    it('a host that is allowed for servers is reached by servers only, also over an open connection', async () => {
      reached.length = 0;
      await service.call('PUT', '/v1/servers/partner', { kind: 'mcp', url: 'http://allowed.partner.example/mcp' });
      await service.call('POST', '/v1/servers/partner/refresh');
      expect(reached).toContain('allowed.partner.example/mcp');
      reached.length = 0;
      expect((await request('http://allowed.partner.example/')).json).toMatchObject({ isError: true });
      expect(reached).toEqual([]);
    });
  },
);

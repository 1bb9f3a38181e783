/** `POST /v1/import?url=`: the service reads the file from its URL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ListeningUpstream, listenUpstream } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';

const file = JSON.stringify({ mcpServers: { docs: { url: 'https://docs.example.com/mcp' } } });

describe('an import from a URL', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let host: ListeningUpstream;
  const heard: Request[] = [];
  beforeAll(async () => {
    const pages: Record<string, () => Response> = {
      '/cursor/mcp.json': () => new Response(file),
      '/page': () => new Response('<html><body>Sign in</body></html>', { headers: { 'content-type': 'text/html' } }),
      '/large': () => new Response(' '.repeat(11 * 1_024 * 1_024)),
      '/moved': () => new Response(null, { status: 302, headers: { location: '/cursor/mcp.json' } }),
      '/private': () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data' } }),
    };
    host = await listenUpstream({
      handle: async (request) => {
        heard.push(request);
        return pages[new URL(request.url).pathname]?.() ?? new Response('none', { status: 404 });
      },
    });
  });
  afterAll(() => host.close());
  const post = async (url: string, body?: unknown) =>
    await service.call('POST', `/v1/import?dryRun=true&url=${encodeURIComponent(url)}`, body);

  it('reads the file, also after a redirect, finds its format by its path, and sends no credentials', async () => {
    const direct = await post(`${host.url}/cursor/mcp.json#top`);
    expect([direct.status, direct.json.format, direct.json.created]).toEqual([200, 'cursor', ['servers.docs']]);
    expect((await post(`${host.url}/moved`)).json.created).toEqual(['servers.docs']);
    expect(heard.map(({ headers }) => headers.get('authorization'))).toEqual([null, null, null]);
  });

  it.each([
    ['/page', 422, 'is a page of HTML'],
    ['/large', 413, 'more than'],
    ['/private', 502, 'is not a public address'],
    ['/none', 502, 'returned status 404'],
  ])('does not take %s', async (path, status, detail) => {
    const refused = await post(`${host.url}${path}`);
    expect([refused.status, refused.json.detail]).toEqual([status, expect.stringContaining(detail)]);
  });

  it.each(['http://10.0.0.1/a.json', 'http://localhost/a.json', 'http://user:pass@example.com/a.json'])('does not ask %s', async (url) => {
    expect((await post(url)).json).toMatchObject({ status: 502, retryable: false });
  });

  it('refuses its own address, other schemes, and a body', async () => {
    expect((await post(`${service.url}/v1/export`)).json.code).toBe('loop_detected');
    for (const url of ['file:///etc/passwd', 'mcp.json']) expect((await post(url)).json.issues[0].path).toBe('url');
    expect((await post(`${host.url}/cursor/mcp.json`, {})).json.issues[0].path).toBe('url');
  });

  it('is for keys with the scope admin, and for the hosts that the key may reach', async () => {
    const before = heard.length;
    const code = async (key: object): Promise<string> => {
      const { key: text } = (await service.call('POST', '/v1/keys', { name: 'bound', ...key })).json;
      const headers = { authorization: `Bearer ${text}` };
      return (await service.call('POST', `/v1/import?url=${encodeURIComponent(`${host.url}/cursor/mcp.json`)}`, undefined, headers)).json
        .code;
    };
    expect([await code({ scopes: ['toolsets'] }), await code({ scopes: ['admin'], egressHosts: ['docs.example.com'] })]).toEqual([
      'forbidden',
      'forbidden',
    ]);
    expect(heard).toHaveLength(before);
  });
});

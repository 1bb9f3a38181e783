import { describe, expect, it, vi } from 'vitest';
import { refuseOwnHop, createOutbound, sendThrough } from '../../src/net/outbound.ts';
import { refuseOtherOrigins } from '../../src/engine/servers/server-fetch.ts';
import { Problem } from '../../src/core/problem.ts';
import { describeCorpus, readJson } from '../fixtures.ts';

const closed = { allowPrivateHosts: [], publicUrl: null };

/** An upstream that responds by URL and records the requests. */
function upstream(answers: Record<string, () => Response>) {
  const sent: { url: string; method: string; headers: Record<string, string>; body: string }[] = [];
  const send = async (request: Request): Promise<Response> => {
    sent.push({ url: request.url, method: request.method, headers: Object.fromEntries(request.headers), body: await request.text() });
    return (answers[request.url] ?? (() => new Response('ok')))();
  };
  return { sent, send };
}

const redirect =
  (location: string, status = 302) =>
  () =>
    new Response(null, { status, headers: { location } });

function post(url: string): Request {
  return new Request(url, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json', authorization: 'Bearer s', cookie: 'c=1', 'x-team-key': 'k', accept: '*/*' },
  });
}

describe('the outbound client', () => {
  it('sends nothing to a rejected address', async () => {
    const { sent, send } = upstream({});
    await expect(createOutbound(closed, send)(new Request('http://169.254.169.254/'), { purpose: 'provider' })).rejects.toThrow(
      /not a public address/,
    );
    expect(sent).toEqual([]);
  });

  it('returns a provider response as the same object', async () => {
    const response = new Response('data: 1\n\n', { status: 429 });
    expect(await createOutbound(closed, async () => response)(post('https://api.example/v1'), { purpose: 'provider' })).toBe(response);
  });

  it('sends method, body and headers of each purpose unchanged', async () => {
    for (const purpose of ['provider', 'tool', 'server', 'webhook'] as const) {
      const { sent, send } = upstream({});
      await createOutbound(closed, send)(post('https://a.example/x'), { purpose });
      expect(sent).toMatchObject([{ method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer s', cookie: 'c=1' } }]);
    }
  });

  it('reports each allowed address before anything is sent to it', async () => {
    const { sent, send } = upstream({
      'https://a.example/': redirect('https://b.example/'),
      'https://b.example/': redirect('http://127.0.0.1/'),
    });
    const hops: [string, number, number][] = [];
    const onHop = (to: URL, hop: number): void => void hops.push([to.href, hop, sent.length]);
    await expect(createOutbound(closed, send)(new Request('https://a.example/'), { purpose: 'tool', onHop })).rejects.toThrow('public');
    expect(hops).toEqual([
      ['https://a.example/', 0, 0],
      ['https://b.example/', 1, 1],
    ]);
    await expect(createOutbound(closed, send)(new Request('http://10.0.0.1/'), { purpose: 'tool', onHop })).rejects.toThrow('public');
    expect(hops).toHaveLength(2);
  });

  it('stops at a server’s redirect to another origin, without advice on allowing the target', async () => {
    const send = async (): Promise<Response> => new Response(null, { status: 307, headers: { location: 'http://10.0.0.1/' } });
    const sent = createOutbound(closed, send)(new Request('https://a.example/'), {
      purpose: 'server',
      onHop: refuseOtherOrigins('https://a.example/'),
    });
    await expect(sent).rejects.toThrow('https://a.example redirects to http://10.0.0.1; the redirect was not followed.');
  });

  it('chooses the network of each hop by the operator’s settings for the purpose', async () => {
    const open = { allowPrivateHosts: ['inner.lan:80', 'servers:partner.example:443', '*.corp.example:443'], publicUrl: null };
    const answers: Record<string, () => Response> = {
      'http://inner.lan/': redirect('https://a.example/'),
      'https://a.example/': redirect('https://x.corp.example/'),
      'https://x.corp.example/': redirect('https://partner.example/'),
    };
    const sent: [string, boolean][] = [];
    const send = async (request: Request, isPrivate: boolean): Promise<Response> => {
      sent.push([request.url, isPrivate]);
      return (answers[request.url] ?? (() => new Response('ok')))();
    };
    const outbound = createOutbound(open, send);
    await outbound(new Request('http://inner.lan/'), { purpose: 'tool' });
    await outbound(new Request('https://partner.example/'), { purpose: 'server' });
    expect(sent).toEqual([
      ['http://inner.lan/', true],
      ['https://a.example/', false],
      ['https://x.corp.example/', true],
      ['https://partner.example/', false],
      ['https://partner.example/', true],
    ]);
  });

  it('sends through bound network services, otherwise through fetch', async () => {
    const network = (name: string) => ({ fetch: async () => new Response(name) });
    const request = new Request('https://a.example/');
    const bound = sendThrough({ PUBLIC_NETWORK: network('public'), PRIVATE_NETWORK: network('private') });
    expect([await (await bound(request, false)).text(), await (await bound(request, true)).text()]).toEqual(['public', 'private']);
    const unbound = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('fetch'));
    expect([await (await sendThrough({})(request, false)).text(), unbound.mock.calls.length]).toEqual(['fetch', 1]);
    unbound.mockRestore();
  });

  it.each([
    [
      'tool',
      'http://a.example/',
      'does not resolve, or resolves to a private address. An operator can allow it with MONIKER_ALLOW_PRIVATE_HOSTS=a.example:80',
    ],
    [
      'provider',
      'https://a.example/',
      'the TLS handshake failed, or its name does not resolve, or resolves to a private address. An operator can allow it with MONIKER_ALLOW_PRIVATE_HOSTS=providers:a.example:443',
    ],
  ] as const)('explains what workerd refuses after DNS resolution, for a %s', async (purpose, url, reason) => {
    const failing = createOutbound(closed, () => Promise.reject(new Error('internal error; reference = 4n95cskhv0oaheqqo2p0qssb')));
    const sent = failing(new Request(url), { purpose });
    await expect(sent).rejects.toMatchObject({ code: 'upstream_error', detail: expect.stringContaining(reason) });
  });

  it('turns a POST into a GET without a body on 301, 302 and 303', async () => {
    for (const status of [301, 302, 303]) {
      const { sent, send } = upstream({ 'https://a.example/x': redirect('/done', status) });
      await createOutbound(closed, send)(post('https://a.example/x'), { purpose: 'tool' });
      expect(sent[1]).toMatchObject({ url: 'https://a.example/done', method: 'GET', body: '', headers: { authorization: 'Bearer s' } });
      expect(sent[1]?.headers['content-type']).toBeUndefined();
    }
  });

  it('repeats the body on 307 and 308 to the same origin only', async () => {
    const near = upstream({ 'https://a.example/x': redirect('/y', 307) });
    await createOutbound(closed, near.send)(post('https://a.example/x'), { purpose: 'tool' });
    expect(near.sent[1]).toMatchObject({ url: 'https://a.example/y', method: 'POST', body: '{"a":1}' });
    const far = upstream({ 'https://a.example/x': redirect('https://b.example/y', 308) });
    await expect(createOutbound(closed, far.send)(post('https://a.example/x'), { purpose: 'tool' })).rejects.toMatchObject({
      rule: 'redirect-body',
    });
    expect(far.sent).toHaveLength(1);
  });

  it('drops credentials across origins and does not restore them on the way back', async () => {
    const { sent, send } = upstream({
      'https://a.example/x': redirect('https://b.example/y', 303),
      'https://b.example/y': redirect('https://a.example/z'),
    });
    await createOutbound(closed, send)(post('https://a.example/x'), { purpose: 'tool' });
    expect(sent.slice(1).map((request) => request.headers)).toEqual([{ accept: '*/*' }, { accept: '*/*' }]);
  });

  it('names the base URL to configure for a redirecting provider', async () => {
    const { send } = upstream({ 'https://a.example/v1': redirect('https://b.example/v1', 301) });
    await expect(createOutbound(closed, send)(post('https://a.example/v1'), { purpose: 'provider' })).rejects.toThrow(/baseUrl/);
  });

  it('names the host that cannot be reached, and whether a retry may help', async () => {
    const failing = createOutbound(closed, () => Promise.reject(new TypeError('connect ECONNREFUSED 1.2.3.4:443')));
    const error = await failing(new Request('https://a.example/?key=secret'), { purpose: 'tool' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({
      code: 'upstream_error',
      detail: 'a.example could not be reached, or the connection broke.',
      extra: { retryable: true },
    });
  });

  it('rethrows an abort of the caller unchanged', async () => {
    for (const purpose of ['provider', 'tool'] as const) {
      const controller = new AbortController();
      const waiting = (request: Request): Promise<Response> =>
        new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
          if (request.signal.aborted) reject(request.signal.reason);
        });
      const answer = createOutbound(closed, waiting)(new Request('https://a.example/'), { purpose, signal: controller.signal });
      controller.abort(new Error('the user left'));
      await expect(answer).rejects.toThrow('the user left');
    }
  });

  it('clears its timer when the call has ended', async () => {
    vi.useFakeTimers();
    try {
      const call = new AbortController();
      const { send } = upstream({});
      await createOutbound(closed, send)(new Request('https://a.example/'), { purpose: 'tool', signal: call.signal });
      expect(vi.getTimerCount()).toBe(1);
      call.abort(new Error('the call has ended'));
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('marks outgoing requests, so that a loop is detected', async () => {
    const { sent, send } = upstream({});
    await createOutbound({ ...closed, instance: async () => 'abc' }, send)(new Request('https://a.example/'), { purpose: 'server' });
    const headers = new Headers(sent[0]?.headers);
    expect(() => refuseOwnHop(headers, 'abc')).toThrow(/Loop detected/);
    expect(() => refuseOwnHop(headers, 'other')).not.toThrow();
    expect(() => refuseOwnHop(new Headers(), 'abc')).not.toThrow();
  });
});

type Hop = { url: string; status: number; location?: string; headers?: Record<string, string>; body?: string };

describeCorpus('security/redirect-chains.json', (path) => {
  for (const { id, hops, expect: expected } of readJson<{ cases: { id: string; hops: Hop[]; expect: string }[] }>(path).cases) {
    it(`follows or refuses the chain ${id}: ${expected.slice(0, 60)}`, async () => {
      const sent: Request[] = [];
      const send = async (request: Request): Promise<Response> => {
        sent.push(request);
        const hop = hops.find(({ url }) => url === request.url);
        if (hop === undefined) throw new Error(`nothing is scripted for ${request.url}`);
        // A real Headers object rejects some rows, so the location is supplied separately.
        const response = new Response(hop.body ?? null, { status: hop.status, headers: hop.headers ?? {} });
        Object.defineProperty(response, 'headers', {
          value: { get: (name: string) => (name === 'location' ? (hop.location ?? null) : null) },
        });
        return response;
      };
      const first = hops[0]?.url ?? '';
      const request = id.startsWith('post-') ? post(first) : new Request(first, { headers: { authorization: 'Bearer s', cookie: 'c=1' } });
      // The decision that the policy makes for a new host.
      const onHop = (to: URL): void => {
        if (to.host === 'new.example') throw new Error(`confirmation for ${to.host}`);
      };
      const outcome = await createOutbound(closed, send)(request, {
        purpose: id.startsWith('mcp') || id.startsWith('oauth') ? 'server' : 'tool',
        onHop,
      }).then(
        (response) => `status ${response.status}`,
        (error: unknown) => (error instanceof Problem ? `refused ${String(error.extra.rule)}` : `threw ${String(error)}`),
      );
      check(expected, outcome, sent);
    });
  }
});

function check(expected: string, outcome: string, sent: Request[]): void {
  const blockedAt = /^blocked-at-hop-(\d)$/.exec(expected)?.[1];
  if (blockedAt !== undefined) {
    expect(outcome).toMatch(/^refused (address|name|scheme|userinfo|port)$/);
    expect(sent).toHaveLength(Number(blockedAt) - 1);
    return;
  }
  switch (expected) {
    case 'ok':
    case 'ok-if-b-allowed':
    case 'not-followed':
      expect(outcome).toBe('status 200');
      return;
    case 'too-many-redirects':
    case 'too-many-redirects-at-5':
      expect(sent).toHaveLength(6);
      expect(outcome).toBe('refused redirects');
      return;
    case 'authorization-and-cookie-not-sent-to-b':
      expect(outcome).toBe('status 200');
      expect([...(sent[1]?.headers.keys() ?? [])]).toEqual([]);
      return;
    case 'blocked-or-no-credentials':
      expect([...(sent[1]?.headers.keys() ?? [])]).toEqual([]);
      return;
    case 'second-is-GET-without-body':
      expect(sent[1]?.method).toBe('GET');
      expect(sent[1]?.body).toBeNull();
      return;
    case 'body-not-resent-to-b-without-confirmation':
      expect(sent).toHaveLength(1);
      expect(outcome).toBe('refused redirect-body');
      return;
    case 'confirmation-for-new.example':
      expect(sent).toHaveLength(1);
      expect(outcome).toContain('confirmation for new.example');
      return;
    case 'returned-as-302':
      expect(outcome).toBe('status 302');
      return;
    case 'returned-as-304':
      expect(outcome).toBe('status 304');
      return;
    case 'blocked-or-returned':
      expect(outcome).toBe('status 300');
      return;
    case 'error-no-crash':
    case 'error-too-long':
      expect(outcome).toBe('refused url');
      return;
    case 'metadata-url-not-fetched':
      expect(sent).toHaveLength(1);
      return;
    default:
      expect(expected).toMatch(/^blocked; /);
      expect(outcome).toBe('refused address');
  }
}

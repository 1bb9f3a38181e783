import { describe, expect, it } from 'vitest';
import { createOutbound } from '../../src/net/outbound.ts';
import { httpRequest } from '../../src/tools/http-request.ts';
import { toolBench } from './run-tool.ts';

const isSafe = (args: Record<string, unknown>) => httpRequest.isSafe?.(args);

/** The tool over the outbound client, with `answer` in place of the network. */
function bench(answer: (request: Request) => Response | Promise<Response>, more: { mayAuthenticate?: boolean } = {}) {
  const sent: { url: string; method: string; headers: Record<string, string>; body: string }[] = [];
  const outbound = createOutbound({ allowPrivateHosts: [], publicUrl: null }, async (request) => {
    sent.push({
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      body: await request.clone().text(),
    });
    return await answer(request);
  });
  const { run } = toolBench({ ...more, fetch: (request) => outbound(request, { purpose: 'tool' }) });
  return { sent, ask: (args: Record<string, unknown>) => run('builtin.http_request', args) };
}

describe('http_request', () => {
  it('shows status, useful headers and the text of the body', async () => {
    const { ask, sent } = bench(
      () => new Response('{"a":1}', { headers: { 'content-type': 'application/json', 'set-cookie': 's=1', server: 'x' } }),
    );
    const result = await ask({ url: 'https://api.example/x?q=1' });
    expect(result.text).toBe('HTTP 200\ncontent-type: application/json\n\n{"a":1}');
    expect(result.structuredContent).toEqual({ status: 200, headers: { 'content-type': 'application/json' }, bytes: 7, truncated: false });
    expect(sent).toEqual([
      { url: 'https://api.example/x?q=1', method: 'GET', headers: { 'user-agent': 'moniker', 'idempotency-key': 'call_1' }, body: '' },
    ]);
  });

  it('sends text unchanged and objects as JSON', async () => {
    const { ask, sent } = bench(() => new Response(null, { status: 204 }));
    await ask({ url: 'https://api.example/', method: 'POST', body: 'a=1', headers: { 'Content-Type': 'text/x-own' } });
    await ask({ url: 'https://api.example/', method: 'PUT', body: { a: [1] } });
    expect(sent.map(({ method, body, headers }) => [method, body, headers['content-type']])).toEqual([
      ['POST', 'a=1', 'text/x-own'],
      ['PUT', '{"a":[1]}', 'application/json'],
    ]);
  });

  it('takes methods in lower case', async () => {
    const { ask, sent } = bench(() => new Response(null, { status: 204 }));
    await ask({ url: 'https://api.example/', method: 'post', body: 'a=1' });
    expect((await ask({ url: 'https://api.example/', method: 'get', body: 'a=1' })).text).toContain('GET takes no body');
    expect(sent.map(({ method, body }) => [method, body])).toEqual([['POST', 'a=1']]);
    expect(['get', 'HEAD', 'post', 'delete'].map((method) => isSafe({ method }))).toEqual([true, true, false, false]);
  });

  it('sends authorization only if a client or an administrator set it', async () => {
    const args = { url: 'https://api.example/', headers: { Authorization: 'Bearer t' } };
    const byModel = bench(() => new Response(null, { status: 204 }));
    expect((await byModel.ask(args)).text).toContain('Not sent: headers["Authorization"]: credential headers');
    const byClient = bench(() => new Response(null, { status: 204 }), { mayAuthenticate: true });
    await byClient.ask(args);
    expect(byClient.sent[0]?.headers.authorization).toBe('Bearer t');
    expect((await byClient.ask({ ...args, headers: { cookie: 'a=b' } })).text).toContain('Not sent');
  });

  it('sends the idempotency key with every attempt, unless the model set one', async () => {
    const { ask, sent } = bench(() => new Response(null, { status: 204 }));
    await ask({ url: 'https://api.example/', method: 'POST', body: 'a' });
    await ask({ url: 'https://api.example/', method: 'POST', body: 'a', headers: { 'Idempotency-Key': 'own' } });
    expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual(['call_1', 'own']);
  });

  it('returns an error status as a normal result', async () => {
    expect(
      await bench(() => new Response('no such page', { status: 404, statusText: 'Not Found' })).ask({ url: 'https://a.example/' }),
    ).toMatchObject({
      isError: false,
      text: expect.stringMatching(/^HTTP 404 Not Found.*no such page$/s),
    });
  });

  it('describes non-text bodies, and detects text by its bytes if the type is unknown', async () => {
    const png = new Uint8Array([137, 80, 78, 71, 0, 1]);
    expect(
      (await bench(() => new Response(png, { headers: { 'content-type': 'image/png' } })).ask({ url: 'https://a.example/' })).text,
    ).toContain('[6 bytes of image/png, not shown]');
    expect((await bench(() => new Response(png)).ask({ url: 'https://a.example/' })).text).toContain('[6 bytes of binary data, not shown]');
    expect((await bench(() => new Response(new TextEncoder().encode('plain é'))).ask({ url: 'https://a.example/' })).text).toContain(
      'plain é',
    );
    const latin = new Response(new Uint8Array([0xe9]), { headers: { 'content-type': 'text/plain; charset=iso-8859-1' } });
    expect((await bench(() => latin).ask({ url: 'https://a.example/' })).text).toContain('é');
  });

  it('truncates a long body with a note', async () => {
    const { ask } = bench(() => new Response('x'.repeat(3_000_000), { headers: { 'content-type': 'text/plain' } }));
    const { text, structuredContent } = await ask({ url: 'https://a.example/' });
    expect(structuredContent).toMatchObject({ bytes: 1024 * 1024, truncated: true });
    expect(text).toContain('Only the first 1048576 bytes');
  });

  it('rejects forbidden requests with the reason', async () => {
    const { ask, sent } = bench(() => new Response('x'));
    const faults: [Record<string, unknown>, RegExp][] = [
      [{ url: 'http://169.254.169.254/latest' }, /not a public address/],
      [{ url: 'http://localhost:8787/v1' }, /MONIKER_ALLOW_PRIVATE_HOSTS=localhost:8787/],
      [{ url: 'file:///etc/passwd' }, /Only http and https/],
      [{ url: 'https://user:pass@a.example/' }, /user name or password/],
      [{ url: 'example.com' }, /absolute URL/],
      [{ url: 'https://a.example/', headers: { authorization: 'Bearer x' } }, /authorization.*operator/],
      [{ url: 'https://a.example/', headers: { 'x-note': 'a\r\nb: c' } }, /visible ASCII/],
      [{ url: 'https://a.example/', body: 'x' }, /GET takes no body/],
    ];
    for (const [args, message] of faults)
      expect(await ask(args), JSON.stringify(args)).toMatchObject({
        isError: true,
        code: 'tool_error',
        text: expect.stringMatching(message),
      });
    expect(sent).toEqual([]);
  });
});

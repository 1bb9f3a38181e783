import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

describe('bad input over HTTP', () => {
  const service = shareService();

  /** Requests with a valid body; each field of it is then made invalid. */
  const writes: [method: string, path: string, body: Record<string, unknown>][] = [
    [
      'PUT',
      '/v1/toolsets/swept',
      { description: 'd', announce: 'prompt', tools: [{ tool: 'builtin.bash', name: 'run', aliases: ['go'] }] },
    ],
    [
      'PUT',
      '/v1/agents/swept',
      { model: 'rehearsal/default', toolset: 'demo', instructions: 'i', tools: ['shell'], limits: { maxSteps: 2 } },
    ],
    ['PUT', '/v1/providers/swept', { kind: 'openai-compatible', baseUrl: 'https://models.example/v1', apiKey: 'k', models: ['m'] }],
    ['PUT', '/v1/secrets/SWEPT', { value: 'v', hosts: ['api.example'] }],
    [
      'PUT',
      '/v1/webhooks/swept',
      {
        ...{ agent: 'demo', scheme: 'hmac', secret: 'long enough for a secret', session: '{{id}}', input: '{{title}}', respond: 'async' },
        ...{ filter: 'event == "a"', callbackUrl: 'https://receiver.example/', hmac: { header: 'x-signature', encoding: 'base64' } },
      },
    ],
    ['POST', '/v1/webhooks/swept/test', { payload: { id: 1, title: 't' }, event: 'a', headers: { 'x-a': 'b' } }],
    ['POST', '/v1/keys', { name: 'swept', scopes: ['chat'] }],
    ['POST', '/v1/sessions', { agent: 'demo' }],
    ['POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: 'true' } }],
    ['POST', '/v1/chat/completions', { model: 'rehearsal/default', messages: [{ role: 'user', content: 'hi' }], stream: false }],
  ];

  it.each(writes)(
    '%s %s: accepts a valid body; rejects every invalid field with a clear error and no internal error',
    async (method, path, body) => {
      const right = await service.call(method, path, body);
      expect(right.status, right.text).toBeLessThan(300);
      const odd: { what: string; status: number; text: string }[] = [];
      for (const [what, wrong] of mutants(body)) {
        const answer = await service.call(method, path, wrong);
        const refused = answer.status >= 400 && answer.status < 500 && typeof (answer.json?.code ?? answer.json?.error?.code) === 'string';
        if (answer.status >= 300 && !refused) odd.push({ what, status: answer.status, text: answer.text.slice(0, 200) });
        if (answer.status < 300 && what.startsWith('unknown field') && path !== '/v1/chat/completions')
          odd.push({ what, status: answer.status, text: 'taken' });
      }
      expect(odd).toEqual([]);
    },
  );

  it.each([
    ['malformed JSON', 'PUT', '/v1/toolsets/x', '{"tools": [', {}, 400, 'invalid_json'],
    ['an empty body', 'PUT', '/v1/toolsets/x', '', {}, 400, 'invalid_json'],
    ['another content type', 'PUT', '/v1/toolsets/x', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['an unsupported method', 'POST', '/v1/toolsets/x', '{}', {}, 405, 'method_not_allowed'],
    ['an unknown path', 'POST', '/v1/nothing', '{}', {}, 404, 'not_found'],
    ['an unknown toolset', 'POST', '/v1/toolsets/missing/calls', '{"name": "a", "arguments": {}}', {}, 404, 'not_found'],
    ['an unknown agent', 'POST', '/v1/sessions', '{"agent": "missing"}', {}, 404, 'not_found'],
    ['an unknown session', 'POST', `/v1/sessions/${'0'.repeat(64)}/turns`, '{"input": "hi"}', {}, 404, 'not_found'],
    ['a malformed session id', 'POST', '/v1/sessions/x/turns', '{"input": "hi"}', {}, 404, 'not_found'],
    ['an unknown provider', 'POST', '/v1/sessions', '{"model": "missing/x"}', {}, 404, 'model_not_found'],
    ['an unknown tool', 'PUT', '/v1/toolsets/x', '{"tools": [{"tool": "builtin.bsh"}]}', {}, 422, 'invalid_request'],
    [
      '__proto__ as a name',
      'PUT',
      '/v1/toolsets/x',
      '{"tools": [{"tool": "builtin.bash", "aliases": ["__proto__"]}]}',
      {},
      422,
      'invalid_request',
    ],
    [
      '__proto__ as a field',
      'PUT',
      '/v1/toolsets/x',
      '{"tools": [{"tool": "builtin.bash"}], "__proto__": {"a": 1}}',
      {},
      422,
      'invalid_request',
    ],
  ])('refuses %s with a problem that says why', async (_, method, path, body, headers, status, code) => {
    const answer = await service.call(method, path, body, headers);
    expect([answer.status, answer.json?.code], answer.text.slice(0, 300)).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it('reports a missing key, a wrong key and a missing scope as different errors', async () => {
    const none = await service.call('GET', '/v1/toolsets', undefined, { authorization: '' });
    expect([none.status, none.json.code]).toEqual([401, 'unauthenticated']);
    const { json } = await service.call('POST', '/v1/keys', { name: 'chat only', scopes: ['chat'] });
    const narrow = await service.call(
      'PUT',
      '/v1/toolsets/x',
      { tools: [{ tool: 'builtin.bash' }] },
      { authorization: `Bearer ${json.key}` },
    );
    expect([narrow.status, narrow.json.code]).toEqual([403, 'forbidden']);
    const other = json.key.endsWith('x') ? 'y' : 'x';
    const forged = await service.call('GET', '/v1/toolsets', undefined, { authorization: `Bearer ${json.key.slice(0, -1)}${other}` });
    expect([forged.status, forged.json.code]).toEqual([401, 'unauthenticated']);
  });

  it('rejects or accepts deep and wide JSON in bounded time', async () => {
    for (const body of [
      `${'['.repeat(1000)}${']'.repeat(1000)}`,
      '['.repeat(100_000),
      `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
    ]) {
      const answer = await service.call('PUT', '/v1/toolsets/x', body);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    }
  });

  it('rejects a body of 2 MB before reading it', async () => {
    const { hostname, port } = new URL(service.url);
    const head = `PUT /v1/toolsets/x HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${service.key}\r\ncontent-type: application/json\r\n`;
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${head}connection: close\r\ncontent-length: ${2 << 20}\r\n\r\n{"description": "`);
      });
      socket.setTimeout(60_000, () => reject(new Error('no response')));
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        if (text.includes('"code"')) socket.destroy();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body_too_large"');
  });

  it('sends the error to a client that writes all of 11 MB before it reads, instead of breaking the connection', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
      const sent = request(`${service.url}/v1/toolsets/x`, { method: 'PUT', headers }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode));
      });
      sent.on('error', reject);
      sent.end(Buffer.alloc(11 << 20, 'x'));
    });
    expect(status).toBe(413);
  });

  it('a request cut in the middle does not affect other requests', async () => {
    const { hostname, port } = new URL(service.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `PUT /v1/toolsets/cut HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${service.key}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"tools":`,
          () => socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    expect((await service.call('GET', '/v1/toolsets/cut')).status).toBe(404);
  });

  it('the service still works afterwards, and the stored data is unchanged', async () => {
    expect((await service.call('GET', '/healthz')).status).toBe(200);
    expect((await service.call('GET', '/v1/toolsets/demo')).json.tools.length).toBeGreaterThan(3);
    const call = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: 'echo well' } });
    expect(call.json.content[0].text).toContain('well');
  });
});

const wrongValues: [string, unknown][] = [
  ['null', null],
  ['a number', 7.5],
  ['a list', [[]]],
  ['an object', { __proto__x: 1 }],
  ['an empty text', ''],
  ['a long text', 'x'.repeat(200_000)],
  ['a hostile text', '__proto__\u0000\ud800"\'<script>'],
];

/** Copies of the body with one invalid value each, at every path. */
function* mutants(body: unknown): Generator<[what: string, body: unknown]> {
  for (const [kind, value] of wrongValues) yield [`the body is ${kind}`, value];
  for (const path of pathsOf(body)) {
    yield [`${path.join('.')} is missing`, change(body, path, undefined)];
    for (const [kind, value] of wrongValues) yield [`${path.join('.')} is ${kind}`, change(body, path, value)];
  }
  yield ['unknown field', { ...(body as object), surprise: 1 }];
}

function pathsOf(value: unknown, prefix: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...prefix, key], ...pathsOf(inner, [...prefix, key])]);
}

function change(value: unknown, [key, ...rest]: string[], to: unknown): unknown {
  if (key === undefined) return to;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>; // arrays accept a key too
  copy[key] = change(copy[key], rest, to);
  return copy;
}

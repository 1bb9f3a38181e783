/** Requests that no HTTP client library sends, byte by byte: a clear refusal, never an internal error, and a log of JSON lines. */
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_LOG: 'debug' });

type Answer = { status: number; type: string; body: string };

/** Sends the bytes, and reads until the connection ends or the response is complete. */
async function send(bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(service.url);
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
    socket.setTimeout(20_000, () => reject(new Error(`no response to ${JSON.stringify(bytes.slice(0, 80))}`)));
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const length = /content-length: (\d+)/i.exec(received)?.[1];
      const end = received.indexOf('\r\n\r\n');
      if (length !== undefined && end >= 0 && received.length >= end + 4 + Number(length)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0),
    type: /^content-type: ([^\r\n;]*)/im.exec(head)?.[1] ?? '',
    body: rest.join('\r\n\r\n'),
  };
}

const own = (): string => new URL(service.url).host;
const get = (...lines: string[]): string => [...lines, 'Connection: close', '', ''].join('\r\n');
const withHost = (host: string) => (): string => get('GET /v1/models HTTP/1.1', `Host: ${host}`);
const target = (method: string, path: string) => (): string => get(`${method} ${path} HTTP/1.1`, `Host: ${own()}`);

const badHosts: [what: string, request: () => string][] = [
  ['a dot after the port', () => get('GET /healthz HTTP/1.1', `Host: ${own()}.`)],
  ['two Host headers', () => get('GET /healthz HTTP/1.1', `Host: ${own()}`, `Host: ${own()}`)],
  ['two different Host headers', () => get('GET /healthz HTTP/1.1', `Host: ${own()}`, 'Host: evil.example')],
  ['a list of hosts', () => withHost(`${own()}, evil.example`)()],
  ['user name and password in the host', () => withHost(`user:secret@${own()}`)()],
  ['the own host as a user name', () => withHost(`${own()}@evil.example`)()],
  ['a path in the host', () => withHost(`${own()}/v1`)()],
  ['a query in the host', () => withHost(`${own()}?x`)()],
  ['a fragment in the host', () => withHost(`${own()}#x`)()],
  ['a backslash in the host', () => withHost(`127.0.0.1\\evil.example`)()],
  ['a space in the host', withHost('127.0.0.1 :1')],
  ['a port out of range', withHost('127.0.0.1:99999')],
  ['a port of letters', withHost('127.0.0.1:http')],
  ['a negative port', withHost('127.0.0.1:-1')],
  ['only a port', withHost(':8787')],
  ['an open bracket', withHost('[::1')],
  ['an invalid IPv4 address', withHost('999.0.0.1')],
  ['an invalid percent escape in the host', withHost('%zz')],
  ['an escaped null character in the host', withHost('127.0.0.1%00')],
  ['angle brackets in the host', withHost('<script>')],
  ['an asterisk as the target', target('OPTIONS', '*')],
  ['an asterisk as the target of a GET', target('GET', '*')],
];

it.each(badHosts)('refuses %s with 400 and a problem', async (_what, request) => {
  const { status, type, body } = await send(request());
  expect([status, type], body.slice(0, 300)).toEqual([400, 'application/problem+json']);
  expect(JSON.parse(body)).toMatchObject({
    status: 400,
    code: 'malformed_request',
    detail: expect.any(String),
    requestId: expect.any(String),
  });
  expect(body).not.toContain('secret');
});

it.each([
  ['CONNECT to another host', () => get('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443')],
  ['CONNECT to the service', () => get(`CONNECT ${own()} HTTP/1.1`, `Host: ${own()}`)],
  ['CONNECT with a key', () => get('CONNECT 169.254.169.254:80 HTTP/1.1', 'Host: x', `Authorization: Bearer ${service.key}`)],
  ['TRACE', target('TRACE', '/healthz')],
  ['TRACE with a body', () => `TRACE /healthz HTTP/1.1\r\nHost: ${own()}\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc`],
  ['PROPFIND', target('PROPFIND', '/v1/agents')],
])('refuses %s with 405 and a problem', async (_what, request) => {
  const { status, type, body } = await send(request());
  expect([status, type], body.slice(0, 300)).toEqual([405, 'application/problem+json']);
  expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed' });
});

it.each([
  ['no Host header', 400, () => get('GET /healthz HTTP/1.1')],
  ['no Host header in HTTP/1.0', 400, () => get('GET /healthz HTTP/1.0')],
  ['an empty Host header', 400, () => get('GET /healthz HTTP/1.1', 'Host:')],
  ['bytes that are not UTF-8 in the host', 400, withHost('h\u00f6st')],
  ['an unknown method', 501, target('FOO', '/healthz')],
  ['a method in lower case', 501, target('get', '/healthz')],
  ['no target', 400, () => get('GET  HTTP/1.1', `Host: ${own()}`)],
  ['an absolute target with an open bracket', 400, () => get('GET http://[::1/healthz HTTP/1.1', `Host: ${own()}`)],
  ['another version of HTTP', 400, () => get('GET /healthz HTTP/2.0', `Host: ${own()}`)],
  ['TLS', 400, () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n'],
  ['a folded header', 400, () => get('GET /healthz HTTP/1.1', `Host: ${own()}`, 'X: y', ' z')],
  ['a header name with a space', 400, () => get('GET /healthz HTTP/1.1', `Host: ${own()}`, 'bad name: x')],
  ['two lengths', 400, () => get('POST /v1/agents HTTP/1.1', `Host: ${own()}`, 'Content-Length: 1', 'Content-Length: 2')],
  ['a negative length', 400, () => get('POST /v1/agents HTTP/1.1', `Host: ${own()}`, 'Content-Length: -1')],
  ['an unknown transfer encoding', 400, () => get('POST /v1/agents HTTP/1.1', `Host: ${own()}`, 'Transfer-Encoding: gzip')],
  ['a target of 70 kB', 414, target('GET', `/${'a'.repeat(70_000)}`)],
  ['another name of the host', 403, withHost('evil.example')],
  ['an absolute target and another name of the host', 403, () => get(`GET ${service.url}/healthz HTTP/1.1`, 'Host: evil.example')],
  ['an invalid percent escape in a path', 404, target('GET', '/%zz')],
  ['an invalid percent escape in a link', 404, target('GET', '/approve/%zz')],
  [
    'bytes that are not UTF-8 in the name of a webhook',
    404,
    () => `POST /hooks/default/%ff HTTP/1.1\r\nHost: ${own()}\r\nContent-Length: 0\r\n\r\n`,
  ],
  ['two slashes', 404, target('GET', '//evil.example/healthz')],
  ['a backslash in the path', 404, target('GET', '/\\evil.example')],
])('refuses %s with %i', async (_what, status, request) => {
  expect((await send(request())).status).toBe(status);
});

it('serves an absolute target of its own', async () => {
  expect((await send(get(`GET ${service.url}/healthz HTTP/1.1`, `Host: ${own()}`))).status).toBe(200);
});

it('writes JSON lines only, and none about internal errors', async () => {
  await send(target('TRACE', '/healthz')());
  const lines =
    service
      .printed()
      .split('Ctrl-C stops it.')[1]
      ?.split('\n')
      .filter((line) => line.trim() !== '') ?? [];
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !isRecord(line))).toEqual([]);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

function isRecord(line: string): boolean {
  try {
    const { level, message, at } = JSON.parse(line) as Record<string, unknown>;
    return [level, message, at].every((value) => typeof value === 'string');
  } catch {
    return false;
  }
}

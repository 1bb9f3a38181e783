/** What the errors of Node's `fetch` say about a request, over real sockets. Those of workerd: `test/e2e/unanswered-calls.e2e.test.ts`. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Problem } from '../../src/core/problem.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import { openThrough } from '../../src/net/unsent.ts';
import { fakeClock } from '../fakes/runtime.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(take: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the test breaks connections
    take(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const port = await listen(() => undefined);
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return port;
}

async function failureOf(url: string, send = (request: Request) => fetch(request)): Promise<Problem> {
  const outbound = createOutbound({ allowPrivateHosts: ['127.0.0.1:*', 'localhost:*'], publicUrl: null }, send);
  const failure = await outbound(new Request(url, { method: 'POST', body: 'x' }), { purpose: 'server' }).catch((error: unknown) => error);
  if (!(failure instanceof Problem)) throw new Error('the request did not fail');
  return failure;
}

describe('a failed request of Node', () => {
  it('was not sent if the connection was refused, for each address of a name', async () => {
    const port = await closedPort();
    for (const host of ['127.0.0.1', 'localhost'])
      expect(await failureOf(`http://${host}:${port}/`)).toMatchObject({
        detail: `${host}:${port} could not be reached: it refuses connections.`,
        extra: { sent: false },
      });
  });

  it('may have arrived if the connection broke, before a reply or within its head', async () => {
    const ways: ((socket: Socket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
      (socket) => socket.end('hello\r\n\r\n'),
    ];
    for (const way of ways) {
      const port = await listen((socket) => socket.once('data', () => way(socket)));
      expect((await failureOf(`http://127.0.0.1:${port}/`)).extra, String(way)).toMatchObject({ sent: true });
    }
  });

  it('was sent if a redirect leads to a server that refuses connections', async () => {
    const closed = await closedPort();
    const port = await listen((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 303 See Other\r\nlocation: http://127.0.0.1:${closed}/\r\ncontent-length: 0\r\n\r\n`)),
    );
    expect((await failureOf(`http://127.0.0.1:${port}/`)).extra).toMatchObject({ sent: true });
  });

  it('was sent if a redirect leads to an address that is refused, but not if its own is', async () => {
    const port = await listen((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 303 See Other\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n')),
    );
    expect((await failureOf(`http://127.0.0.1:${port}/`)).extra.sent).toBeUndefined();
    expect((await failureOf('http://10.0.0.1/')).extra).toMatchObject({ sent: false });
  });

  it('may have arrived if TLS fails in a way that can also happen later', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.end('hello\r\n\r\n')));
    expect((await failureOf(`https://127.0.0.1:${port}/`)).extra).toMatchObject({ sent: true });
  });
});

describe('connections beside those of requests', () => {
  const refused = (): Promise<never> => Promise.reject(new Error('proxy request failed, cannot connect to the specified address'));
  const lost = (): Promise<never> => Promise.reject(Object.assign(new Error('Network connection lost.'), { retryable: true }));
  const unexplained = (): Promise<never> => Promise.reject(new Error('internal error; reference = 4n95cskhv0oaheqqo2p0qssb'));
  type Fake = { connect(to: { port: number }, tls: boolean): Promise<unknown>; fetch?(): Promise<Response>; sends?: string };
  const network = ({ connect, fetch: send = lost, sends = '' }: Fake) => ({
    fetch: send,
    connect: (to: { hostname: string; port: number }, { secureTransport }: { secureTransport: string }) => {
      const opened = connect(to, secureTransport === 'on');
      const readable = new Response(sends).body ?? new ReadableStream<Uint8Array>();
      return { opened, closed: opened, readable, writable: new WritableStream<Uint8Array>(), close: () => Promise.resolve() };
    },
  });
  const connections = (fake: Fake, clock = fakeClock()) => {
    const one = network(fake);
    return openThrough({ PUBLIC_NETWORK: one, PRIVATE_NETWORK: one }, clock);
  };
  const opens = (): Promise<void> => Promise.resolve();

  it('say nothing without a network that can', () => {
    expect(openThrough({}, fakeClock())).toBeNull();
  });

  it('tell a failed handshake, a refused connection and a missing name apart, and use the port of the scheme', async () => {
    const ports: number[] = [];
    const onlyPlain = connections({
      connect: (to, tls) => {
        ports.push(to.port);
        return tls ? refused() : opens();
      },
    });
    expect(await onlyPlain?.whyClosed(new URL('https://a.example/'), false)).toBe('the TLS handshake failed');
    expect(await onlyPlain?.whyClosed(new URL('http://a.example/'), false)).toBeNull();
    expect(ports).toEqual([443, 443, 80]);
    const closed = connections({ connect: refused });
    expect(await closed?.whyClosed(new URL('http://10.0.0.1:81/'), true)).toBe('it refuses connections');
    expect(await closed?.whyClosed(new URL('http://a.example/'), true)).toBe('it refuses connections');
    const nameless = connections({ connect: refused, fetch: unexplained });
    expect(await nameless?.whyClosed(new URL('http://a.example/'), true)).toBe('its name does not resolve');
    expect(await nameless?.whyClosed(new URL('http://a.example/'), false)).toContain('or resolves to a private address');
  });

  it('make one handshake in five minutes', async () => {
    const shaken: boolean[] = [];
    const clock = fakeClock();
    const both = connections({ connect: async (_to, tls) => void shaken.push(tls) }, clock);
    const look = () => both?.whyClosed(new URL('https://a.example/'), false);
    await look();
    await look();
    await clock.advance(5 * 60_000 + 1);
    await look();
    expect(shaken).toEqual([true, false, true]);
  });

  it('wait ten seconds at most', async () => {
    const clock = fakeClock();
    const late = connections({ connect: () => new Promise(() => undefined) }, clock)?.whyClosed(new URL('http://10.0.0.1/'), true);
    await clock.advance(10_000);
    expect(await late).toBe('it accepts no connection within 10 s');
  });

  it.each([
    ['SSH-2.0-OpenSSH', 'responded with something that is not HTTP'],
    ['HTTP/1.1 400 Bad Request', 'broke the connection before it responded'],
    ['', 'broke the connection before it responded'],
  ])('say of a server that sends "%s" and broke a request what it did', async (sends, what) => {
    expect(await connections({ connect: opens, sends })?.whyBroken(new URL('http://10.0.0.1/'), true)).toBe(what);
  });

  it('say of a failed request that its server is closed now', async () => {
    const what = await connections({ connect: refused })?.whyBroken(new URL('http://10.0.0.1/'), true);
    expect(what).toBe('could not be reached: it refuses connections');
  });
});

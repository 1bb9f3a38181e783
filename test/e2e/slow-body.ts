/** Requests whose body stops before its end. */
import { connect, type Socket } from 'node:net';

/** A body that stops before its end, sent from an address of this machine. `answer`: resolves with the status of the response. */
export function sendSlowly(
  service: { url: string },
  path: string,
  { address = '127.0.0.1', size = 1_000_000, sent = 990_000, headers = {} as Record<string, string> } = {},
): { socket: Socket; answer: Promise<number> } {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: address });
  const lines = Object.entries({
    host: `${hostname}:${port}`,
    'content-type': 'application/json',
    'content-length': String(size),
    ...headers,
  });
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  socket.write('a'.repeat(sent));
  const answer = new Promise<number>((resolve) => {
    socket.once('data', (bytes: Buffer) => resolve(Number(bytes.toString('latin1').slice(9, 12))));
    socket.once('error', () => resolve(0));
  });
  return { socket, answer };
}

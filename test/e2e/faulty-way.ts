/** The way to a server, over raw sockets, which can fail in each way in which a connection fails. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type WayFault = 'reset' | 'close' | 'cut reply' | 'no HTTP' | 'hang';

export type FaultyWay = {
  port: number;
  /** What happens to requests that contain the text; null: they pass. `times`: to how many of them. */
  fail(fault: WayFault | null, within?: string, times?: number): void;
  /** How many of these have arrived. */
  arrived(): number;
  /** No connection is accepted any more, and all are closed. */
  close(): Promise<void>;
};

/** `behind`: the port of the server. */
export async function openFaultyWay(behind: number): Promise<FaultyWay> {
  let fault: { kind: WayFault; within: string; left: number } | null = null;
  let count = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    const onward = connect(behind, '127.0.0.1');
    onward.on('error', () => socket.destroy());
    onward.on('data', (bytes) => socket.write(bytes));
    onward.on('close', () => socket.end());
    socket.on('error', () => undefined); // the test breaks connections
    socket.on('close', () => {
      sockets.delete(socket);
      onward.destroy();
    });
    let held = '';
    socket.on('data', (bytes) => {
      held += bytes.toString('latin1');
      // A request whose reason is looked for after it has failed.
      const isProbe = held.startsWith('OPTIONS *');
      if (fault === null || !(isProbe || held.includes(fault.within))) {
        held = held.slice(-1_000);
        onward.write(bytes);
        return;
      }
      if (!isProbe) {
        count += 1;
        fault.left -= 1;
      }
      socket.removeAllListeners('data');
      socket.resume();
      apply(fault.kind, socket);
      if (fault.left === 0) fault = null;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port, // It listens on TCP.
    fail(kind, within = 'HTTP/1.1', times = Number.POSITIVE_INFINITY) {
      fault = kind === null ? null : { kind, within, left: times };
      count = 0;
    },
    arrived: () => count,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function apply(kind: WayFault, socket: Socket): void {
  switch (kind) {
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'close':
      socket.end();
      return;
    case 'cut reply':
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"content": [');
      return;
    case 'no HTTP':
      socket.end('SSH-2.0-OpenSSH_9.6\r\n');
      return;
    case 'hang':
      return;
    default:
      kind satisfies never;
  }
}

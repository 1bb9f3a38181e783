/** A client of `/v1/responses` over a WebSocket, which keeps every event. */
import { request } from 'node:http';

type Item = { type: string; call_id?: string; content?: { text?: string }[] };
type Event = { type: string; headers?: Record<string, string>; response?: { id: string; output: Item[] } };
export type SocketReply = { id: string; text: string; output: Item[]; headers: Record<string, string> };
export type OpenSocket = Awaited<ReturnType<typeof openSocket>>;

/** Rejects with the status of an upgrade that is refused. `url`: of HTTP. */
export async function openSocket(url: string, headers: Record<string, string>) {
  // The types of Node do not have the headers of its WebSocket.
  const socket = new WebSocket(url.replace('http', 'ws'), { headers } as unknown as string[]);
  const [events, waiting] = [[] as Event[], [] as (() => void)[]];
  let read = 0;
  const wake = (): void => {
    for (const resume of waiting.splice(0)) resume();
  };
  socket.addEventListener('message', ({ data }) => {
    // Written by the service.
    events.push(JSON.parse(String(data)) as Event);
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => {
      resolve({ code, reason });
      wake();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => void refusalOf(url, headers).then(reject));
  });
  const next = async (): Promise<Event> => {
    while (read >= events.length) {
      if (socket.readyState === WebSocket.CLOSED) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    read += 1;
    return events[read - 1] as Event; // Checked above.
  };
  /** Throws for anything but a complete reply. */
  const reply = async (): Promise<SocketReply> => {
    let shown: Record<string, string> = {};
    for (;;) {
      const event = await next();
      shown = event.headers ?? shown;
      if (event.type === 'error') throw new Error(JSON.stringify(event));
      if (event.type !== 'response.completed' || event.response === undefined) continue;
      const { id, output } = event.response;
      const text = output.flatMap(({ content = [] }) => content.map((part) => part.text ?? '')).join('');
      return { id, text, output, headers: shown };
    }
  };
  const failure = async (): Promise<Event> => {
    for (;;) {
      const event = await next();
      if (event.type === 'error') return event;
    }
  };
  const send = (message: object): void => socket.send(JSON.stringify(message));
  return {
    ...{ next, reply, failure, send, closed },
    sendText: (text: string | Uint8Array<ArrayBuffer>): void => socket.send(text),
    async ask(message: object): Promise<SocketReply> {
      send(message);
      return await reply();
    },
    events: () => events,
    close: () => socket.close(),
  };
}

/** The WebSocket of Node does not report the response: the same upgrade without it does. */
async function refusalOf(url: string, headers: Record<string, string>): Promise<Error> {
  const upgrade = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
  };
  const { promise, resolve, reject } = Promise.withResolvers<Error>();
  const sent = request(url, { headers: { ...headers, ...upgrade } }, (response) => {
    response.resume();
    resolve(new Error(`refused with ${response.statusCode}`));
  });
  sent.on('upgrade', (_response, connection) => {
    connection.destroy();
    resolve(new Error('the connection failed'));
  });
  sent.on('error', reject).end();
  return await promise;
}

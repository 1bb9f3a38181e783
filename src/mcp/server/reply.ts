/**
 * The HTTP response to messages that are served without a session: one JSON document where nothing is sent before it, else an event stream.
 * A slow response becomes a stream with heartbeats, too: a disconnected client is noticed only when something is written to it, and proxies
 * close idle connections.
 */
import { limits } from '../../core/limits/limits.ts';
import { encodeFrame, heartbeatFrame } from '../../dialects/native.ts';
import { systemClock } from '../../platform/clock.ts';
import type { RpcAnswer } from './methods.ts';

/** A response that takes longer becomes a stream. */
const mcpHeartbeatMs = 1_000;

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  // Prevents proxies that buffer responses (nginx) from doing so.
  'x-accel-buffering': 'no',
};

export function eventOf(message: string): string {
  return encodeFrame({ event: 'message', data: message });
}

/** `signal`: aborts when the client has disconnected. */
export type ReplyTo = { signal: AbortSignal; send(message: string): void };

/**
 * `isStream`: the response is a stream from the start, as the 2025 revisions have it. `work` sends messages before its own, and returns the
 * last one, or null if it has sent all; it must not fail, and ends soon after its signal aborts.
 */
export async function reply(client: AbortSignal, isStream: boolean, work: (to: ReplyTo) => Promise<RpcAnswer | null>): Promise<Response> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('the client has disconnected'));
  if (client.aborted) leave();
  else client.addEventListener('abort', leave, { once: true });
  const { promise, resolve } = Promise.withResolvers<Response>();
  const stream = createEventStream(leave);
  const open = (): void => {
    if (stream.isOpen) return;
    disarm();
    resolve(new Response(stream.open(), { headers: streamHeaders }));
  };
  const send = (message: string): void => {
    open();
    stream.write(eventOf(message));
  };
  const disarm = systemClock.after(mcpHeartbeatMs, open);
  const finish = (last: RpcAnswer | null): void => {
    client.removeEventListener('abort', leave);
    disarm();
    if (last !== null && !stream.isOpen) {
      const { text, status } = last;
      const whole = isStream ? { body: eventOf(text), headers: streamHeaders } : { body: text, headers: jsonHeaders };
      resolve(new Response(whole.body, { status: isStream ? 200 : status, headers: whole.headers }));
      return;
    }
    if (last === null) open();
    else send(last.text);
    stream.close();
  };
  void work({ signal: gone.signal, send }).then(finish);
  return await promise;
}

const jsonHeaders = { 'content-type': 'application/json' };

/** `left`: called when the reader cancels. Nothing is written after that. */
export function createEventStream(left: () => void) {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  let isOver = false;
  const write = (text: string): void => {
    if (!isOver && text !== '') controller?.enqueue(encoder.encode(text));
  };
  const end = (): void => {
    isOver = true;
    clearInterval(heartbeat);
  };
  return {
    get isOpen(): boolean {
      return controller !== null;
    },
    open(): ReadableStream<Uint8Array> {
      return new ReadableStream<Uint8Array>({
        start(started) {
          controller = started;
          heartbeat = setInterval(() => write(heartbeatFrame), limits.mcpAnswerHeartbeatMs);
        },
        cancel() {
          end();
          left();
        },
      });
    },
    write,
    close(): void {
      if (!isOver) controller?.close();
      end();
    },
  };
}

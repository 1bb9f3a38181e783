/**
 * Sends a slow response as a stream with heartbeats: a disconnected client is noticed only when something is written to it, and proxies
 * close idle connections. A fast response is returned unchanged.
 */
import { limits } from '../../core/limits/limits.ts';
import { encodeFrame, heartbeatFrame } from '../../dialects/native.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';

/**
 * A slower response becomes a stream with heartbeats at this interval: they are the only way to detect that a client has
 * disconnected.
 */
const mcpHeartbeatMs = 1_000;

/** `client`: aborts when the client has disconnected. `answer`: its work ends soon after its signal aborts. */
export async function heartbeatResponse(client: AbortSignal, answer: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const disconnected = new AbortController();
  const disconnect = (): void => disconnected.abort(new Error('the client has disconnected'));
  if (client.aborted) disconnect();
  else client.addEventListener('abort', disconnect, { once: true });
  const answering = answer(disconnected.signal);
  const soon = await withTimeout<Response | null>(systemClock, answering, mcpHeartbeatMs, () => null);
  return soon ?? new Response(withHeartbeats(answering, disconnect), { headers: streamHeaders });
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  // Prevents proxies that buffer responses (nginx) from doing so.
  'x-accel-buffering': 'no',
};

function withHeartbeats(answering: Promise<Response>, disconnect: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const beat = (): void => controller.enqueue(encoder.encode(heartbeatFrame));
      beat();
      heartbeat = setInterval(beat, limits.mcpAnswerHeartbeatMs);
    },
    async pull(controller) {
      try {
        reader ??= await framesOf(await answering);
        clearInterval(heartbeat);
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        clearInterval(heartbeat);
        controller.error(error);
      }
    },
    async cancel(reason) {
      clearInterval(heartbeat);
      disconnect();
      await reader?.cancel(reason);
    },
  });
}

/** A single message becomes the only event of its stream. */
async function framesOf(response: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const body = isStream ? response.body : new Response(encodeFrame({ event: 'message', data: await response.text() })).body;
  return (body ?? new Blob([]).stream()).getReader();
}

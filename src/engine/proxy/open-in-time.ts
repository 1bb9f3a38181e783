/** Opens the stream of an answer that is late, so that neither its client nor a proxy between gives it up. */
import { limits } from '../../core/limits/limits.ts';
import type { Problem } from '../../core/problem.ts';
import { joinBytes } from '../../core/text/bytes.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { encodeFrame } from '../../dialects/native.ts';
import type { Clock } from '../../ports/runtime.ts';
import { joinWrites } from '../joined-stream.ts';
import { withTimeout } from '../timeout.ts';

export type LateAnswer = {
  dialect: Pick<Dialect, 'heartbeat' | 'failureFrames'>;
  clock: Clock;
  /** Returns what the client is told of a failure. */
  toProblem(error: unknown): Problem;
};

/**
 * Returns the answer to a request for a stream. Until `limits.heartbeatMs` it is the provider that decides on the status; after that the
 * stream begins with a heartbeat, and a failure ends it as an error in the client's dialect. It has none of the answer's headers then.
 */
export async function openInTime(answer: Promise<Response>, { dialect, clock, toProblem }: LateAnswer): Promise<Response> {
  const soon = await withTimeout<Response, null>(clock, answer, limits.heartbeatMs, () => null);
  if (soon !== null) return soon;
  const failed = (error: unknown): Response => new Response(dialect.failureFrames(toProblem(error).toBody(), 0).map(encodeFrame).join(''));
  const reading = answer.catch(failed).then(({ body }) => body?.getReader());
  const body = joinWrites<{ value?: Uint8Array | undefined }, Uint8Array>(
    {
      first: new TextEncoder().encode(dialect.heartbeat),
      heartbeat: dialect.heartbeat,
      next: async () => (await (await reading)?.read()) ?? {},
      piece: ({ value }) => value ?? null,
      join: joinBytes,
      end: () => new Uint8Array(0),
      cancel: async (reason) => await (await reading)?.cancel(reason),
    },
    clock,
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store, no-transform' } });
}

/**
 * Reads the start of a reply that is forwarded unread, so that a failure with status 200 is an error with retry and fallback, and not the answer that
 * the client receives. The bytes stay unchanged.
 */
import { MB } from '../../core/limits/units.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { joinBytes } from '../../core/text/bytes.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { createJoinedReader, type JoinedReader } from '../../net/joined-reader.ts';
import { declaredBytes } from '../../net/read-bounded.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { ReplyReader } from '../adapter.ts';
import { brokenReply, failureEvents, timeoutProblem } from '../provider-error.ts';
import { refuseFailure } from '../retry.ts';
import { readerFor } from '../transport.ts';

/** A reply of known length up to this is read at once: cheaper than a stream, which even looking at its `body` would make. */
const maxWholeBytes = 1 * MB;
/** A reply is held back until its first output, for these times at most. Output of unknown kinds, such as audio, must pass, too. */
const maxHeldBytes = 64 * 1024;
const maxHeldMs = 5_000;

/** A reply whose first bytes were read. */
export type StartedReply = {
  head: Uint8Array;
  /** The rest, unlocked unless a read is pending; null: there is none. */
  body: ReadableStream<Uint8Array> | null;
  pending: { reader: ReadableStreamDefaultReader<Uint8Array>; read: Promise<{ done: boolean; value?: Uint8Array | undefined }> } | null;
};

type StartOptions = {
  access: ProviderAccess;
  /** Reads the reply up to its first output; null: any reply is passed on. */
  reply: ReplyReader | null;
  firstByteMs: number;
  clock: Pick<Clock, 'now' | 'after'>;
};

/** Throws `FailedReply` for a reply that begins with a failure, and `upstream_timeout` for one that does not begin. */
export async function startReply(response: Response, { access, reply, firstByteMs, clock }: StartOptions): Promise<StartedReply> {
  const take = reply === null ? null : readerFor(access, reply);
  if (declaredBytes(response.headers) <= maxWholeBytes) {
    const late = (): never => {
      throw timeoutProblem(access, 'stopped sending in the middle of its reply');
    };
    const whole = withTimeout(clock, response.arrayBuffer(), firstByteMs, late).catch((error: unknown) => {
      throw brokenReply(access, error);
    });
    const head = new Uint8Array(await whole);
    if (take !== null) refuseFailure(endWith(access, () => [...take.bytes(head), ...take.end()]));
    return { head, body: null, pending: null };
  }
  const { body } = response;
  if (body === null || take === null) return { head: new Uint8Array(0), body, pending: null };
  const until = clock.now() + maxHeldMs;
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const read = reader.read();
    const waitMs = bytes === 0 ? firstByteMs : Math.max(0, until - clock.now());
    const next = await withTimeout(clock, read, waitMs, () => null).catch((error: unknown) => {
      throw brokenReply(access, error);
    });
    if (next === null && bytes === 0) {
      reader.cancel().catch(() => undefined);
      throw timeoutProblem(access, 'did not respond in time');
    }
    if (next === null) return { head: joinBytes(pieces), body, pending: { reader, read } };
    const { done, value } = next;
    if (value !== undefined) pieces.push(value);
    bytes += value?.byteLength ?? 0;
    const events = endWith(access, () => (done ? take.end() : value === undefined ? [] : take.bytes(value)));
    if (events[0]?.type === 'error') reader.cancel().catch(() => undefined);
    refuseFailure(events);
    if (done) return { head: joinBytes(pieces), body: null, pending: null };
    if (events.length > 0 || bytes > maxHeldBytes) {
      reader.releaseLock();
      return { head: joinBytes(pieces), body, pending: null };
    }
  }
}

/** Returns the events, of which an invalid reply has one. */
function endWith(access: ProviderAccess, read: () => ReturnType<ReplyReader['end']>): ReturnType<ReplyReader['end']> {
  try {
    return read();
  } catch (error) {
    return failureEvents(brokenReply(access, error), null);
  }
}

/** Reads the whole reply, also what was read of it. */
export function readStarted({ head, body, pending }: StartedReply & { body: ReadableStream<Uint8Array> }, clock: Clock): JoinedReader {
  const rest = pending === null ? createJoinedReader(body, clock) : pending.reader;
  const reads = [...(head.byteLength > 0 ? [{ done: false, value: head }] : []), ...(pending === null ? [] : [pending.read])];
  return { read: async () => await (reads.shift() ?? rest.read()), cancel: (reason) => rest.cancel(reason) };
}

/**
 * Lets the runtime pump a stream of the network to the client, and reads a copy of it in a few large pieces. In workerd each read and write in
 * JavaScript costs several times what the runtime needs to pass the piece on; this costs about a third more than that.
 */
import { MB } from '../core/limits/units.ts';
import { createFrameCount } from '../core/text/frame-count.ts';
import { setEnd, type StreamEnd } from '../engine/joined-stream.ts';
import type { Clock } from '../ports/runtime.ts';

const pieceBytes = 64 * 1024;
/** The copy is read this often, which bounds what the runtime buffers of it. */
const readEveryMs = 2_000;
/** The rest of a longer stream is not copied: what a slow client has not taken of it would be buffered. */
const maxCopiedBytes = 64 * MB;

/** Only the first call of `end` or `cut` counts. */
export type Pumping = {
  /** Receives the copy. */
  push(bytes: Uint8Array): void;
  /** The stream was passed on to its end. */
  end(): void;
  /** The client disconnected, or the stream broke or was ended. */
  cut(): void;
  clock: Pick<Clock, 'after'>;
  background(work: Promise<unknown>): void;
  /** Aborts the exchange that `body` belongs to. With it, the stream can be ended from outside (`endOf`). */
  exchange?: AbortController | undefined;
};

/** `body`: of a response from the network. */
export function pumpBody(body: ReadableStream<Uint8Array>, pumping: Pumping): ReadableStream<Uint8Array> {
  const { exchange, background } = pumping;
  const [original, branch] = body.tee();
  const { readable, writable } = new IdentityTransformStream();
  const copy = readCopy(branch, pumping);
  if (exchange === undefined) {
    const pumped = original.pipeTo(writable);
    background(
      pumped.then(
        () => copy.finish(),
        () => copy.drop(),
      ),
    );
    return readable;
  }
  const over = new AbortController();
  let writeLast: Parameters<StreamEnd['end']>[0] | null = null;
  setEnd(readable, {
    over: over.signal,
    end(last, reason) {
      writeLast ??= last;
      exchange.abort(reason);
    },
  });
  const run = async (): Promise<void> => {
    try {
      await original.pipeTo(writable, { preventClose: true, preventAbort: true });
    } catch (error) {
      if (writeLast === null) await Promise.all([writable.abort(error), copy.drop()]);
      else {
        pumping.cut();
        // Both branches end at the same byte, so the copy is what the client has received.
        await copy.finish();
        await close(writable, copy.isWhole() ? writeLast(copy.frames) : new Uint8Array(0));
      }
      return;
    } finally {
      over.abort();
    }
    await Promise.all([close(writable, new Uint8Array(0)), copy.finish()]);
  };
  // If the client has disconnected, nothing can be written.
  background(run().catch(() => undefined));
  return readable;
}

async function close(writable: WritableStream<Uint8Array>, last: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  if (last.byteLength > 0) await writer.write(last);
  await writer.close();
}

function readCopy(branch: ReadableStream<Uint8Array>, { push, end, cut, clock, exchange }: Pumping) {
  const reader = branch.getReader({ mode: 'byob' });
  const frames = createFrameCount();
  let total = 0;
  let isOver = false;
  let wake = (): void => undefined;
  const stop = (): void => {
    isOver = true;
    wake();
  };
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const disarm = clock.after(readEveryMs, resolve);
      wake = () => {
        disarm();
        resolve();
      };
    });
  const readAll = async (): Promise<void> => {
    while (total <= maxCopiedBytes) {
      const { done, value } = await reader.read(new Uint8Array(pieceBytes));
      if (done) return end();
      total += value.byteLength;
      push(value);
      if (exchange !== undefined) frames.add(value);
      if (!isOver && value.byteLength < pieceBytes) await pause();
    }
    await reader.cancel();
  };
  const read = readAll().catch(cut);
  return {
    frames,
    /** False if the last frame is incomplete or was not copied. */
    isWhole: () => total <= maxCopiedBytes && frames.isWhole(),
    async finish() {
      stop();
      await read;
      end();
    },
    async drop() {
      cut();
      stop();
      await reader.cancel().catch(() => undefined);
    },
  };
}

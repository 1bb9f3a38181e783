/** Reads of a stream that the runtime pumps. Node's byte streams and the transform below replace those of workerd. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { joinBytes } from '../../src/core/text/bytes.ts';
import { createJoinedReader, type JoinedReader } from '../../src/net/joined-reader.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { otherTasks } from '../wait-for.ts';

type ByteReader = { read(view: Uint8Array, options: { min: number }): Promise<ReadableStreamReadResult<Uint8Array>> };

/** Passes bytes on without a buffer, and has readers with `readAtLeast`, as in workerd. */
class Identity {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  constructor() {
    let pulled = Promise.withResolvers<ReadableByteStreamController>();
    let cancelled: unknown;
    const source = {
      type: 'bytes',
      pull: (controller: ReadableByteStreamController) => pulled.resolve(controller),
      cancel(reason: unknown) {
        cancelled = reason ?? new Error('cancelled');
        pulled.promise.catch(() => undefined);
        pulled.reject(cancelled);
      },
    };
    // The types here are those of workerd, which has no byte streams of this form.
    this.readable = new ReadableStream<Uint8Array>(source as never, { highWaterMark: 0 });
    const getReader = this.readable.getReader.bind(this.readable) as (options?: object) => object;
    const readable = {
      getReader: (options?: object) => {
        const reader = getReader(options) as ByteReader;
        return Object.assign(reader, { readAtLeast: (min: number, view: Uint8Array) => reader.read(view, { min }) });
      },
    };
    Object.assign(this.readable, readable);
    const take = async (): Promise<ReadableByteStreamController> => {
      const controller = await pulled.promise;
      if (cancelled !== undefined) throw cancelled;
      pulled = Promise.withResolvers();
      return controller;
    };
    this.writable = new WritableStream<Uint8Array>({
      write: async (bytes) => (await take()).enqueue(new Uint8Array(bytes)),
      async close() {
        const controller = await take();
        controller.close();
        controller.byobRequest?.respond(0);
      },
      abort: async (reason) => (await take()).error(reason),
    });
  }
}

beforeEach(() => void vi.stubGlobal('IdentityTransformStream', Identity));
afterEach(() => void vi.unstubAllGlobals());

const event = (index: number): Uint8Array => new TextEncoder().encode(`data: {"index":${index},"text":"${'x'.repeat(index % 50)}"}\n\n`);
const events = Array.from({ length: 400 }, (_, index) => event(index));

/** The body of a response. */
function bodyOf(write: (writer: WritableStreamDefaultWriter<Uint8Array>) => Promise<void>) {
  const { readable, writable } = new Identity();
  const written = write(writable.getWriter());
  written.catch(() => undefined);
  return { body: readable, written };
}

const writeAll = (pieces: readonly Uint8Array[]) =>
  bodyOf(async (writer) => {
    for (const piece of pieces) await writer.write(piece);
    await writer.close();
  }).body;

async function readAll(reader: JoinedReader): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (let read = await reader.read(); read.value !== undefined; read = await reader.read()) pieces.push(read.value);
  return pieces;
}

/** A clock on which each read takes this long. */
function clockWithGaps(gapMs: number) {
  let now = 0;
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    await otherTasks();
  };
  const read = (): number => {
    now += gapMs;
    return now;
  };
  return { waits, clock: { now: read, sleep } };
}

describe('a joined reader', () => {
  it('returns the bytes of the stream, in far fewer pieces', async () => {
    const pieces = await readAll(createJoinedReader(writeAll(events), clockWithGaps(0).clock));
    expect(joinBytes(pieces)).toEqual(joinBytes(events));
    expect(pieces.length).toBeLessThan(events.length / 4);
  });

  it('returns the bytes of a large stream, of an empty one, and of one made in JavaScript', async () => {
    const large = Array.from({ length: 40 }, (_, index) => new Uint8Array(50_001).fill(index));
    expect(joinBytes(await readAll(createJoinedReader(writeAll(large), systemClock)))).toEqual(joinBytes(large));
    expect(await readAll(createJoinedReader(writeAll([]), systemClock))).toEqual([]);
    const made = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of events) controller.enqueue(piece);
        controller.close();
      },
    });
    expect(await readAll(createJoinedReader(made, systemClock))).toEqual(events);
  });

  it('returns an event while the next one is still to come', async () => {
    let sendNext = (): void => undefined;
    const { body } = bodyOf(async (writer) => {
      for (const piece of events.slice(0, 3)) {
        const next = new Promise<void>((resolve) => {
          sendNext = resolve;
        });
        await writer.write(piece);
        await next;
      }
      await writer.close();
    });
    const reader = createJoinedReader(body, systemClock);
    for (const piece of events.slice(0, 3)) {
      expect((await reader.read()).value).toEqual(piece);
      sendNext();
    }
    expect((await reader.read()).done).toBe(true);
  });

  it('collects events that come in a burst', async () => {
    const { waits, clock } = clockWithGaps(0);
    const pieces = await readAll(createJoinedReader(writeAll(events), clock));
    expect(joinBytes(pieces)).toEqual(joinBytes(events));
    expect(pieces.length).toBeLessThan(events.length / 4);
    expect(waits.slice(0, 2)).toEqual([2, 4]);
  });

  it('reads a stream at a model’s pace, and a short one, without a pump', async () => {
    const tee = vi.spyOn(ReadableStream.prototype, 'tee');
    const { waits, clock } = clockWithGaps(8);
    expect(await readAll(createJoinedReader(writeAll(events), clock))).toEqual(events);
    expect(await readAll(createJoinedReader(writeAll(events.slice(0, 4)), systemClock))).toEqual(events.slice(0, 4));
    expect(tee).not.toHaveBeenCalled();
    expect(waits).toEqual([]);
  });

  it('throws how the stream broke off', async () => {
    const { body } = bodyOf(async (writer) => {
      for (const piece of events.slice(0, 50)) await writer.write(piece);
      await writer.abort(new Error('the connection is gone'));
    });
    await expect(readAll(createJoinedReader(body, systemClock))).rejects.toThrow('the connection is gone');
  });

  it('pumps only a bounded part ahead of its reader', async () => {
    let sent = 0;
    const { body } = bodyOf(async (writer) => {
      for (const piece of events.slice(0, 40)) await writer.write(piece);
      for (; sent < 10_000_000; sent += 10_000) await writer.write(new Uint8Array(10_000));
      await writer.close();
    });
    const reader = createJoinedReader(body, clockWithGaps(0).clock);
    let received = 0;
    for (let reads = 0; reads < 30; reads += 1) received += (await reader.read()).value?.byteLength ?? 0;
    await vi.waitFor(() => expect(sent).toBeGreaterThan(200_000));
    await otherTasks(50);
    const ahead = sent;
    expect(ahead - received).toBeLessThan(400_000);
    await otherTasks(50);
    expect(sent).toBe(ahead);
    received += joinBytes(await readAll(reader)).byteLength;
    expect(received).toBe(10_000_000 + joinBytes(events.slice(0, 40)).byteLength);
  });

  it('ends the source when it is cancelled, also while it waits', async () => {
    const { body, written } = bodyOf(async (writer) => {
      for (;;) {
        await writer.write(event(1));
        await otherTasks();
      }
    });
    const reader = createJoinedReader(body, systemClock);
    await reader.read();
    const waiting = reader.read().catch(() => undefined);
    await reader.cancel(new Error('the client has gone'));
    await waiting;
    await expect(written).rejects.toThrow();
    expect((await reader.read()).done).toBe(true);
  });
});

/** A stream that is late, or silent in between, is not given up by its client: it carries heartbeats of the client's API. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { Problem } from '../../../src/core/problem.ts';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { joinWrites } from '../../../src/engine/joined-stream.ts';
import { openInTime } from '../../../src/engine/proxy/open-in-time.ts';
import { fakeClock } from '../../fakes/runtime.ts';

const toProblem = (error: unknown): Problem => error as Problem;
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

describe('an answer to a request for a stream', () => {
  it('keeps its status and headers if it comes in time', async () => {
    const clock = fakeClock();
    const answer = openInTime(Promise.resolve(new Response('x', { status: 201, headers: { 'x-a': 'b' } })), {
      dialect: openAiChat,
      clock,
      toProblem,
    });
    expect([(await answer).status, (await answer).headers.get('x-a'), await (await answer).text()]).toEqual([201, 'b', 'x']);
    const refused = openInTime(Promise.reject(new Problem('unavailable', 'Down.')), { dialect: openAiChat, clock, toProblem });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('begins with heartbeats if it is late, and goes on with the answer', async () => {
    const clock = fakeClock();
    const { promise, resolve } = Promise.withResolvers<Response>();
    const opened = openInTime(promise, { dialect: anthropicMessages, clock, toProblem });
    await clock.advance(limits.heartbeatMs);
    const reader = (await opened).body?.getReader();
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    expect(textOf((await reader?.read())?.value)).toBe(ping);
    await clock.advance(limits.heartbeatMs);
    expect(textOf((await reader?.read())?.value)).toBe(ping);
    resolve(new Response('data: {}\n\n'));
    expect(textOf((await reader?.read())?.value)).toBe('data: {}\n\n');
    expect((await reader?.read())?.done).toBe(true);
  });

  it('ends with an error of the client’s API if it fails late', async () => {
    const clock = fakeClock();
    const { promise, reject } = Promise.withResolvers<Response>();
    const opened = openInTime(promise, { dialect: openAiChat, clock, toProblem });
    await clock.advance(limits.heartbeatMs);
    const answer = await opened;
    reject(new Problem('unavailable', 'Down.'));
    expect(await answer.text()).toMatch(/^: heartbeat\n\ndata: \{"error":.*Down\..*\n\ndata: \[DONE\]\n\n$/);
  });
});

describe('a joined stream', () => {
  it('writes heartbeats between messages, and never inside of one', async () => {
    const clock = fakeClock();
    const pieces: PromiseWithResolvers<string | null>[] = [];
    const stream = joinWrites<string | null, string>(
      {
        heartbeat: ': heartbeat\n\n',
        next() {
          const piece = Promise.withResolvers<string | null>();
          pieces.push(piece);
          return piece.promise;
        },
        piece: (read) => read,
        join: (texts) => new TextEncoder().encode(texts.join('')),
        end: () => new Uint8Array(0),
        cancel: () => undefined,
      },
      clock,
    );
    const reader = stream.getReader();
    pieces[0]?.resolve('data: half');
    expect(textOf((await reader.read()).value)).toBe('data: half');
    await clock.advance(limits.heartbeatMs);
    pieces[1]?.resolve(' and half\n\n');
    await clock.advance(5);
    expect(textOf((await reader.read()).value)).toBe(' and half\n\n');
    await clock.advance(limits.heartbeatMs);
    expect(textOf((await reader.read()).value)).toBe(': heartbeat\n\n');
    pieces[2]?.resolve(null);
    expect((await reader.read()).done).toBe(true);
  });
});

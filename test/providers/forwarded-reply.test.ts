/** Which replies of a provider are read before they are forwarded. */
import { expect, it } from 'vitest';
import { startReply } from '../../src/providers/passed/reply-start.ts';
import { noMeter } from '../../src/engine/proxy/call-meter.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { waitFor } from '../wait-for.ts';
import { type Forwarding, forwardBody } from '../../src/providers/passed/forwarded-reply.ts';

const forwarding: Forwarding = {
  access: { name: 'mock', kind: 'openai', baseUrl: 'https://api.openai.com/v1', headers: {} } as unknown as Forwarding['access'],
  meter: noMeter,
  readUsage: undefined,
  clock: systemClock,
};

/** Without a reader of the reply, whatever it says is passed on. */
const forward = async (response: Response) => {
  const { access, clock } = forwarding;
  return await forwardBody(response, await startReply(response, { access, reply: null, firstByteMs: 1_000, clock }), forwarding);
};

const reply = (headers: Record<string, string>): Response =>
  new Response('{"ok":true}', { headers: { 'content-type': 'application/json', ...headers } });

it('reads a short reply at once', async () => {
  expect(await forward(reply({ 'content-length': '11' }))).toEqual(new TextEncoder().encode('{"ok":true}'));
});

it.each([
  ['has no length', {}],
  ['is long', { 'content-length': '5000000' }],
  ['is compressed, so that it may become long', { 'content-length': '11', 'content-encoding': 'gzip' }],
  ['is chunked, so that its length may be wrong', { 'content-length': '11', 'transfer-encoding': 'chunked' }],
])('passes on as a stream what %s', async (_what, headers) => {
  const body = await forward(reply(headers));
  expect(body).toBeInstanceOf(ReadableStream);
  expect(await new Response(body).text()).toBe('{"ok":true}');
});

it('sends a heartbeat whenever a stream is silent, also after its first tokens', async () => {
  const clock = fakeClock();
  const source = new TransformStream<Uint8Array, Uint8Array>();
  const writer = source.writable.getWriter();
  const event = 'data: {"choices":[{"delta":{"content":"one"}}]}\n\n';
  const response = new Response(source.readable, { headers: { 'content-type': 'text/event-stream' } });
  const started = await startReply(response, { access: forwarding.access, reply: null, firstByteMs: 1_000, clock });
  const body = await forwardBody(response, started, { ...forwarding, clock, heartbeat: ': heartbeat\n\n' });
  let text = '';
  const passed = (body as ReadableStream<Uint8Array>).pipeTo(
    new WritableStream({
      write: (bytes) => {
        text += new TextDecoder().decode(bytes);
      },
    }),
  );
  for (const beats of [1, 2]) {
    await writer.write(new TextEncoder().encode(event));
    await waitFor(() => expect(text.split(event)).toHaveLength(beats + 1));
    await clock.advance(limits.heartbeatMs);
    await waitFor(() => expect(text.split(': heartbeat\n\n')).toHaveLength(beats + 1));
  }
  await writer.close();
  await passed;
  expect(text.replaceAll(': heartbeat\n\n', '')).toBe(event.repeat(2));
});

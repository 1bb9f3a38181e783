/** Native streams that break anywhere, also with a kill of the service: the resumed stream equals the uncut one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { waitMs } from '../busy-machine.ts';
import { waitFor } from '../wait-for.ts';

const dataDir = makeDataDir();
let service: RunningService;
let session: string;
/** The first turn's events, from its own stream. */
let uncut: Uint8Array;

beforeAll(async () => {
  service = await startService(dataDir);
  session = (await service.call('POST', '/v1/sessions', { agent: 'demo' })).json.id;
  const input = '/shell echo "grüße 👋"\n/shell echo two\n\n/shell seq 1 200';
  const answer = await service.call('POST', `/v1/sessions/${session}/turns`, { input }, { accept: 'text/event-stream' });
  uncut = new TextEncoder().encode(answer.text);
});

afterAll(async () => {
  await service?.stop();
  removeDataDir(dataDir);
});

/** Reads at most `length` bytes of `…/events` after an event, then drops the connection. */
async function read(after: number, length: number): Promise<Uint8Array> {
  if (length <= 0) return new Uint8Array(0);
  const left = new AbortController();
  const answer = await fetch(`${service.url}/v1/sessions/${session}/events`, {
    headers: { authorization: `Bearer ${service.key}`, ...(after > 0 && { 'last-event-id': String(after) }) },
    signal: AbortSignal.any([left.signal, AbortSignal.timeout(waitMs)]),
  });
  const bytes = new Uint8Array(length);
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    const part = chunk.subarray(0, length - size);
    bytes.set(part, size);
    size += part.byteLength;
    if (size === length) break;
  }
  left.abort();
  return bytes.subarray(0, size);
}

/** The part of a broken stream that a client can use: complete events, and the number of the last one. */
function kept(bytes: Uint8Array): { bytes: Uint8Array; last: number } {
  const end = Buffer.from(bytes).lastIndexOf('\n\n');
  const whole = bytes.subarray(0, end === -1 ? 0 : end + 2);
  const ids = [...new TextDecoder().decode(whole).matchAll(/^id: (\d+)$/gm)];
  return { bytes: whole, last: Number(ids.at(-1)?.[1] ?? 0) };
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

describe('a stream of events', () => {
  it('cut at 200 random bytes and resumed equals the uncut one, byte for byte', async () => {
    expect(uncut.byteLength).toBeGreaterThan(2_000);
    for (let cuts = 0; cuts < 200; cuts += 1) {
      const at = Math.floor(Math.random() * (uncut.byteLength + 1));
      const first = kept(await read(0, at));
      const rest = await read(first.last, uncut.byteLength - first.bytes.byteLength);
      expect(same(Buffer.concat([first.bytes, rest]), uncut), `cut at byte ${at}`).toBe(true);
    }
  });

  it('has the same bytes after a kill of the service', async () => {
    await service.stop('SIGKILL');
    service = await startService(dataDir);
    expect(same(await read(0, uncut.byteLength), uncut)).toBe(true);
    const middle = kept(uncut.subarray(0, uncut.byteLength / 2));
    expect(same(Buffer.concat([middle.bytes, await read(middle.last, uncut.byteLength - middle.bytes.byteLength)]), uncut)).toBe(true);
  });
});

describe('requests queued after a turn that waits for an approval', () => {
  it('report what the turn waits for instead of hanging, and run after the decision', async () => {
    await service.call('PUT', '/v1/toolsets/asking', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
    const id = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'asking' })).json.id;
    const say = (input: string, headers?: Record<string, string>) => service.call('POST', `/v1/sessions/${id}/turns`, { input }, headers);
    const { callId } = (await say('/shell echo first')).json.pending[0];
    const plain = (await say('second')).json;
    expect(plain).toMatchObject({ status: 'waiting', reason: 'queued', pending: [{ callId, kind: 'approval' }] });
    const streamed = await say('third', { accept: 'text/event-stream' });
    expect(streamed.text.match(/^event: .*$/gm)?.at(-1)).toBe('event: approval-required');
    expect(streamed.text).toContain(callId);
    const stored = await say('fourth', { prefer: 'respond-async' });
    expect([stored.status, stored.json.position]).toEqual([202, 3]);
    expect((await service.call('GET', `/v1/sessions/${id}`)).json).toMatchObject({ queued: 3 });
    await service.call('POST', `/v1/sessions/${id}/approvals/${callId}`, { decision: 'approve' });
    await waitFor(async () => {
      const { turn, queued } = (await service.call('GET', `/v1/sessions/${id}`)).json;
      expect([turn.id, turn.status, queued]).toEqual([stored.json.turn, 'completed', 0]);
    });
    const { items } = (await service.call('GET', `/v1/sessions/${id}/messages`)).json;
    const said = items
      .filter(({ role }: { role: string }) => role === 'user')
      .map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text);
    expect(said).toEqual(['/shell echo first', 'second', 'third', 'fourth']);
  });
});

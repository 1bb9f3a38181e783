import { describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const cuts = 200;
/** Text in several deltas, multi-byte characters, line ends inside JSON, calls of server and client tools. */
const input = '/shell printf "%s\\n" größe 日本語 🎉\n/roll of=zwölf\n/current_time\n\n/shell seq 1 300';
const roll = { type: 'function', function: { name: 'roll', parameters: { type: 'object', properties: { of: { type: 'string' } } } } };

/** Pseudo-random numbers, the same in each run (mulberry32). */
function* randomNumbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

describe('a chat stream that was cut', () => {
  const service = shareService();

  const open = async (path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(service.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${service.key}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return response;
  };
  const bytesOf = async (...request: Parameters<typeof open>): Promise<{ bytes: Buffer; headers: Headers }> => {
    const response = await open(...request);
    return { bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers };
  };
  const pathOf = (headers: Headers): string => `/v1/chat/completions/${headers.get('x-moniker-completion')}`;
  const ask = (messages: object[], headers: Record<string, string>) =>
    bytesOf(
      '/v1/chat/completions',
      { model: 'agent/demo', messages, tools: [roll], stream: true, stream_options: { include_usage: true } },
      headers,
    );

  /** All complete frames that were received, and the id of the last one, as a client would store them. */
  const kept = (received: Buffer): { whole: Buffer; id: string | null } => {
    const end = received.lastIndexOf('\n\n');
    const whole = received.subarray(0, end === -1 ? 0 : end + 2);
    return { whole, id: [...whole.toString('utf8').matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? null };
  };

  /** One request for each frame at which a cut can end: the last test shows that the response is always the same. */
  const resumedAnywhere = async (uncut: Buffer, rest: (id: string | null) => Promise<Buffer>, seed: number): Promise<void> => {
    const numbers = randomNumbers(seed);
    const known = new Map<string | null, Buffer>();
    for (let cut = 0; cut < cuts; cut += 1) {
      const at = Math.floor((numbers.next().value ?? 0) * (uncut.length + 1));
      const { whole, id } = kept(uncut.subarray(0, at));
      const after = known.get(id) ?? (await rest(id));
      known.set(id, after);
      expect(Buffer.concat([whole, after]).equals(uncut), `seed ${seed}, cut at byte ${at}, resumed after ${id}`).toBe(true);
    }
  };

  it('resumes from any byte, also after a kill and restart', async () => {
    const first = await ask([{ role: 'user', content: input }], { 'x-moniker-session': 'new' });
    const session = first.headers.get('x-moniker-session') ?? '';
    const callId = /"id":"(call_[^"]+)"/.exec(first.bytes.toString('utf8'))?.[1];
    const second = await ask([{ role: 'tool', tool_call_id: callId, content: 'elf' }], { 'x-moniker-session': session });
    expect(second.bytes.toString('utf8')).toContain('größe');
    expect(second.bytes.length).toBeGreaterThan(1_000);

    for (const [seed, { bytes, headers }] of [first, second].entries()) {
      const path = pathOf(headers);
      expect(bytes.toString('utf8')).toMatch(/id: \S+\ndata: \[DONE\]\n\n$/);
      const byQuery = async (id: string | null) =>
        (await bytesOf(id === null ? path : `${path}?after=${id}`, undefined, { accept: 'text/event-stream' })).bytes;
      const byHeader = async (id: string | null) => (await bytesOf(path, undefined, { 'last-event-id': id ?? '' })).bytes;
      await resumedAnywhere(bytes, byQuery, seed + 1);
      await service.restart();
      await resumedAnywhere(bytes, byHeader, seed + 101);
      const { json, headers: again } = await service.call('GET', path);
      expect(json).toMatchObject({ id: headers.get('x-moniker-completion'), object: 'chat.completion' });
      for (const name of ['x-moniker-session', 'x-moniker-completion', 'x-moniker-edition'])
        expect(again.get(name)).toBe(headers.get(name));
    }
  });

  it('resumes while the turn runs, wherever the connection broke', async () => {
    const numbers = randomNumbers(7);
    for (let round = 0; round < 10; round += 1) {
      const body = {
        model: 'agent/demo',
        messages: [{ role: 'user', content: '/shell sleep 0.2; seq 1 99\n\n/shell seq 1 200' }],
        stream: true,
      };
      const response = await open('/v1/chat/completions', body);
      const wanted = Math.floor((numbers.next().value ?? 0) * 3_000);
      let received: Buffer = Buffer.alloc(0);
      for await (const piece of response.body ?? []) {
        received = Buffer.concat([received, piece]);
        if (received.length >= wanted) break;
      }
      const { whole, id } = kept(received.subarray(0, wanted));
      const rest = await bytesOf(`${pathOf(response.headers)}${id === null ? '' : `?after=${id}`}`, undefined, {
        accept: 'text/event-stream',
      });
      const uncut = await bytesOf(pathOf(response.headers), undefined, { accept: 'text/event-stream' });
      expect(uncut.bytes.toString('utf8').startsWith(received.toString('utf8'))).toBe(true);
      expect(Buffer.concat([whole, rest.bytes]).equals(uncut.bytes)).toBe(true);
    }
  });

  it('is not found under an unknown id or with another key', async () => {
    const { headers } = await bytesOf('/v1/chat/completions', { model: 'agent/demo', messages: [{ role: 'user', content: 'hi' }] });
    const id = headers.get('x-moniker-completion') ?? '';
    const { json } = await service.call('POST', '/v1/keys', { name: 'other', scopes: ['chat'] });
    for (const [path, key] of [
      [id, json.key],
      [id.replace('chatcmpl-', 'chatcmpl-x'), service.key],
      ['chatcmpl-1', service.key],
    ]) {
      const answer = await service.call('GET', `/v1/chat/completions/${path}`, undefined, { authorization: `Bearer ${key}` });
      expect([answer.status, answer.json.error.code]).toEqual([404, 'not_found']);
    }
    expect((await service.call('GET', `/v1/chat/completions/${id}?after=x`)).status).toBe(422);
  });

  it('is returned again for an Idempotency-Key, with one turn for any number of requests', async () => {
    const body = { model: 'agent/demo', messages: [{ role: 'user', content: '/shell echo once' }], stream: true };
    const named = await service.call('POST', '/v1/sessions', { agent: 'demo' });
    for (const [name, headers] of [
      ['none', {}],
      ['new', { 'x-moniker-session': 'new' }],
      ['named', { 'x-moniker-session': named.json.id }],
    ] as const) {
      const keyed = { ...headers, 'idempotency-key': `key-${name}` };
      const answers = await Promise.all(Array.from({ length: 5 }, () => bytesOf('/v1/chat/completions', body, keyed)));
      await service.restart();
      answers.push(await bytesOf('/v1/chat/completions', body, keyed));
      expect(new Set(answers.map(({ bytes }) => bytes.toString('utf8'))).size).toBe(1);
      expect(new Set(answers.map((answer) => answer.headers.get('x-moniker-session'))).size).toBe(1);
      const other = await service.call('POST', '/v1/chat/completions', { ...body, stream: false }, keyed);
      expect([other.status, other.json.error.code]).toEqual([422, 'idempotency_mismatch']);
      const { json } = await service.call('GET', `/v1/sessions/${answers[0]?.headers.get('x-moniker-session')}/messages`);
      expect(json.items.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(1);
    }
  });
});

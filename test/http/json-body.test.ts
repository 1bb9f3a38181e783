import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import { discardBody, readBytes, readJsonBody } from '../../src/http/json-body.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { discardPauseMs, maxDiscardedBodyBytes, requestBodyTimeoutMs } from '../../src/http/json-body.ts';

function request(body: BodyInit | null, headers: Record<string, string> = { 'content-type': 'application/json' }): Request {
  return new Request('http://moniker.test/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'accepted';
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const parse = (body: BodyInit | null, headers?: Record<string, string>) => readJsonBody(request(body, headers), limits.maxBodyBytes);
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));

describe('a JSON body', () => {
  it.each([
    ['not JSON', 'x'],
    ['empty', ''],
    ['blank', ' \n'],
    ['cut', '{"a":'],
    ['two values', '{}{}'],
    ['a comment', '{/* */}'],
    ['NaN', '{"a":NaN}'],
    ['UTF-16', bytes('fffe7b007d00')],
    ['invalid UTF-8', bytes('7b22c328223a317d')],
    ['1,000 levels deep', `${'['.repeat(1000)}${']'.repeat(1000)}`],
    ['100,000 levels deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['65 levels deep', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ])('is invalid_json when it is %s', async (_what, body) => {
    expect(await codeOf(parse(body))).toBe('invalid_json');
  });

  it('may be 64 levels deep', async () => {
    expect(await codeOf(parse(`${'['.repeat(64)}${']'.repeat(64)}`))).toBe('accepted');
  });

  it.each([
    ['numbers', '1'],
    ['objects', '{}'],
    ['lists', '[1]'],
    ['commas in their texts', '{"a":",,,,"}'],
  ])('is too large with too many values, as %s', async (_what, value) => {
    const list = (length: number) => readJsonBody(request(`[${Array(length).fill(value).join(',')}]`), limits.maxLargeBodyBytes);
    expect(await codeOf(list(limits.maxJsonValues + 1))).toBe('body_too_large');
    expect(await codeOf(list(limits.maxJsonValues / 4))).toBe('accepted');
  });

  it('may begin with a byte order mark', async () => {
    expect((await parse(bytes('efbbbf7b7d'))).value).toEqual({});
  });

  it('uses the last of duplicate keys', async () => {
    expect((await parse('{"a":1,"a":2}')).value).toEqual({ a: 2 });
  });

  it.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=utf-16',
    'multipart/form-data',
  ])('is refused as %s', async (type) => {
    expect(await codeOf(parse(bytes('7b7d'), type === undefined ? {} : { 'content-type': type }))).toBe('unsupported_media_type');
  });

  it.each(['application/json', 'Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"'])(
    'is taken as %s',
    async (type) => {
      expect(await codeOf(parse('{}', { 'content-type': type }))).toBe('accepted');
    },
  );

  it('is rejected with a content encoding', async () => {
    expect(await codeOf(parse('{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }))).toBe('unsupported_media_type');
  });

  it('is accepted with __proto__ in a string and rejected with it as a key, in any escape', async () => {
    expect(await codeOf(parse('{"text":"__proto__"}'))).toBe('accepted');
    expect(await codeOf(parse('{"a":[{"__proto__":{"polluted":true}}]}'))).toBe('invalid_request');
    expect(await codeOf(parse('{"a":[{"\\u005F\\u005fproto__":1}]}'))).toBe('invalid_request');
  });
});

describe('the size limit of a body', () => {
  it('rejects a declared length without reading', async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const asked = request(body, { 'content-length': '100' });
    expect(await codeOf(readBytes(asked, 99))).toBe('body_too_large');
    expect(pulled).toBe(0);
  });

  it('stops reading an endless body soon after the limit', async () => {
    let sent = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1000;
        controller.enqueue(new Uint8Array(1000));
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const asked = request(body, {});
    expect(await codeOf(readBytes(asked, 10_000))).toBe('body_too_large');
    expect(sent).toBeLessThan(20_000);
    await discardBody(asked);
    expect(sent).toBeLessThan(maxDiscardedBodyBytes + 20_000);
    expect(cancelled).toBe(true);
  });

  it('reports a body that breaks off as the client’s error, not an internal one', async () => {
    for (const headers of [{}, { 'content-length': '50' }, { 'content-length': '50000' }] as Record<string, string>[]) {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error('connection lost')) });
      expect(await codeOf(readBytes(request(body, headers), 100_000))).toBe('invalid_json');
    }
  });

  it('lets a rejected client finish, so that it reads the response', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++sent > 300) controller.close();
        else controller.enqueue(new Uint8Array(1000));
      },
    });
    const asked = request(body, {});
    expect(await codeOf(readBytes(asked, 10_000))).toBe('body_too_large');
    await discardBody(asked);
    expect(sent).toBe(301);
  });

  it('does not wait for a rejected client that has stopped, disconnected, or has nothing to send', async () => {
    vi.useFakeTimers();
    try {
      let cancelled = false;
      const stopped = new ReadableStream({
        cancel: () => {
          cancelled = true;
        },
      });
      const discarded = discardBody(request(stopped, {}));
      await vi.advanceTimersByTimeAsync(discardPauseMs);
      await discarded;
      expect(cancelled).toBe(true);
    } finally {
      vi.useRealTimers();
    }
    await discardBody(request(new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) }), {}));
    await discardBody(request(null));
    const read = request('{}');
    await readBytes(read, 10);
    await discardBody(read);
  });

  it('is not read again after the body was read as a whole', async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const read = request(body, { 'content-length': '2' });
    // workerd does not lock a body that was read.
    Object.defineProperty(read, 'bodyUsed', { value: true });
    await discardBody(read);
    expect(pulled).toBe(0);
  });

  it('applies if more arrives than was declared', async () => {
    expect(await codeOf(readBytes(request('x'.repeat(500), { 'content-length': '5' }), 100))).toBe('body_too_large');
  });

  it('accepts exactly the allowed size, in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 })), async (chunks) => {
        const whole = Buffer.concat(chunks);
        const read = await readBytes(request(streamOf(chunks), {}), whole.byteLength);
        expect(Buffer.from(read).equals(whole)).toBe(true);
      }),
    );
  });

  it('ends the wait for a body that does not arrive', async () => {
    vi.useFakeTimers();
    try {
      const waiting = codeOf(readBytes(request(new ReadableStream({}), {}), 100));
      await vi.advanceTimersByTimeAsync(requestBodyTimeoutMs);
      expect(await waiting).toBe('invalid_json');
    } finally {
      vi.useRealTimers();
    }
  });
});

describeCorpus('security/json-test-suite.jsonl', (path) => {
  type Row = {
    name: string;
    expect: 'accept' | 'reject' | 'either' | 'transform';
    text?: string;
    base64?: string;
    repeat?: { s: string; n: number; close?: string };
  };
  const bodyOf = ({ text, base64, repeat }: Row): BodyInit => {
    if (base64 !== undefined) return Buffer.from(base64, 'base64');
    return text ?? (repeat ? repeat.s.repeat(repeat.n) + (repeat.close ?? '').repeat(repeat.n) : '');
  };

  it('is accepted and rejected as the suite expects', async () => {
    for (const row of readJsonLines<Row>(path)) {
      const code = await codeOf(parse(bodyOf(row)));
      const verdict = code === 'accepted' ? 'accept' : code === 'invalid_json' ? 'reject' : code;
      // One of our rules is stricter than the grammar: nesting.
      const allowed =
        row.expect === 'either' || row.expect === 'transform'
          ? ['accept', 'reject']
          : row.name.includes('structure_500_nested')
            ? ['reject']
            : [row.expect];
      expect(allowed, row.name).toContain(verdict);
    }
  });
});

describeCorpus('security/json-hostile.jsonl', (path) => {
  type Row = { id: string; class: string; text: unknown };
  const rows = readJsonLines<Row>(path).filter((row) => row.class === 'prototype' && typeof row.text === 'string');

  it.each(rows.map((row) => [row.id, row.text as string] as const))('%s changes no prototype', async (_id, text) => {
    const code = await codeOf(parse(text));
    expect(['accepted', 'invalid_request']).toContain(code);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    if (code === 'invalid_request') return;
    expect(Object.getPrototypeOf((await parse(text)).value as object)).toBe(
      Array.isArray((await parse(text)).value) ? Array.prototype : Object.prototype,
    );
  });
});

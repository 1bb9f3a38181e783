import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser, type SseMessage } from '../../src/net/sse.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';

const utf8 = new TextEncoder();

function read(text: string | Uint8Array, size = Number.POSITIVE_INFINITY): SseMessage[] {
  const bytes = typeof text === 'string' ? utf8.encode(text) : text;
  const parser = new SseParser();
  const messages: SseMessage[] = [];
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length))
    messages.push(...parser.push(bytes.subarray(at, at + Math.min(size, bytes.length))));
  return [...messages, ...parser.end()];
}

const data = (messages: SseMessage[]) => messages.map((message) => message.data);

describe('an event stream', () => {
  it.each([
    ['one line', 'data: a\n\n', ['a']],
    ['no space after the colon', 'data:a\n\n', ['a']],
    ['one space taken, the next kept', 'data:  a\n\n', [' a']],
    ['lines joined', 'data: a\ndata: b\n\n', ['a\nb']],
    ['CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['lone CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['comments and unknown fields', ': hi\nfoo: bar\ndata: a\n\n: end\n\n', ['a']],
    ['a line that begins with a space is no data', ' data: a\n\ndata: b\n\n', ['b']],
    ['data without a colon', 'data\n\n', ['']],
    ['an event without data', 'event: x\n\ndata: a\n\n', ['a']],
    ['text beyond ASCII', 'data: 東京 ☃ 😀\n\n', ['東京 ☃ 😀']],
    ['no blank line at the end', 'data: a\n\ndata: b', ['a', 'b']],
  ])('reads %s', (_what, text, expected) => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 2, 3]) expect(data(read(text, size)), `by ${size}`).toEqual(expected);
  });

  it('knows how long to wait before the stream is requested again', () => {
    const parser = new SseParser();
    for (const [text, retryMs] of [
      ['data: a\n\n', undefined],
      ['retry: 250\n\n', 250],
      ['retry: soon\n\nretry: -1\n\n', 250],
    ] as const) {
      parser.push(utf8.encode(text));
      expect(parser.retryMs).toBe(retryMs);
    }
  });

  it('returns event names, persistent ids and the error field', () => {
    expect(read('event: error\nid: 7\ndata: a\n\ndata: b\n\nerror: {"m":1}\n\n')).toEqual([
      { event: 'error', data: 'a', id: '7' },
      { event: 'message', data: 'b', id: '7' },
      { event: 'message', data: '', id: '7', error: '{"m":1}' },
    ]);
    expect(read('id: a\0b\ndata: x\n\n')).toEqual([{ event: 'message', data: 'x' }]);
  });

  it('returns a bare JSON object as an error, as Vertex AI sends it', () => {
    const bare = '{\r\n  "error": {\r\n    "code": 499\r\n  }\r\n}\r\n';
    for (const end of ['', '\r\n'])
      for (const size of [Number.POSITIVE_INFINITY, 1, 3])
        expect(read(`data: a\r\n\r\n${bare}${end}`, size)).toEqual([
          { event: 'message', data: 'a' },
          { event: 'message', data: '', error: '{\n  "error": {\n    "code": 499\n  }\n}' },
        ]);
    expect(data(read('data: a\n{"not": "a field"}\n\n{"b": 1}\n\ndata: c\n\n'))).toEqual(['a', '', 'c']);
    expect(() => new SseParser(1000).push(utf8.encode(`${'{\n'.repeat(1000)}`))).toThrow(/larger than 1000 bytes/);
  });

  it('rejects a line, and a message, without an end', () => {
    const line = new SseParser(1000);
    expect(() => {
      for (let at = 0; at < 200; at++) line.push(utf8.encode('data: aaaa'));
    }).toThrow(/larger than 1000 bytes/);
    const message = new SseParser(1000);
    expect(() => {
      for (let at = 0; at < 1000; at++) message.push(utf8.encode('data: a\n'));
    }).toThrow(/larger than 1000 bytes/);
  });

  it('returns the same messages for any chunking', () => {
    const part = fc.constantFrom(
      'data: ',
      'data:',
      'event: x',
      'id: 1',
      ':',
      '\n',
      '\r\n',
      '\r',
      '\n\n',
      'é',
      '😀',
      '{"a":1}',
      ' ',
      'error: x',
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
        (parts, sizes) => {
          const bytes = utf8.encode(parts.join(''));
          const parser = new SseParser();
          const cut: SseMessage[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            cut.push(...parser.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect([...cut, ...parser.end()]).toEqual(read(bytes));
        },
      ),
    );
  });
});

describeCorpus('security/sse.jsonl', (path) => {
  type Row = { id: string; class: string; message: { event?: string; id?: string; data: string }; received: { data: string } };
  const rows = readJsonLines<Row>(path).filter((row) => row.class === 'data');

  it.each(rows.map((row) => [row.id, row] as const))('%s is read as exactly one event', (_id, row) => {
    const frame = `${row.message.data
      .split(/\r\n|\r|\n/)
      .map((line) => `data: ${line}\n`)
      .join('')}\n`;
    for (const size of [Number.POSITIVE_INFINITY, 1]) expect(data(read(frame, size))).toEqual([row.received.data]);
  });
});

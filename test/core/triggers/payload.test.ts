import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { Problem } from '../../../src/core/problem.ts';
import { parsePayload } from '../../../src/core/triggers/payload.ts';

function read(body: string | Uint8Array, contentType: string | null = null, contentEncoding: string | null = null) {
  return parsePayload(typeof body === 'string' ? new TextEncoder().encode(body) : body, { contentType, contentEncoding });
}

function refusalOf(work: () => unknown): { code: string; detail: string } | null {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, detail: error.detail };
    throw error;
  }
  return null;
}

describe('JSON', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/cloudevents+json',
    'text/json',
    'application/json; charset=us-ascii',
  ])('is parsed under %s', (type) => {
    expect(read('{"a":[1,null]}', type)).toEqual({ text: '{"a":[1,null]}', value: { a: [1, null] }, isJson: true });
  });

  it('may be any value if declared, and an object or a list if not', () => {
    expect(read('42', 'application/json')).toEqual({ text: '42', value: 42, isJson: true });
    for (const type of [null, '', 'text/plain', 'text/plain;charset=UTF-8', 'application/octet-stream']) {
      expect(read(' {"a":1}', type)).toEqual({ text: ' {"a":1}', value: { a: 1 }, isJson: true });
      expect(read('[1]', type).value).toEqual([1]);
      expect(read('42', type)).toEqual({ text: '42', value: '42', isJson: false });
    }
  });

  it('that is invalid is rejected if declared, and otherwise text', () => {
    expect(refusalOf(() => read('Hello, World!', 'application/json'))?.code).toBe('invalid_json');
    expect(read('Hello, World!')).toEqual({ text: 'Hello, World!', value: 'Hello, World!', isJson: false });
    expect(read('{"a":', 'text/plain').value).toBe('{"a":');
  });

  it('is bounded in depth and in values, and holds no `__proto__`', () => {
    const deep = '['.repeat(limits.maxJsonDepth + 1) + ']'.repeat(limits.maxJsonDepth + 1);
    const many = `[${'0,'.repeat(limits.maxJsonValues)}0]`;
    const proto = '{"a":{"__proto__":{"b":1}}}';
    expect(refusalOf(() => read(deep, 'application/json'))?.code).toBe('invalid_json');
    expect(refusalOf(() => read(many, 'application/json'))?.code).toBe('body_too_large');
    expect(refusalOf(() => read(proto, 'application/json'))).toEqual({
      code: 'invalid_request',
      detail: 'a.__proto__: this key is not allowed',
    });
    for (const text of [deep, many, proto]) expect(read(text)).toMatchObject({ value: text, isJson: false });
  });

  it('uses the last of two members with one name', () => {
    expect(read('{"a":1,"a":2}', 'application/json').value).toEqual({ a: 2 });
  });

  it('may begin with a byte order mark, which is not part of the text', () => {
    expect(read('\ufeff{"a":1}', 'application/json')).toEqual({ text: '{"a":1}', value: { a: 1 }, isJson: true });
  });

  it('of any value is parsed to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), (value) => {
        if (JSON.stringify(value).includes('__proto__')) return;
        expect(JSON.stringify(read(JSON.stringify(value), 'application/json').value)).toBe(JSON.stringify(value));
      }),
    );
  });
});

describe('a form', () => {
  const form = 'application/x-www-form-urlencoded';

  it('is parsed to its decoded fields; of several with one name the last', () => {
    expect(read('command=%2Fhello&text=a+b%C3%A4&text=c&empty=', form)).toEqual({
      text: 'command=%2Fhello&text=a+b%C3%A4&text=c&empty=',
      value: { command: '/hello', text: 'c', empty: '' },
      isJson: false,
    });
  });

  it('with an object in its field `payload` is that object', () => {
    expect(read('payload=%7B%22zen%22%3A%22ok%22%7D', form).value).toEqual({ zen: 'ok' });
  });

  it.each(['payload=hello', 'payload=%5B1%5D', 'payload=%7B', 'payload=%7B%22__proto__%22%3A1%7D'])(
    'stays its fields with `%s`',
    (body) => {
      expect(read(body, form).value).toEqual({ payload: new URLSearchParams(body).get('payload') });
    },
  );

  it('with a field `__proto__` is refused', () => {
    expect(refusalOf(() => read('a=1&__proto__=2', form))?.code).toBe('invalid_request');
    expect(refusalOf(() => read('a=1&%5F_proto__=2', form))?.code).toBe('invalid_request');
  });

  it('with more fields than a body may have values is rejected', () => {
    expect(refusalOf(() => read('&'.repeat(limits.maxJsonValues + 1), form))?.code).toBe('body_too_large');
  });
});

describe('parsing a payload', () => {
  it.each([
    'multipart/form-data; boundary=x',
    'Multipart/Mixed',
    'application/json, text/plain',
    'multipart/form-data, application/json',
    'json',
    'application/',
  ])('rejects a body of type %s', (type) => {
    expect(refusalOf(() => read('{}', type))?.code).toBe('unsupported_media_type');
  });

  it.each([
    'application/json; charset=iso-8859-1',
    'text/plain; charset=utf-16',
    'application/json; charset = "windows-1252"',
    'application/json; charset=',
  ])('rejects a body of another charset: %s', (type) => {
    expect(refusalOf(() => read('{}', type))).toEqual({ code: 'unsupported_media_type', detail: 'Send the body as UTF-8.' });
  });

  it.each(['gzip', 'br', 'identity, gzip', 'x'])('rejects a body with content-encoding %s', (encoding) => {
    expect(refusalOf(() => read('{}', 'application/json', encoding))).toEqual({
      code: 'unsupported_media_type',
      detail: 'Send the body uncompressed: content-encoding is not supported.',
    });
  });

  it('rejects a body that is not UTF-8, for any type', () => {
    const latin = new Uint8Array([0x22, 0xe4, 0x22]);
    for (const type of [null, 'application/json', 'text/plain', 'application/octet-stream'])
      expect(refusalOf(() => read(latin, type))).toEqual({ code: 'invalid_json', detail: 'The body is not valid UTF-8.' });
  });

  it('lets `identity` and an empty encoding pass', () => {
    expect(read('{}', 'application/json', 'identity').value).toEqual({});
    expect(read('{}', 'application/json', '').value).toEqual({});
  });
});

describe('an empty body', () => {
  it.each([null, 'application/json', 'application/x-www-form-urlencoded', 'text/plain'])('is empty text under %s', (type) => {
    expect(read('', type)).toEqual({ text: '', value: '', isJson: false });
  });
});

it('only fails with a problem, for any bytes and headers', () => {
  const header = fc.option(
    fc.oneof(fc.string(), fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain; charset=utf-8', 'gzip')),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), header, header, (body, type, encoding) => {
      const refusal = refusalOf(() => read(body, type, encoding));
      if (refusal !== null) expect(['unsupported_media_type', 'invalid_json', 'invalid_request', 'body_too_large']).toContain(refusal.code);
    }),
  );
});

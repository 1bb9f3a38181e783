/** Arguments in URLs, headers and cookies: each style of the specification, and no argument that leads to another path. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cookieText, headerText, pathSegment, queryPairs, requestUrl } from '../../../src/core/openapi/request-url.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { OperationParameter } from '../../../src/core/tools/server-operation.ts';
import { runs } from '../../selection.ts';

function parameter(given: Partial<OperationParameter> = {}): OperationParameter {
  return { argument: 'color', name: 'color', in: 'path', style: 'simple', explode: false, ...given };
}

const list = ['blue', 'black', 'brown'];
const fields = { R: 100, G: 200, B: 150 };

/** OpenAPI 3.1.1, "Style Examples", with unencoded delimiters. */
describe('a parameter in a path', () => {
  it.each([
    ['matrix', false, ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
    ['matrix', true, ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
    ['label', false, '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
    ['label', true, '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
    ['simple', false, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
    ['simple', true, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ] as const)('is written in the style %s, exploded: %s', (style, explode, one, many, object) => {
    const how = parameter({ style, explode });
    expect([pathSegment(how, 'blue'), pathSegment(how, list), pathSegment(how, fields)]).toEqual([one, many, object]);
  });

  it('encodes everything but unreserved characters', () => {
    expect(pathSegment(parameter(), 'a b/c?d#e%2F,ü')).toBe('a%20b%2Fc%3Fd%23e%252F%2C%C3%BC');
    expect(pathSegment(parameter(), "!'()*;=:@&+$\ud800")).toBe('%21%27%28%29%2A%3B%3D%3A%40%26%2B%24%EF%BF%BD');
    expect(pathSegment(parameter({ isJson: true }), { a: [1] })).toBe('%7B%22a%22%3A%5B1%5D%7D');
  });

  it.each(['', '.', '..', '../x', 'a/../b', '..\\x', 'a\nb', 'a\u0000', '\u007f', [], {}, [''], ['a', '..'], { '..': 1 }, { a: '' }])(
    'is never %j',
    (value) => {
      expect(() => pathSegment(parameter(), value)).toThrow(Problem);
    },
  );
});

describe('a parameter in a query', () => {
  it.each([
    ['form', true, ['color=blue'], ['color=blue', 'color=black', 'color=brown'], ['R=100', 'G=200', 'B=150']],
    ['form', false, ['color=blue'], ['color=blue,black,brown'], ['color=R,100,G,200,B,150']],
    ['spaceDelimited', false, ['color=blue'], ['color=blue%20black%20brown'], ['color=R%20100%20G%20200%20B%20150']],
    ['pipeDelimited', false, ['color=blue'], ['color=blue%7Cblack%7Cbrown'], ['color=R%7C100%7CG%7C200%7CB%7C150']],
    [
      'deepObject',
      true,
      ['color=blue'],
      ['color%5B0%5D=blue', 'color%5B1%5D=black', 'color%5B2%5D=brown'],
      ['color%5BR%5D=100', 'color%5BG%5D=200', 'color%5BB%5D=150'],
    ],
  ] as const)('is written in the style %s, exploded: %s', (style, explode, one, many, object) => {
    const how = parameter({ in: 'query', style, explode });
    expect([queryPairs(how, 'blue'), queryPairs(how, list), queryPairs(how, fields)]).toEqual([one, many, object]);
  });

  it('may be empty, an empty list, nested, or JSON', () => {
    const how = parameter({ in: 'query', style: 'form', explode: true });
    expect([queryPairs(how, ''), queryPairs(how, []), queryPairs(how, false), queryPairs(how, [null, { a: 1 }])]).toEqual([
      ['color='],
      [],
      ['color=false'],
      ['color=', 'color=%7B%22a%22%3A1%7D'],
    ]);
    expect(queryPairs({ ...how, style: 'deepObject' }, { a: { b: [1] } })).toEqual(['color%5Ba%5D%5Bb%5D%5B0%5D=1']);
    expect(queryPairs({ ...how, isJson: true }, ['&'])).toEqual(['color=%5B%22%26%22%5D']);
  });
});

describe('a parameter in a header or cookie', () => {
  it('is serialized to one line', () => {
    const how = parameter({ in: 'header' });
    expect([headerText(how, 'a b'), headerText(how, list), headerText(how, fields), headerText({ ...how, explode: true }, fields)]).toEqual(
      [...['a b', 'blue,black,brown', 'R,100,G,200,B,150', 'R=100,G=200,B=150']],
    );
    for (const value of ['a\r\nset-cookie: x', 'a\nb', '\u0000', '☃', ['a', 'b\n']])
      expect(() => headerText(how, value)).toThrow(/color: contains a line break/);
    expect(cookieText(how, 'a; b=c\r\n☃')).toBe('color=a%3B%20b%3Dc%0D%0A%E2%98%83');
  });
});

describe('a URL', () => {
  const base = 'https://api.example.com/v1/';
  const of = (path: string, args: Record<string, unknown>, parameters = [parameter()]) => requestUrl({ path, parameters }, base, args).href;

  it('consists of base, path and query', () => {
    const query = parameter({ argument: 'page', name: 'page', in: 'query', style: 'form', explode: true });
    expect(of('/a b/{color}.json', { color: 'x', page: 2 }, [parameter(), query])).toBe('https://api.example.com/v1/a%20b/x.json?page=2');
    expect(of('/{color}', { color: 'x', page: null }, [parameter(), query])).toBe('https://api.example.com/v1/x');
    expect(of('//evil.example/{color}', { color: 'x' })).toBe('https://api.example.com/v1//evil.example/x');
  });

  it('is none without what its path needs, where parts make "..", or too long', () => {
    expect(() => of('/{color}', {})).toThrow(/color: is required/);
    expect(() => of('/{color}', { color: null })).toThrow(/color: is required/);
    expect(() => of('/{other}', { color: 'x' })).toThrow(/cannot be built/);
    for (const path of ['/a{color}', '/.{color}/b', '/%2e{color}']) {
      const how = [parameter({ style: 'label' })];
      expect(path === '/a{color}' ? of(path, { color: 'x' }, how) : '').toMatch(path === '/a{color}' ? /a\.x$/ : /^$/);
    }
    const two = [parameter({ argument: 'a', name: 'a' }), parameter({ argument: 'b', name: 'b', style: 'label' })];
    expect(() => of('/.{a}', { a: '.' }, two)).toThrow(Problem);
    expect(() => of('/{b}', { b: '.' }, two)).toThrow(Problem);
    expect(() => of('/{color}', { color: 'x'.repeat(9_000) })).toThrow(/at most 8192/);
  });

  it('stays on its origin, below its base, with as many segments as its path, for any arguments', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('..', '../..', '//evil.example', '@evil.example', '%2e%2e', '\\', ':80', '?', '#', '.'),
    );
    const value = fc.oneof(
      text,
      fc.array(text, { maxLength: 3 }),
      fc.dictionary(text, text, { maxKeys: 3 }),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const path = fc.array(fc.constantFrom('a', '{x}', '{y}', 'b.{x}', '{x}{y}', '.{y}', '%2e{x}', '', 'ü b', '{'), {
      minLength: 1,
      maxLength: 5,
    });
    const how = fc.record({ style: fc.constantFrom<OperationParameter['style']>('simple', 'label', 'matrix'), explode: fc.boolean() });
    fc.assert(
      fc.property(path, how, value, value, value, (segments, style, x, y, q) => {
        const template = `/${segments.join('/')}`;
        const parameters: OperationParameter[] = [
          { ...parameter({ argument: 'x', name: 'x' }), ...style },
          { ...parameter({ argument: 'y', name: 'y' }), ...style },
          parameter({ argument: 'q', name: 'q', in: 'query', style: 'deepObject', explode: true }),
        ];
        let url: URL;
        try {
          url = requestUrl({ path: template, parameters }, 'https://api.example.com/v1', { x, y, q });
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
          return;
        }
        const sent = new URL(url.href);
        expect([sent.origin, sent.username, sent.hash]).toEqual(['https://api.example.com', '', '']);
        expect(sent.pathname.startsWith('/v1/')).toBe(true);
        expect(sent.pathname.split('/')).toHaveLength(2 + segments.length);
        // Not even after a server has decoded it.
        const decoded = decodeURIComponent(sent.pathname).split(/[\\/]/);
        expect(decoded.filter((piece) => piece === '..')).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });
});

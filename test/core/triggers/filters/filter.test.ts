import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseFilter } from '../../../../src/core/triggers/filters/filter.ts';
import { maxFilterItems, maxFilterParts } from '../../../../src/core/triggers/filters/filter.ts';
import { runs } from '../../../selection.ts';

const answer = (text: string, payload: unknown, own: Record<string, unknown> = {}): { matches: boolean; fault: string | null } => {
  const parsed = parseFilter(text, 'filter');
  if ('issue' in parsed) throw new Error(parsed.issue.message);
  return parsed.filter({ payload, own: { event: 'issues', headers: { 'x-kind': 'a' }, ...own } });
};
const fault = (text: string): string => {
  const parsed = parseFilter(text, 'filter');
  return 'issue' in parsed ? parsed.issue.message : 'no fault';
};

const payload = {
  action: 'opened',
  number: 42,
  ratio: 1.5,
  id: 9007199254740991,
  draft: false,
  merged: true,
  assignee: null,
  labels: ['bug', 'ui'],
  mixed: [1, 'x', true, null],
  issues: [
    { id: 1, state: 'open', tags: ['a'] },
    { id: 2, state: 'closed', tags: [] },
  ],
  sender: { login: 'octo', id: 2, site: 'https://octo.example' },
  'odd key': 3,
  nothing: [],
};

describe('a filter matches an event', () => {
  test.each([
    ['true'],
    ['event == "issues"'],
    ["event in ['issues', 'issue_comment']"],
    ['headers["X-Kind"] == "a" && "X-KIND" in headers && !("X-Other" in headers)'],
    ['event == "issues" && payload.action in ["opened", "edited"]'],
    ['payload.number == 42'],
    ['payload.number == 42.0 && payload.number != 41 && payload.number > 41 && payload.number <= 42'],
    ['42 == payload.number'],
    ['payload.number in [41, 42]'],
    ['payload.ratio == 1.5 && payload.ratio > 1'],
    ['payload.id == 9007199254740991'],
    ['int(payload.number) % 2 == 0'],
    ['payload.merged && !payload.draft'],
    ['payload.assignee == null'],
    ['"bug" in payload.labels'],
    ['!("triage" in payload.labels)'],
    ['"x" in payload.mixed && 1 in payload.mixed && null in payload.mixed'],
    ['"login" in payload.sender && !("name" in payload.sender)'],
    ['has(payload.sender.login) && !has(payload.sender.name)'],
    ['payload["odd key"] == 3 && payload.issues[0].id == 1'],
    ['headers["x-kind"] == "a" && has(headers.nothing) == false'],
    ['payload.sender.login.startsWith("oc") && payload.sender.site.endsWith(".example") && payload.action.contains("pen")'],
    ['payload.sender.login.upperAscii() == "OCTO" && " a ".trim() == "a"'],
    ['size(payload.labels) == 2 && payload.action.size() == 6'],
    ['payload.labels == ["bug", "ui"] && payload.nothing == [] && payload.issues[1].tags == []'],
    ['payload.issues.exists(i, i.state == "closed")'],
    ['payload.issues.all(i, i.id > 0) && payload.issues.exists_one(i, i.id == 1)'],
    ['payload.issues.filter(i, i.state == "open").size() == 1'],
    ['payload.issues.map(i, i.id) == [1, 2]'],
    ['payload.issues.filter(i, i.id > 1).exists(i, i.state == "closed")'],
    ['payload.issues.exists(i, i.id == payload.sender.id)'],
    ['payload.issues.exists(i, has(i.tags) && "a" in i.tags)'],
    ['["a", "b"].exists(x, x == headers["x-kind"])'],
    ['payload.draft ? false : payload.action == "opened"'],
    ['payload.action + "!" == "opened!"'],
    ['type(payload.action) == string'],
    ['payload.missing == 1 || true'],
    ['(payload.missing == 1 && false) == false'],
    ['payload.sender.login in {"octo": 1}'],
    ['event == "issues" // as GitHub calls it'],
  ])('that fulfills %s', (text) => {
    expect(answer(text, payload)).toEqual({ matches: true, fault: null });
  });
});

describe('a filter does not match an event', () => {
  test.each([
    ['false'],
    ['event == "push" && payload.missing.deep == 3'],
    ['payload.number == 43'],
    ['payload.number == "42"'],
    ['payload.action == "Opened"'],
    ['payload.labels == ["ui", "bug"]'],
    ['payload.issues.all(i, i.state == "open")'],
  ])('that does not fulfill %s', (text) => {
    expect(answer(text, payload)).toEqual({ matches: false, fault: null });
  });

  test.each([
    ['payload.missing == 3', 'No such key: missing'],
    ['!(payload.missing == 3)', 'No such key: missing'],
    ['payload.missing.deep == null', 'No such key: missing'],
    ['payload.issues[7].id == 1', 'index out of bounds'],
    ['payload.action.length == 6', 'No such key: length'],
    ['payload.constructor == 1 || payload.__proto__ == 1', 'No such key'],
    ['payload.issues.exists(i, i.nothing == 1)', 'No such key: nothing'],
    ['payload.action && true', 'bool'],
    ['payload.action', 'neither true nor false'],
    ['payload', 'neither true nor false'],
    ['payload.number + 1 == 43', 'no such overload: dyn<double> + int: numbers of an event are doubles, so write 1.0'],
    ['2 * payload.number == 84', 'numbers of an event are doubles'],
    ['payload.sender == payload.sender', 'lists and objects cannot be compared'],
    ['payload.labels in payload.issues', 'lists and objects cannot be compared'],
    ['payload.labels in headers', 'lists and objects cannot be compared'],
  ])('if it cannot be evaluated, with the reason: %s', (text, reason) => {
    const { matches, fault: said } = answer(text, payload);
    expect(matches).toBe(false);
    expect(said).toContain(reason);
  });

  test.each([[null], [7], ['text'], [[]], [undefined]])('if its payload is only %j', (only) => {
    expect(answer('payload.action == "opened"', only)).toMatchObject({ matches: false, fault: expect.any(String) });
  });
});

test.each([
  ['a long chain', Array.from({ length: 70 }, (_, index) => `payload.number == ${index}`).join(' || ')],
  ['many signs', `${'!'.repeat(390)}true`],
  ['a long sum', `${'1 + '.repeat(190)}1 == 191`],
  ['as many brackets as there may be', `${'('.repeat(20)}true${')'.repeat(20)}`],
  ['a path as deep as it may be', `payload${'.a'.repeat(20)} == 1 || true`],
])('evaluates a filter of %s', (_what, text) => {
  expect(answer(text, payload)).toEqual({ matches: true, fault: null });
});

test('a payload with a field that is called `constructor` is read as any other', () => {
  const odd = { constructor: 'x', a: { constructor: null, b: 1, list: [{ constructor: {} }] }, action: 'opened' };
  expect(answer('payload.action == "opened" && payload.a.b == 1 && payload.constructor == "x" && size(payload.a.list) == 1', odd)).toEqual({
    matches: true,
    fault: null,
  });
  expect(answer('payload.a.list.exists(i, has(i.constructor)) && "b" in payload.a && !has(payload.nothing)', odd)).toMatchObject({
    matches: true,
  });
});

test('compares large integers as JSON numbers', () => {
  const large: unknown = JSON.parse('{"id": 1234567890123456789, "low": -9007199254740993}');
  expect(answer('payload.id == 1234567890123456789 && payload.low == -9007199254740993', large)).toMatchObject({ matches: true });
  expect(answer('payload.id in [1, 1234567890123456789]', large)).toMatchObject({ matches: true });
  expect(answer('payload.id == 1234567890123456000', large)).toMatchObject({ matches: false, fault: null });
  expect(answer('payload.id == 1', large)).toMatchObject({ matches: false, fault: null });
});

test('finds any integer again', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), (integer) => {
      const given: unknown = JSON.parse(`{"id": ${integer}}`);
      expect(answer(`payload.id == ${integer}`, given)).toEqual({ matches: true, fault: null });
    }),
  );
});

test('finds any text again, and no other one', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', "'", '\\', '\n', '{', '}', '$', 'é', '😀', '\t', ')', '(') });
  fc.assert(
    fc.property(text, text, (one, other) => {
      const { matches } = answer(`(payload.a == ${JSON.stringify(one)}) && [payload.a] == [${JSON.stringify(one)}]`, { a: other });
      expect(matches).toBe(one === other);
    }),
  );
});

describe('a filter is rejected when it is written', () => {
  test.each([
    ['', 'line 1, column 1'],
    ['event ==', 'line 1, column 9'],
    ['event = "issues"', 'line 1, column 7'],
    ['event == "issues', 'Unterminated string'],
    [
      'event == "issues"\n  && nothing',
      'line 2, column 6: Unknown variable: nothing: fields of the event are in payload, as in payload.nothing',
    ],
    ['has(headers["x-kind"])', 'otherwise use `in`, as in "x-kind" in headers'],
    ['payload.title.toLowerCase() == "a"', 'use size, contains, startsWith, endsWith, lowerAscii'],
    ['event == 3', 'no such overload'],
    ['event', 'its result is string, but must be true or false'],
    ['1 + 1', 'its result is int, but must be true or false'],
    ['payload.action.matches("^(a+)+$")', 'regular expressions are not supported: use startsWith'],
    ['payload.a.exists(x, payload.b.exists(y, x == y))', 'column 21: exists is nested in another loop'],
    ['payload.a.map(x, x.b.filter(y, y > 1)).size() == 1', 'nested in another loop'],
    ['payload.a.exists(x, x in payload.b)', 'payload can only be compared with the item'],
    ['payload.a.exists(x, payload.b == payload.c)', 'payload can only be compared with the item'],
    ['payload.a.exists(x, payload.b.contains("c"))', 'payload can only be compared with the item'],
    ['payload.a.exists(x, [payload.b] == [x])', 'payload can only be compared with the item'],
    ['payload.a.exists(x, payload.b[x.c] == x)', 'payload can only be compared with the item'],
    ['payload.a.exists(payload, payload == 1)', 'the item cannot be named payload'],
    ['payload.a.exists(event, event == "x")', 'the item cannot be named event'],
    ['payload.a.contains(payload.b)', 'a string literal'],
    ['cel.bind(x, payload.a, x == 1)', 'filters have no method "bind"'],
    ['payload.a.split(",").size() == 1', 'filters have no method "split"'],
    ['timestamp(payload.at) > timestamp("2024-01-01T00:00:00Z")', 'filters have no function "timestamp"'],
    ['moniker_single(payload.a) == 1', 'moniker_single'],
    ['b"a" == b"b"', 'bytes'],
    ['payload.?a == 1', 'line 1, column 9'],
    ['['.repeat(50), 'maxDepth'],
    [`${'('.repeat(50)}true${')'.repeat(50)}`, 'maxDepth'],
    [`true${' && true'.repeat(maxFilterParts)}`, 'maxAstNodes'],
  ])('names the part that is not allowed in %j', (text, reason) => {
    expect(fault(text)).toContain(reason);
  });

  test('names the field in a short message', () => {
    expect(parseFilter('event == 3', 'filter')).toEqual({
      issue: { path: 'filter', message: 'line 1, column 1: no such overload: string == int' },
    });
    expect(fault(`${'x'.repeat(3_000)} == 1`).length).toBeLessThan(400);
  });

  test('or is parsed, for any text', () => {
    const piece = fc.constantFrom(
      ...[
        'event',
        'payload',
        '.a',
        '["b"]',
        ' == ',
        ' && ',
        ' || ',
        '!',
        '"x"',
        '1',
        '1.5',
        'null',
        '(',
        ')',
        '[',
        ']',
        ', ',
        ' in ',
        ' + ',
        '-',
        ' ? ',
        ' : ',
      ],
      ...['.exists(x, ', 'x', 'has(', '.size()', '{', '}', '\n', "r'", '"""', 'b"', '0x', '.contains(', '//', '`'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), fc.jsonValue(), (pieces, given) => {
        const parsed = parseFilter(pieces.join(''), 'filter');
        if ('issue' in parsed) expect(parsed.issue.message).not.toBe('');
        else expect(typeof parsed.filter({ payload: given, own: {} }).matches).toBe('boolean');
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe('a filter over a malicious payload', () => {
  const many = 100_000;

  test('iterates over no list that is too long', () => {
    const list = Array.from({ length: many }, () => ({}));
    expect(answer('payload.a.exists(x, x.b == 1)', { a: list }).fault).toBe(
      'a loop runs over a list of 100000 items; at most 2500 are allowed',
    );
    expect(answer('payload.exists(x, x == "b")', Object.fromEntries(list.map((_, index) => [`k${index}`, 1]))).fault).toContain(
      '100000 items',
    );
  });

  test('reads an object with many fields once, however many items are compared with it', () => {
    const large = Object.fromEntries(Array.from({ length: many }, (_, index) => [`k${index}`, 1]));
    const list = Array.from({ length: maxFilterItems }, () => ({ b: 1 }));
    expect(answer('payload.a.exists(x, x.b == payload.large)', { a: list, large }).fault).toContain('lists and objects cannot be compared');
    expect(answer('payload.a.exists(x, payload.large > x.b)', { a: list, large }).fault).toContain('lists and objects cannot be compared');
    const often = Array.from({ length: 25 }, (_, index) => `payload.large == ${index} || size(payload.large) == ${index}`).join(' || ');
    expect(answer(often, { large }).fault).toContain('lists and objects cannot be compared');
  });

  test('concatenates no long strings and no lists', () => {
    const long = 'x'.repeat(many);
    expect(answer('(payload.a + payload.a) == "x"', { a: long }).fault).toContain('a string of 100000 characters is concatenated');
    expect(answer('(payload.a + payload.a) == ["x"]', { a: [long] }).fault).toBe('lists and objects cannot be added');
  });

  test('returns a result for a deeply nested payload', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as unknown;
    expect(answer('payload.a.a.a == 1', deep)).toMatchObject({ matches: false });
    expect(answer('has(payload.a.a)', deep)).toEqual({ matches: true, fault: null });
  });
});

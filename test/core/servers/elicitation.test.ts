import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  elicitationFaults,
  questionText,
  screenElicitation,
  maxElicitationFields,
  maxElicitationMessageLength,
} from '../../../src/core/servers/elicitation.ts';
import type { InputRequest } from '../../../src/core/tools/mcp-input.ts';

const form = (properties: Record<string, unknown>, message = 'Who are you?', more: Record<string, unknown> = {}): InputRequest => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, ...more } },
});
const url = (address: unknown): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Please sign in.', url: address, elicitationId: 'e1' },
});
const screened = (request: InputRequest): InputRequest => {
  const verdict = screenElicitation('crm', request);
  if (!verdict.ok) throw new Error(verdict.reason);
  return verdict.request;
};
const isRefused = (request: InputRequest): boolean => !screenElicitation('crm', request).ok;

describe('a question of a server to a person', () => {
  test('is prefixed with the server’s name in the workspace', () => {
    expect(screened(form({ name: { type: 'string' } })).params.message).toBe('Server "crm" asks: Who are you?');
  });

  test('is unchanged by a second screening', () => {
    const once = screened(form({ name: { type: 'string', title: 'Name' } }, 'x'.repeat(5_000)));
    expect(screened(once)).toEqual(once);
  });

  test('keeps every field type of MCP, with its default', () => {
    const properties = {
      name: { type: 'string', title: 'Name', description: 'In full', minLength: 1, maxLength: 50, default: 'Ada' },
      mail: { type: 'string', format: 'email' },
      age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
      score: { type: 'number', default: 9.5 },
      sure: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
      named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      titled: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      many: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
      manyTitled: { type: 'array', items: { type: 'string', anyOf: [{ const: 'a', title: 'A' }] } },
    };
    const schema = { type: 'object', properties, required: ['name'] };
    expect(screened(form(properties, 'Who?', { required: ['name'] })).params.requestedSchema).toEqual(schema);
  });

  test('loses invisible text and unknown members', () => {
    const { params } = screened(
      form({ name: { type: 'string', title: 'Na\u202eme', pattern: '^(a+)+$', $ref: '#/x' } }, 'Wh\u001b[8mo?\u{e0041}'),
    );
    expect(params.message).toBe('Server "crm" asks: Who?');
    expect(params.requestedSchema).toEqual({ type: 'object', properties: { name: { type: 'string', title: 'Name' } } });
  });

  test.each([
    ['an object in the form', { where: { type: 'object', properties: {} } }],
    ['a list of anything', { all: { type: 'array', items: { type: 'string' } } }],
    ['a field without a type', { x: {} }],
    ['an unreadable name', { 'na\u200bme\u200b': { type: 'string' } }],
    ['choices without end', { x: { type: 'string', enum: Array.from({ length: 201 }, (_, index) => `c${index}`) } }],
  ])('is refused with %s', (_what, properties) => {
    expect(isRefused(form(properties))).toBe(true);
  });

  test('is refused with too many fields', () => {
    const names = Array.from({ length: maxElicitationFields + 1 }, (_, index) => [`f${index}`, { type: 'string' }]);
    expect(isRefused(form(Object.fromEntries(names)))).toBe(true);
  });

  test('of another method, mode or shape is refused', () => {
    expect(isRefused({ method: 'sampling/createMessage', params: { message: 'hi' } })).toBe(true);
    expect(isRefused({ method: 'elicitation/create', params: { mode: 'voice', message: 'hi' } })).toBe(true);
    expect(isRefused({ method: 'elicitation/create', params: { message: 5 } })).toBe(true);
    expect(isRefused({ method: 'elicitation/create', params: { message: 'hi', requestedSchema: { type: 'string' } } })).toBe(true);
  });
});

describe('a form that asks for a secret is refused', () => {
  test.each([
    'password',
    'userPassword',
    'PASS_WORD',
    'passphrase',
    'api_key',
    'apiKey',
    'API key',
    'Access token',
    'token',
    'githubToken',
    'clientSecret',
    'private-key',
    'card_number',
    'creditCard',
    'CVV',
    'pin',
    'one-time code',
    'ｐａｓｓｗｏｒｄ',
    'Passwort',
    'mot de passe',
    '请输入密码',
  ])('finds the secret by the name or title %s', (word) => {
    expect(isRefused(form({ [word]: { type: 'string' } }))).toBe(true);
    expect(isRefused(form({ value: { type: 'string', title: word } }))).toBe(true);
    expect(isRefused(form({ value: { type: 'string', description: `Your ${word}, please` } }))).toBe(true);
  });

  test('by a reminder that is not a warning', () => {
    expect(isRefused(form({ value: { type: 'string', description: 'Do not forget your password' } }))).toBe(true);
    expect(isRefused(form({ value: { type: 'string', description: 'Do not share it. Your password' } }))).toBe(true);
  });

  test('finds the secret by its format, or in a field of numbers', () => {
    expect(isRefused(form({ value: { type: 'string', format: 'password' } }))).toBe(true);
    expect(isRefused(form({ value: { type: 'string', writeOnly: true } }))).toBe(true);
    expect(isRefused(form({ pin: { type: 'integer' } }))).toBe(true);
  });

  test.each(['Enter your GitHub password to go on', 'Please type the API key below.', 'What is your card number?'])(
    'finds the secret by the message, whatever the field is called: %s',
    (message) => {
      expect(isRefused(form({ value: { type: 'string' } }, message))).toBe(true);
    },
  );

  test.each([
    ['a choice', form({ method: { type: 'string', enum: ['password', 'token'] } })],
    ['a yes or no', form({ resetPassword: { type: 'boolean' } }, 'Reset the password?')],
    ['a number of tokens', form({ max_tokens: { type: 'integer', title: 'Tokens' } })],
    ['what only sounds like it', form({ passenger: { type: 'string' }, keyboard: { type: 'string' }, opinion: { type: 'string' } })],
    [
      'a warning not to',
      form({ favourite: { type: 'integer', description: 'A number (do not give us your phone number, pin, or other sensitive info)' } }),
    ],
    ['news of one', form({ note: { type: 'string' } }, 'The password was changed. Say why.')],
  ])('accepts a form with %s', (_what, request) => {
    expect(isRefused(request)).toBe(false);
  });
});

describe('a page that a server wants opened', () => {
  test('is passed on unchanged for http and https', () => {
    expect(screened(url('https://auth.example.com/a?x=$(id)')).params).toEqual({
      mode: 'url',
      message: 'Server "crm" asks: Please sign in.',
      url: 'https://auth.example.com/a?x=$(id)',
      elicitationId: 'e1',
    });
    expect(isRefused(url('http://auth.example.com/'))).toBe(false);
  });

  test.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vscode://x',
    'https://user:word@example.com/',
    'https://exa\u202emple.com/',
    'https://',
    '',
    7,
    `https://example.com/${'x'.repeat(9_000)}`,
  ])('is refused otherwise: %s', (address) => {
    expect(isRefused(url(address))).toBe(true);
  });
});

describe('an answer', () => {
  const asked = screened(form({ name: { type: 'string', minLength: 2 }, age: { type: 'integer' } }, 'Who?', { required: ['name'] }));

  test('is valid if it has the fields of the form', () => {
    expect(elicitationFaults(asked, { action: 'accept', content: { name: 'Ada', age: 36 } })).toEqual([]);
    expect(elicitationFaults(asked, { action: 'decline' })).toEqual([]);
    expect(elicitationFaults(asked, { action: 'cancel' })).toEqual([]);
  });

  test('is rejected with the path of each error', () => {
    const paths = (content: Record<string, unknown> | undefined) =>
      elicitationFaults(asked, { action: 'accept', ...(content && { content }) }).map(({ path }) => path);
    expect(paths({ name: 'A' })).toEqual(['content.name']);
    expect(paths({ age: 1 })).toEqual(['content.name']);
    expect(paths({ name: 'Ada', more: 1 })).toEqual(['content.more']);
    expect(paths(undefined)).toEqual(['content']);
  });

  test('has no content without a form or acceptance', () => {
    expect(elicitationFaults(asked, { action: 'decline', content: { name: 'Ada' } })).toHaveLength(1);
    expect(elicitationFaults(screened(url('https://a.example/')), { action: 'accept', content: {} })).toHaveLength(1);
    expect(elicitationFaults(screened(url('https://a.example/')), { action: 'accept' })).toEqual([]);
  });
});

test('passes on only bounded, visible questions, idempotently', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const field = fc.record(
    {
      type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object'),
      title: fc.oneof(fc.string(), value),
      description: fc.string({ unit: 'binary' }),
      enum: value,
      oneOf: value,
      items: value,
      default: value,
      format: value,
    },
    { requiredKeys: ['type'] },
  );
  const asked = fc.record({
    method: fc.constant('elicitation/create'),
    params: fc.record(
      {
        mode: fc.constantFrom('form', 'url'),
        message: fc.string({ unit: 'binary', maxLength: 4_000 }),
        url: fc.oneof(fc.webUrl(), fc.string()),
        requestedSchema: fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), field) }),
      },
      { requiredKeys: ['message'] },
    ),
  });
  fc.assert(
    fc.property(asked, (request) => {
      const verdict = screenElicitation('crm', request);
      if (!verdict.ok) return;
      const { params } = verdict.request;
      expect(String(params.message).startsWith('Server "crm" asks: ')).toBe(true);
      expect(String(params.message).length).toBeLessThan(maxElicitationMessageLength + 60);
      if (params.mode === 'url') expect(String(params.url)).toMatch(/^https?:\/\//);
      expect(screenElicitation('crm', verdict.request)).toEqual(verdict);
    }),
  );
});

describe('the questions of a call in one line', () => {
  test('have the whole link of each page, however long the messages are', () => {
    const long = `https://login.example/${'a'.repeat(600)}`;
    const requests = { a: form({}, 'x'.repeat(600)), b: url(long) };
    expect(questionText(requests)).toMatch(new RegExp(`^x{400,} ?…? Open ${long} in a browser\\.$`));
    expect(questionText({ b: url('https://login.example/') })).toBe('Please sign in. Open https://login.example/ in a browser.');
  });
});

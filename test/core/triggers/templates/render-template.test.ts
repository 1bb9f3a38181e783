import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { parseTemplate, type Template } from '../../../../src/core/triggers/templates/parse-template.ts';
import {
  renderTemplate,
  renderTrigger,
  type RenderMode,
  type TriggerScope,
} from '../../../../src/core/triggers/templates/render-template.ts';
import { utf8Length } from '../../../../src/core/text/utf8.ts';
import { describeCorpus, readJson, readJsonLines } from '../../../fixtures.ts';
import { maxDeliveryWarnings, maxSessionKeyLength, maxTriggerInputBytes } from '../../../../src/core/triggers/templates/render-template.ts';
import { runs } from '../../../selection.ts';

const parsed = (text: string): Template => {
  const result = parseTemplate(text, 'input');
  if ('issue' in result) throw new Error(result.issue.message);
  return result.template;
};
const own = {
  delivery: 'd-1',
  event: 'issues',
  webhook: 'hub',
  time: '2026-07-01T09:00:00.000Z',
  headers: { 'x-kind': 'a b' },
  body: '{"a": 1}',
};
const scopeOf = (payload: unknown): TriggerScope => ({ payload, own });
const render = (text: string, payload: unknown, mode: RenderMode = 'input') => renderTemplate(parsed(text), scopeOf(payload), mode);
const input = (text: string, payload: unknown): string => {
  const made = render(text, payload);
  if ('fault' in made) throw new Error(made.fault);
  return made.text;
};
const key = (text: string, payload: unknown): string => {
  const made = render(text, payload, 'key');
  return 'fault' in made ? `fault: ${made.fault}` : made.text;
};

const issue = {
  action: 'opened',
  issue: {
    number: 42,
    title: 'It does not start',
    labels: [{ name: 'bug' }, { name: 'needs triage' }],
    assignee: null,
    draft: false,
    body: '',
  },
  repository: { full_name: 'octo/hello' },
  'odd key': 'odd',
};

describe('the input of an agent', () => {
  test.each([
    ['{{repository.full_name}}#{{issue.number}}', 'octo/hello#42'],
    ['{{issue.title}}', '<data>It does not start</data>'],
    ['{{issue.draft}} {{issue.number}} {{issue.assignee}}|', 'false 42 |'],
    ['{{issue.labels.0.name}} {{issue.labels[1]["name"]}} {{["odd key"]}}', 'bug <data>needs triage</data> odd'],
    ['{{issue.labels.length}}', '2'],
    ['{{json issue.labels}}', '<data>[{"name":"bug"},{"name":"needs triage"}]</data>'],
    ['{{issue.labels}}', '<data>[{"name":"bug"},{"name":"needs triage"}]</data>'],
    ['{{json issue.title}} {{json issue.number}} {{json issue.assignee}}', '<data>"It does not start"</data> 42 null'],
    ['{{json this.issue.labels.0}}', '<data>{"name":"bug"}</data>'],
    [
      '{{#each issue.labels}}- {{@index}} {{this.name}} of {{issue.number}}\n{{/each}}',
      '- 0 <data>bug</data> of 42\n- 1 <data>needs triage</data> of 42\n',
    ],
    ['{{#if issue.assignee}}a{{else}}b{{/if}}{{#if issue.labels}}c{{/if}}{{#if issue.body}}d{{/if}}{{#if issue}}e{{/if}}', 'bce'],
    ['{{#if no.such.thing}}a{{else}}b{{/if}}', 'b'],
    ['{{#each issue.assignee}}a{{else}}none{{/each}}', 'none'],
    ['{{@delivery}} {{@event}} {{@webhook}} {{@time}}', 'd-1 issues hub 2026-07-01T09:00:00.000Z'],
    ['{{@headers.X-Kind}} {{@body}}', '<data>a b</data> <data>{"a": 1}</data>'],
  ])('is rendered from the template %j', (template, expected) => {
    expect(input(template, issue)).toBe(expected);
    expect(render(template, issue).warnings).toEqual([]);
  });

  test('has one warning for each path that finds nothing', () => {
    const template =
      '{{issue.nothing}}{{issue.nothing}}{{constructor}}{{issue.title.length}}{{issue.labels.7}}{{issue.labels.map}}{{#each gone}}{{/each}}{{@headers.gone}}{{issue.__proto__}}.';
    expect(render(template, issue)).toEqual({
      text: '.',
      warnings: [
        'issue.nothing',
        'constructor',
        'issue.title.length',
        'issue.labels.7',
        'issue.labels.map',
        'gone',
        '@headers.gone',
        'issue.__proto__',
      ].map((path) => `${JSON.stringify(path)} is not in this event`),
    });
  });

  test('suggests {{this.…}} for a field of the item', () => {
    expect(render('{{#each issue.labels}}{{name}}{{gone}}{{/each}}.', issue)).toEqual({
      text: '.',
      warnings: ['"name" is not in this event, but in the item: write {{this.…}}', '"gone" is not in this event'],
    });
  });

  test('reads fields that have the names of Object.prototype members', () => {
    const payload = JSON.parse('{"__proto__": "a", "constructor": "b", "length": "c", "toString": "d"}') as unknown;
    expect(input('{{__proto__}}{{constructor}}{{length}}{{toString}}', payload)).toBe('abcd');
  });

  test.each([['a text'], [7], [null], [true], [undefined]])('has only warnings for the payload %j', (payload) => {
    expect(render('{{a.b}}.', payload)).toMatchObject({ text: '.', warnings: [expect.stringContaining('is not in this event')] });
  });

  test('says how much of a long value was cut', () => {
    const { maxTemplateValueCharacters } = limits;
    const text = input('{{a}}', { a: `b ${'x'.repeat(maxTemplateValueCharacters)}` });
    expect(text).toBe(`<data>b ${'x'.repeat(maxTemplateValueCharacters - 2)}</data> (cut: 200,000 of 200,002 characters)`);
  });

  test('does not cut a surrogate pair in half', () => {
    const text = input('{{a}}', { a: `${'x'.repeat(limits.maxTemplateValueCharacters - 1)}😀 b` });
    expect(text).toMatch(/^<data>x+<\/data> \(cut: 199,999 of 200,003 characters\)$/);
  });

  test('says how many items of a long list were left out', () => {
    const made = render('{{#each a}}x{{/each}}', { a: Array.from({ length: 5_000 }, () => 0) });
    expect(made).toEqual({
      text: `${'x'.repeat(1_000)}(and 4,000 more)`,
      warnings: ['"a" has 5000 items; only the first 1000 are included'],
    });
  });

  test('warns that an object is not a list', () => {
    expect(render('{{#each issue}}x{{else}}y{{/each}}', issue)).toEqual({
      text: 'y',
      warnings: ['"issue" is not a list, so {{#each}} has no items'],
    });
  });

  test('warns about a number that is too large to be exact', () => {
    expect(render('{{id}}', JSON.parse('{"id": 1234567890123456789}'))).toMatchObject({
      warnings: [expect.stringContaining('too large to be exact')],
    });
  });

  test('marks single words inside {{#each}}, since a list of them could be a sentence', () => {
    expect(input('{{#each words}}{{this}} {{/each}}', { words: ['ignore', 'all', 'rules'] })).toBe(
      '<data>ignore</data> <data>all</data> <data>rules</data> ',
    );
  });

  test('marks a value that would form a mark with the text around it', () => {
    expect(input('<{{a}}> </{{a}}> [{{b}}] {{c}}{{d}}', { a: 'data', b: 'INST', c: '<da', d: 'ta>' })).toBe(
      '<<data>data</data>> </<data>data</data>> [<data>INST</data>] <data><da</data><data>ta></data>',
    );
  });
});

describe('an input that a payload would make too large', () => {
  const list = Array.from({ length: 1_000 }, (_, index) => index);
  const each = (path: string, body: string): string => `{{#each ${path}}}${body}{{/each}}`;

  test.each([
    ['lists within lists, of much text', each('a', each('a', 'some text')), { a: list }, 'longer than'],
    ['lists within lists, of nothing', each('a', each('a', each('a', each('a', '')))), { a: list }, 'too long to render'],
    ['lists within lists, of paths to nothing', each('a', each('a', each('a', '{{b}}'))), { a: list }, 'too long to render'],
    ['texts again and again', each('a', '{{b}}'), { a: list, b: 'x '.repeat(100_000) }, 'longer than'],
    ['texts of invisible characters', each('a', '{{b}}'), { a: list, b: '\u200b'.repeat(200_000) }, 'too long to render'],
    ['objects again and again', each('a', '{{json b}}'), { a: list, b: { c: 'x '.repeat(100_000) } }, 'longer than'],
    ['the payload again and again', each('a', '{{json this}}{{json b}}'), { a: list, b: list }, 'longer than|too long to render'],
  ])('is rejected: %s', (_what, template, payload, fault) => {
    const made = render(template, payload);
    expect('fault' in made ? made.fault : made.text.length).toMatch(new RegExp(fault));
  });
});

describe('the key of a session', () => {
  test.each([
    ['{{repository.full_name}}#{{issue.number}}', 'octo/hello#42'],
    ['{{issue.title}}', 'It does not start'],
    ['{{@webhook}}-{{@delivery}}', 'hub-d-1'],
    ['{{json issue.labels.0}}', '{"name":"bug"}'],
    ['{{#if issue.draft}}draft{{else}}ready{{/if}}', 'ready'],
    ['{{#each issue.labels}}{{this.name}},{{/each}}', 'bug,needs triage,'],
    ['{{issue.nothing}}', 'fault: "issue.nothing" is not in this event, and the session key needs it'],
    ['{{issue.assignee}}', 'fault: "issue.assignee" is null, which cannot be part of a session key'],
    ['{{#each gone}}{{/each}}', 'fault: "gone" is not in this event, and the session key needs it'],
  ])('%j is %j', (template, expected) => {
    expect(key(template, issue)).toBe(expected);
  });

  test.each([
    ['a line feed', 'a\nb', 'U+000A'],
    ['an invisible character', 'a\u200bb', 'U+200B'],
    ['a bidirectional control character', 'a\u202eb', 'U+202E'],
    ['a lone surrogate', 'a\ud800', 'U+D800'],
  ])('rejects %s', (_what, value, named) => {
    expect(key('{{a}}', { a: value })).toBe(`fault: "a" contains ${named}; a session key is one line of visible characters`);
  });

  test('rejects values that would be rounded, cut or left out', () => {
    expect(key('{{id}}', JSON.parse('{"id": 1234567890123456789}'))).toContain('too large to be exact');
    expect(key('{{#each a}}{{/each}}', { a: Array.from({ length: 1_001 }, () => 0) })).toContain('1001 items');
    expect(key('{{a}}', { a: 'x'.repeat(maxSessionKeyLength) })).toHaveLength(maxSessionKeyLength);
    expect(key('{{a}}', { a: 'x'.repeat(maxSessionKeyLength + 1) })).toBe('fault: it is longer than 512 characters');
  });

  test.each([
    ['{{a}}:{{b}}', 'x:y', 'z', 'x%3Ay:z'],
    ['{{a}}:{{b}}', 'x', 'y:z', 'x:y:z'],
    ['{{a}}#{{b}}', 'acme/shop', '17', 'acme/shop#17'],
    ['{{a}}/{{b}}', 'C1', '1699999999.000100', 'C1/1699999999.000100'],
    ['order-{{a}}/{{b}}', 'a-b', '1', 'order-a-b/1'],
    ['{{a}}{{b}}', 'ab', 'c', 'ab%|c'],
    ['{{a}}{{b}}', 'a', 'bc', 'a%|bc'],
    ['{{a}}{{b}}', 'a%|b', '', 'a%25|b%|'],
    ['{{a}}%3A{{b}}', ':', '%', ':%%3A%'],
    ['{{a}}é{{b}}', 'é', 'é', '%C3%A9éé'],
    ['{{#if a}}{{a}}:{{/if}}{{b}}', '', 'x:y', 'x%3Ay'],
    ['{{#if a}}{{a}}:{{/if}}{{b}}', 'x', 'y', 'x:y'],
  ])('for %j with %j and %j is %j', (template, a, b, expected) => {
    expect(key(template, { a, b })).toBe(expected);
  });

  test('differs for different values, whatever text is between them', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', ':', '%', '3', 'A', '|', '_', '/', 'é'), maxLength: 4 });
    const literal = fc.string({ unit: fc.constantFrom('a', ':', '%', '3', 'A', '|', '_', '-'), maxLength: 3 });
    const values = fc.array(piece, { minLength: 3, maxLength: 3 });
    const lists = fc.array(piece, { maxLength: 3 });
    const differs = (template: string, one: object, other: object): void => {
      const [first, second] = [key(template, one), key(template, other)];
      if (JSON.stringify(one) !== JSON.stringify(other)) expect(first, template).not.toBe(second);
    };
    fc.assert(
      fc.property(literal, literal, literal, literal, values, values, (p, q, r, s, [a, b, c], [d, e, f]) => {
        differs(`${p}{{a}}${q}{{b}}${r}{{c}}${s}`, { a, b, c }, { a: d, b: e, c: f });
      }),
      { numRuns: runs(3_000) },
    );
    fc.assert(
      fc.property(literal, literal, lists, lists, (p, q, one, other) => {
        differs(`x${p}{{#each list}}{{this}}${q}{{/each}}`, { list: one }, { list: other });
      }),
      { numRuns: runs(3_000) },
    );
  });

  test('differs for different texts', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', 'A', ' ', 'é', 'e\u0301', '\u00a0', '１', '1') }),
    );
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [first, second] = [one, other].map((a) => key('{{a}}', { a }));
        if (one !== other && !String(first).startsWith('fault: ')) expect(first).not.toBe(second);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('renderTrigger', () => {
  const trigger = (session: string, told: string, payload: unknown) =>
    renderTrigger({ session: parsed(session), input: parsed(told) }, scopeOf(payload));

  test('returns the key, the input, and the warnings of both', () => {
    expect(trigger('{{repository.full_name}}#{{issue.number}}', 'New: {{issue.title}} {{nothing}}', issue)).toEqual({
      rendered: {
        sessionKey: 'octo/hello#42',
        input: 'New: <data>It does not start</data> ',
        warnings: ['"nothing" is not in this event'],
      },
    });
  });

  test.each([
    ['no key', '{{nothing}}', 'a', 'Session key: "nothing" is not in this event, and the session key needs it.'],
    ['an empty key', '{{issue.body}}', 'a', 'Session key: the template renders to nothing for this event.'],
    ['no input', 'a', ' {{issue.assignee}}\n', 'Input: the template renders to nothing for this event.'],
  ])('returns the reason where there is %s', (_what, session, told, fault) => {
    expect(trigger(session, told, issue)).toEqual({ fault, warnings: [] });
  });
});

// A grammar of templates whose own text is always `§`.
const path = fc.constantFrom(
  'a',
  'a.b',
  'this',
  'this.b',
  'a.0',
  'list',
  'list.1.a',
  '["odd key"]',
  '@event',
  '@body',
  '@headers.x',
  '@delivery',
  'constructor',
  '__proto__.a',
  'this.this',
);
const piece = fc.oneof(
  fc.constant('§'),
  path.map((at) => `{{${at}}}`),
  path.map((at) => `{{json ${at}}}`),
);
const templates = fc.letrec<{ template: string }>((tie) => ({
  template: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('§')),
    fc
      .tuple(fc.constantFrom('each', 'if'), path, tie('template'), tie('template'))
      .map(([kind, at, body, otherwise]) => `{{#${kind} ${at}}}${body}{{else}}§${otherwise}{{/${kind}}}§`),
  ),
})).template;
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('<', '</', 'data', '>', '</data>', '<tool_call>', '[INST]', '\n', ' ', 'word', 'Human:', '"', '{{a}}', '\\'))
    .map((parts) => parts.join('')),
);
const leaf = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null));
const item = fc.oneof(leaf, fc.record({ a: leaf, b: leaf, this: leaf }, { requiredKeys: [] }), fc.array(leaf, { maxLength: 3 }));
const payloads = fc.oneof(
  fc.record({ a: item, list: fc.array(item, { maxLength: 5 }), 'odd key': item }, { requiredKeys: [] }),
  fc.jsonValue({ stringUnit: 'binary' }),
);

/** Outside of the marks there are only harmless words of the event. */
function expectMarked(rendered: string): void {
  const outside = rendered.replace(/<data>.*?<\/data>/gs, '§').split('§');
  for (const words of outside) expect(words).toMatch(/^[\p{L}\p{N}._\-/#@:+]*$/u);
}

test('renders any template and payload to a text in which all unmarked text is the template’s or a harmless word', () => {
  fc.assert(
    fc.property(templates, payloads, text, (template, payload, body) => {
      const made = renderTemplate(parsed(template), { payload, own: { ...own, body, event: body, headers: { x: body } } }, 'input');
      if ('fault' in made) throw new Error(made.fault);
      expectMarked(made.text);
      expect(utf8Length(made.text)).toBeLessThanOrEqual(maxTriggerInputBytes);
      expect(made.warnings.length).toBeLessThanOrEqual(maxDeliveryWarnings);
    }),
    { numRuns: runs(1_000) },
  );
});

test('renders any template and payload to a key of one visible line, or says why not', () => {
  fc.assert(
    fc.property(templates, payloads, (template, payload) => {
      const made = renderTemplate(parsed(template), scopeOf(payload), 'key');
      if ('fault' in made) expect(made.fault).not.toBe('');
      else expect(made.text).toMatch(/^[^\n\u200b\u202e]{0,512}$/);
    }),
    { numRuns: runs(500) },
  );
});

test('leaves out a value that is nested too deeply', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  expect(render('{{a}}.', { a: deep })).toEqual({
    text: '<data>"(left out: nested too deeply)"</data>.',
    warnings: ['"a" is nested deeper than 64 levels and was left out'],
  });
  expect(key('{{a}}', { a: deep })).toBe('fault: "a" is nested deeper than 64 levels');
});

describeCorpus('security', (folder) => {
  const strings = readJson<string[]>(`${folder}/naughty-strings.json`);
  const injections = readJsonLines<{ text: string | string[] }>(`${folder}/prompt-injection.jsonl`).map((row) =>
    [row.text].flat().join(''),
  );
  test('marks every naughty string and every injection, or it is a harmless word', () => {
    for (const value of [...strings, ...injections]) {
      expectMarked(input('§{{a}}§{{json a}}§{{#each list}}{{this}}§{{/each}}', { a: value, list: [value] }));
    }
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { parseTemplate, type TemplateNode } from '../../../../src/core/triggers/templates/parse-template.ts';
import type { TriggerKind } from '../../../../src/core/turn/turn-trigger.ts';
import { runs } from '../../../selection.ts';

const nodes = (text: string): readonly TemplateNode[] => {
  const parsed = parseTemplate(text, 'input');
  if ('issue' in parsed) throw new Error(parsed.issue.message);
  return parsed.template.nodes;
};

/** In short: the kind of each node, its path and its content. */
const shapes = (text: string): unknown => nodes(text).map(shape);
function shape(node: TemplateNode): unknown {
  if (node.kind === 'text') return node.text;
  const path = [node.path.from, ...node.path.steps];
  if (node.kind === 'value') return node.json ? { json: path } : { value: path };
  return { [node.kind]: path, body: node.body.map(shape), otherwise: node.otherwise.map(shape) };
}

const fault = (text: string): string => {
  const parsed = parseTemplate(text, 'input');
  return 'issue' in parsed ? parsed.issue.message : `no error: ${JSON.stringify(parsed.template.nodes)}`;
};

describe('parseTemplate', () => {
  test.each<[string, unknown[]]>([
    ['plain', ['plain']],
    ['', []],
    ['{{a.b.0.c}}', [{ value: ['event', 'a', 'b', 0, 'c'] }]],
    ['a {{ b }} c', ['a ', { value: ['event', 'b'] }, ' c']],
    ['{{json issue}}', [{ json: ['event', 'issue'] }]],
    ['{{json}}', [{ value: ['event', 'json'] }]],
    ['{{items[0]["odd key"].x}}', [{ value: ['event', 'items', 0, 'odd key', 'x'] }]],
    ['{{["this"]}} {{["a\\"b\\\\"]}}', [{ value: ['event', 'this'] }, ' ', { value: ['event', 'a"b\\'] }]],
    ["{{['it}}s']}}", [{ value: ['event', 'it}}s'] }]],
    ['{{reactions.+1}} {{a-b.c_d.$e}}', [{ value: ['event', 'reactions', '+1'] }, ' ', { value: ['event', 'a-b', 'c_d', '$e'] }]],
    ['{{größe.価格}}', [{ value: ['event', 'größe', '価格'] }]],
    ['{{a.007}}', [{ value: ['event', 'a', '007'] }]],
    ['{{@delivery}} {{@headers.X-GitHub-Event}}', [{ value: ['own', 'delivery'] }, ' ', { value: ['own', 'headers', 'x-github-event'] }]],
    ['{{this}} {{this.x}} {{thisx}}', [{ value: ['this'] }, ' ', { value: ['this', 'x'] }, ' ', { value: ['event', 'thisx'] }]],
    ['{{#if a}}1{{/if}}', [{ if: ['event', 'a'], body: ['1'], otherwise: [] }]],
    ['{{#if a}}1{{else}}2{{/if}}', [{ if: ['event', 'a'], body: ['1'], otherwise: ['2'] }]],
    ['{{#each a}}{{@index}}{{/each}}', [{ each: ['event', 'a'], body: [{ value: ['own', 'index'] }], otherwise: [] }]],
    [
      '{{#each a}}{{#if this}}x{{else}}y{{/if}}{{else}}z{{/each}}',
      [{ each: ['event', 'a'], body: [{ if: ['this'], body: ['x'], otherwise: ['y'] }], otherwise: ['z'] }],
    ],
    ['a{{! about it }}b{{!-- with }} in it --}}c', ['a', 'b', 'c']],
    ['\\{{a}} \\\\{{b}} \\\\\\{{c', ['{{', 'a}} \\', { value: ['event', 'b'] }, ' \\', '{{', 'c']],
    ['a } b }} c { d', ['a } b }} c { d']],
    ['{"n":{{json n}}}', ['{"n":', { json: ['event', 'n'] }, '}']],
  ])('parses %j', (text, expected) => {
    expect(shapes(text)).toEqual(expected);
  });

  test.each<[string, string, unknown[]]>([
    [
      'removes a line with only a block tag',
      'a\n  {{#if x}}  \nb\n{{/if}}\nc',
      ['a\n', { if: ['event', 'x'], body: ['b\n'], otherwise: [] }, 'c'],
    ],
    [
      'removes it with Windows line ends',
      'a\r\n{{#if x}}\r\nb\r\n{{/if}}\r\n',
      ['a\r\n', { if: ['event', 'x'], body: ['b\r\n'], otherwise: [] }],
    ],
    ['removes a line with only a comment', '{{!-- c --}}\na', ['a']],
    ['keeps a line with a value', '{{x}}\na', [{ value: ['event', 'x'] }, '\na']],
    ['keeps a line with two tags', '{{#if x}} {{/if}}\na', [{ if: ['event', 'x'], body: [' '], otherwise: [] }, '\na']],
  ])('%s', (_what, text, expected) => {
    expect(shapes(text)).toEqual(expected);
  });

  test.each([
    ['{{', 'line 1, column 1: this {{ is not closed'],
    ['a\nbc {{x', 'line 2, column 4: this {{ is not closed'],
    ['{{a {{b}}', 'line 1, column 1: this {{ is not closed'],
    ['{{["a}}', 'line 1, column 3: the path "[\\"a" cannot be read at "[\\"a"'],
    ['{{}}', 'a path is missing: write one'],
    ['{{#with a}}', 'there is no helper "#with a": write {{path}}, {{json path}}, {{#each path}}'],
    ['{{#unless a}}', 'there is no helper "#unless a"'],
    ['{{upper a}}', 'line 1, column 8: the path "upper a" cannot be read at " a": write names with dots'],
    ['{{#each a}}', 'line 1, column 1: {{#each}} is not closed: write {{/each}}'],
    ['{{#if a}}{{#each b}}{{/if}}', 'column 21: {{#each}} has to be closed first: write {{/each}}'],
    ['{{/each}}', 'this tag closes nothing'],
    ['{{else}}', '{{else}} is not inside {{#each}} or {{#if}}'],
    ['{{#if a}}{{else}}{{else}}{{/if}}', 'column 18: this {{#if}} already has an {{else}}'],
    ['{{#if a}}{{else if b}}{{/if}}', 'the path "else if b" cannot be read at " if b"'],
    ['{{#if}}x{{/if}}', 'column 6: a path is missing'],
    ['{{../a}}', 'cannot be read at "../a": write names with dots (issue.title) and other names as ["a name"]; there is no ../'],
    ['{{.}}', 'cannot be read at "."'],
    [`{{a${'.a'.repeat(64)}}}`, 'has 65 steps; an event is nested at most 64 deep'],
    ['{{a..b}}', 'line 1, column 4: the path "a..b" cannot be read at "..b"'],
    ['{{a.}}', 'cannot be read at "."'],
    ['{{a[x]}}', 'cannot be read at "[x]"'],
    ['{{a|b}}', 'cannot be read at "|b": write names with dots (issue.title) and other names as ["a name"]'],
    ['{{@nothing}}', 'the path "@nothing" is unknown: a webhook has @delivery, @event'],
    ['{{@}}', 'the path "@" is unknown'],
    ['{{@index}}', '@index exists only inside {{#each}}'],
    ['{{#each a}}{{else}}{{/each}}{{@index}}', '@index exists only inside {{#each}}'],
    ['{{{a}}}', '"{{{a}}" has no meaning here: write {{path}}'],
    ['{{> part}}', '"{{> part}}" has no meaning here'],
    ['{{&a}}', '"{{&a}}" has no meaning here'],
    ['{{^a}}', '{{#if path}}…{{else}}…{{/if}}'],
    ['{{~a}}', '"{{~a}}" has no meaning here'],
    ['{{!-- a }}', 'this comment is not closed: write --}}'],
    ['{{#if a}}'.repeat(limits.maxTemplateDepth + 1), `more than ${limits.maxTemplateDepth} deep`],
  ])('rejects %j and says how to write it', (text, expected) => {
    expect(fault(text)).toContain(expected);
  });

  test('accepts blocks up to the depth limit', () => {
    const { maxTemplateDepth } = limits;
    expect(nodes('{{#if a}}'.repeat(maxTemplateDepth) + '{{/if}}'.repeat(maxTemplateDepth))).toHaveLength(1);
  });

  test.each<[TriggerKind, string, string]>([
    [
      'schedule',
      'Of {{repository}}',
      'the path "repository" names a field of an event, and a schedule has none: it has @delivery, @schedule, @time',
    ],
    ['schedule', '{{#each this}}x{{/each}}', 'the path "this" names a field of an event'],
    ['schedule', '{{@body}}', 'a schedule has @delivery, @schedule, @time'],
    ['webhook', '{{@schedule}}', 'a webhook has @delivery, @event, @webhook, @time, @headers, @body, @index'],
  ])('rejects in a %s a path that it never has: %s', (kind, text, part) => {
    expect(parseTemplate(text, 'input', kind)).toMatchObject({ issue: { path: 'input', message: expect.stringContaining(part) } });
  });

  test('reads the time of a schedule', () => {
    expect(parseTemplate('{{@schedule}} {{#if @time}}{{@time}}{{/if}} {{@delivery}}', 'input', 'schedule')).toHaveProperty('template');
  });

  test('names the field with the error, and quotes little of it', () => {
    const parsed = parseTemplate(`{{${'x y'.repeat(10_000)}}}`, 'session');
    expect(parsed).toMatchObject({ issue: { path: 'session' } });
    expect(fault(`{{/${'x'.repeat(10_000)}}}`).length).toBeLessThan(500);
    expect(fault(`{{#${'x'.repeat(10_000)}}}`).length).toBeLessThan(500);
  });

  test('leaves any text without tags unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => {
        const text = given.replaceAll('{{', '');
        fc.pre(!text.includes('{{'));
        expect(
          nodes(text)
            .map((node) => (node.kind === 'text' ? node.text : null))
            .join(''),
        ).toBe(text);
      }),
    );
  });

  test('parses any text, or rejects it at a place inside it', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{',
      '}',
      '#each ',
      '#if ',
      '/each',
      '/if',
      'else',
      'a',
      '.b',
      '["c"]',
      '[',
      '"',
      "'",
      ' ',
      '\n',
      '\\',
      '!--',
      '--',
      '!',
      'json ',
      '@index',
      'this',
      '~',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const parsed = parseTemplate(text, 'input');
        if ('template' in parsed) return;
        const [, line = '0', column = '0'] = /^line (\d+), column (\d+): ./.exec(parsed.issue.message) ?? [];
        const at = text.split('\n')[Number(line) - 1];
        expect(Number(column)).toBeGreaterThan(0);
        expect(Number(column)).toBeLessThanOrEqual((at ?? '').length + 1);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test.each([
    ['tags', '{{a}}'],
    ['backslashes', '\\'],
    ['spaces before tags', `{{a}}${' '.repeat(50)}`],
    ['open braces', '{ {'],
    ['comments', '{{! x }}\n'],
    ['unclosed quotes', '{{["'],
    ['adjacent blocks', '{{#if a}}\n{{/if}}\n'],
  ])('parses or rejects a template of maximum length with many %s', (_what, part) => {
    const text = part.repeat(Math.floor(limits.maxInputTemplateLength / part.length));
    const parsed = parseTemplate(text, 'input');
    expect('template' in parsed || parsed.issue.message.length < 500).toBe(true);
  });
});

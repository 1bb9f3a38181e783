import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../src/core/limits.ts';
import { parseTemplate } from '../../../../src/core/triggers/templates/parse-template.ts';
import type { TriggerKind } from '../../../../src/core/triggers/delivery.ts';
import type { TemplateNode } from '../../../../src/core/triggers/templates/template.ts';

const nodes = (text: string): readonly TemplateNode[] => {
  const parsed = parseTemplate(text, 'input');
  if ('issue' in parsed) throw new Error(parsed.issue.message);
  return parsed.template.nodes;
};

/** Short: `kind` of each node, its path, and what stands in it. */
const told = (text: string): unknown => nodes(text).map(shape);
function shape(node: TemplateNode): unknown {
  if (node.kind === 'text') return node.text;
  const path = [node.path.from, ...node.path.steps];
  if (node.kind === 'value') return node.json ? { json: path } : { value: path };
  return { [node.kind]: path, body: node.body.map(shape), otherwise: node.otherwise.map(shape) };
}

const fault = (text: string): string => {
  const parsed = parseTemplate(text, 'input');
  return 'issue' in parsed ? parsed.issue.message : `no fault: ${JSON.stringify(parsed.template.nodes)}`;
};

describe('a template', () => {
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
    ['a{{! said of it }}b{{!-- with }} in it --}}c', ['a', 'b', 'c']],
    ['\\{{a}} \\\\{{b}} \\\\\\{{c', ['{{', 'a}} \\', { value: ['event', 'b'] }, ' \\', '{{', 'c']],
    ['a } b }} c { d', ['a } b }} c { d']],
    ['{"n":{{json n}}}', ['{"n":', { json: ['event', 'n'] }, '}']],
  ])('%j is read', (text, expected) => {
    expect(told(text)).toEqual(expected);
  });

  test.each<[string, string, unknown[]]>([
    [
      'leaves nothing of a line with only a tag of a block',
      'a\n  {{#if x}}  \nb\n{{/if}}\nc',
      ['a\n', { if: ['event', 'x'], body: ['b\n'], otherwise: [] }, 'c'],
    ],
    [
      'also where lines end as on Windows',
      'a\r\n{{#if x}}\r\nb\r\n{{/if}}\r\n',
      ['a\r\n', { if: ['event', 'x'], body: ['b\r\n'], otherwise: [] }],
    ],
    ['nor of one with only a comment', '{{!-- c --}}\na', ['a']],
    ['but of one with a value', '{{x}}\na', [{ value: ['event', 'x'] }, '\na']],
    ['and of one with two tags', '{{#if x}} {{/if}}\na', [{ if: ['event', 'x'], body: [' '], otherwise: [] }, '\na']],
  ])('%s', (_what, text, expected) => {
    expect(told(text)).toEqual(expected);
  });

  test.each([
    ['{{', 'line 1, column 1: this {{ is never closed'],
    ['a\nbc {{x', 'line 2, column 4: this {{ is never closed'],
    ['{{a {{b}}', 'line 1, column 1: this {{ is never closed'],
    ['{{["a}}', 'line 1, column 3: the path "[\\"a" has a bracket that does not close'],
    ['{{}}', 'names nothing: write a path'],
    ['{{#with a}}', 'there is no helper "#with": there are #each and #if'],
    ['{{#unless a}}', 'there is no helper "#unless"'],
    ['{{upper a}}', 'the only helper before a path is json'],
    ['{{#each a}}', '{{#each}} is never closed: write {{/each}}'],
    ['{{#if a}}{{#each b}}{{/if}}', 'column 21: {{/if}} stands where {{#each}} has to be closed'],
    ['{{/each}}', '{{/each}} closes nothing'],
    ['{{else}}', '{{else}} stands in no {{#each}} and no {{#if}}'],
    ['{{#if a}}{{else}}{{else}}{{/if}}', 'column 18: this {{#if}} has an {{else}} already'],
    ['{{#if a}}{{else if b}}{{/if}}', '{{else}} takes nothing'],
    ['{{#if}}x{{/if}}', '{{#if}} needs a path'],
    ['{{../a}}', 'has no way up with ../'],
    ['{{.}}', 'write {{this}}'],
    [`{{a${'.a'.repeat(64)}}}`, 'has 65 steps, and an event nests 64 deep at most'],
    ['{{a..b}}', 'line 1, column 5: the path "a..b" has two dots'],
    ['{{a.}}', 'ends with a dot'],
    ['{{a[x]}}', 'write ["a name"] or [0]'],
    ['{{a|b}}', 'has a "|" in it: write the name as ["a name"]'],
    ['{{@nothing}}', 'is no value of ours; of a webhook there are @delivery, @event'],
    ['{{@}}', 'names nothing after the @'],
    ['{{@index}}', 'is known within {{#each}} only'],
    ['{{#each a}}{{else}}{{/each}}{{@index}}', 'is known within {{#each}} only'],
    ['{{{a}}}', 'three braces have no meaning'],
    ['{{> part}}', 'no templates within templates'],
    ['{{&a}}', '{{path}} is enough'],
    ['{{^a}}', 'write {{#if path}}{{else}}'],
    ['{{~a}}', 'blanks are not taken away by ~'],
    ['{{!-- a }}', 'this comment is never closed: write --}}'],
    ['{{#if a}}'.repeat(limits.maxTemplateDepth + 1), `more than ${limits.maxTemplateDepth} deep`],
  ])('%j is refused with what would be right', (text, expected) => {
    expect(fault(text)).toContain(expected);
  });

  test('is as deep as it may be', () => {
    const { maxTemplateDepth } = limits;
    expect(nodes('{{#if a}}'.repeat(maxTemplateDepth) + '{{/if}}'.repeat(maxTemplateDepth))).toHaveLength(1);
  });

  test.each<[TriggerKind, string, string]>([
    [
      'schedule',
      'Of {{repository}}',
      'the path "repository" is of an event, and a schedule has none; there are @delivery, @schedule, @time',
    ],
    ['schedule', '{{#each this}}x{{/each}}', 'the path "this" is of an event'],
    ['schedule', '{{@body}}', 'of a schedule there are @delivery, @schedule, @time'],
    ['webhook', '{{@schedule}}', 'of a webhook there are @delivery, @event, @webhook, @time, @headers, @body, @index'],
  ])('of a %s is refused where it names what there never is: %s', (kind, text, part) => {
    expect(parseTemplate(text, 'input', kind)).toMatchObject({ issue: { path: 'input', message: expect.stringContaining(part) } });
  });

  test('of a schedule knows when it runs', () => {
    expect(parseTemplate('{{@schedule}} {{#if @time}}{{@time}}{{/if}} {{@delivery}}', 'input', 'schedule')).toHaveProperty('template');
  });

  test('names the field that has the fault, and quotes little of it', () => {
    const parsed = parseTemplate(`{{${'x y'.repeat(10_000)}}}`, 'session');
    expect(parsed).toMatchObject({ issue: { path: 'session' } });
    expect(fault(`{{/${'x'.repeat(10_000)}}}`).length).toBeLessThan(500);
    expect(fault(`{{#${'x'.repeat(10_000)}}}`).length).toBeLessThan(500);
  });

  test('without tags is itself, whatever it holds', () => {
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

  test('is read or refused at a place within it, whatever it holds', () => {
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
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['tags', '{{a}}'],
    ['backslashes', '\\'],
    ['blanks before tags', `{{a}}${' '.repeat(50)}`],
    ['open braces', '{ {'],
    ['comments', '{{! x }}\n'],
    ['quotes that do not close', '{{["'],
    ['blocks beside each other', '{{#if a}}\n{{/if}}\n'],
  ])('with many %s, as long as it may be, is read or refused', (_what, part) => {
    const text = part.repeat(Math.floor(limits.maxInputTemplateLength / part.length));
    const parsed = parseTemplate(text, 'input');
    expect('template' in parsed || parsed.issue.message.length < 500).toBe(true);
  });
});

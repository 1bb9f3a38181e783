/** What happens to texts that the redaction rules cannot be applied to within their bound: they are withheld, never passed on. */
import { describe, expect, it } from 'vitest';
import { createTextRedactor, type TextRedactor } from '../../../src/core/redaction/redact-text.ts';
import { contentText, errorResult, type ToolResult } from '../../../src/core/tools/tool.ts';
import { createRedactor } from '../../../src/engine/call/redact.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { keptLog } from '../../fakes/runtime.ts';

/** Finds `ada`; for each character of a text with `slow` in it, it works as long as for a million others. */
const rule: TextRedactor = createTextRedactor([
  {
    name: 'names',
    label: '[name]',
    *find(text) {
      const work = text.includes('slow') ? 1_000_000 : 1;
      for (let at = 0; at < text.length; at += 1) {
        yield work;
        if (text.startsWith('ada', at)) yield [at, at + 3];
      }
    },
  },
]);
const slow = `ada is slow ${'.'.repeat(100)}`;
const withheld = `the redaction rule "names" could not be applied to a text of ${slow.length} characters within its bound`;

function redactorWith(parts: { results?: TextRedactor | null; logs?: TextRedactor | null; spend?: (seconds: number) => void } = {}) {
  const { results = rule, logs = rule, spend = () => undefined } = parts;
  return createRedactor({ clock: systemClock, compute: { require: async () => undefined, spend } }, { results, logs });
}

const places: Readonly<Record<string, (text: string) => ToolResult>> = {
  'in a text': (text) => ({ isError: false, content: [{ type: 'text', text }] }),
  'beside others': (text) => ({ isError: false, content: ['first ada', text, 'last ada'].map((each) => ({ type: 'text', text: each })) }),
  'in structured content': (text) => ({ isError: false, content: [], structuredContent: { rows: [{ note: text }] } }),
  'in a name of structured content': (text) => ({ isError: false, content: [], structuredContent: { [text]: 1 } }),
  'in an embedded resource': (text) => ({ isError: false, content: [{ type: 'resource', resource: { uri: 'a://b', text } }] }),
  'in an error': (text) => errorResult('tool_error', `it failed: ${text}`.slice('it failed: '.length)),
  'in what a client gets': (text) => ({ isError: false, content: [], meta: { note: text } }),
  'in an error of a server': (text) => ({ isError: true, content: [], protocolError: { code: 1, message: text } }),
  'in issues': (text) => ({ isError: true, content: [], issues: [{ path: 'a', message: text }] }),
};

describe('a result that cannot be redacted', () => {
  it.each(Object.entries(places))('is withheld as a whole, %s', async (_where, resultOf) => {
    const result = await redactorWith().result(resultOf(slow));
    expect(result).toEqual({
      isError: true,
      code: 'result_withheld',
      content: [
        { type: 'text', text: expect.stringContaining(`The tool has run, but its result is withheld: ${withheld}. Ask for less data.`) },
      ],
    });
    expect(contentText(result.content)).toContain('settings.redaction of the workspace');
  });

  it('is withheld with the questions of a tool', async () => {
    const requests = { ask: { method: 'elicitation/create', params: { message: slow } } };
    const result = await redactorWith().result({ isError: false, content: [], input: { requests } as never });
    expect(result).toMatchObject({ code: 'result_withheld' });
    expect(result.input).toBeUndefined();
  });

  it('is redacted if it is short of the bound, in slices that count', async () => {
    let [seconds, pauses] = [0, 0];
    const count = (part: number): void => {
      seconds += part;
    };
    const sleep = async (): Promise<void> => {
      pauses += 1;
    };
    const redactor = createRedactor(
      { clock: { now: () => 0, sleep }, compute: { require: async () => undefined, spend: count } },
      { results: rule, logs: null },
    );
    const text = `slow ada ${'.'.repeat(30)}`;
    expect(contentText((await redactor.result({ isError: false, content: [{ type: 'text', text }] })).content)).toBe(
      text.replace('ada', '[name]'),
    );
    expect(pauses).toBe(text.length);
    expect(seconds).toBeCloseTo(text.length * 0.01);
  });
});

describe('what is redacted at once', () => {
  it('has a notice in place of a text that takes too long, and is otherwise redacted', () => {
    expect(redactorWith().data({ progress: 5, total: 10, message: slow, title: 'by ada', list: ['ada', slow] })).toEqual({
      progress: 5,
      total: 10,
      message: `[withheld: ${withheld}]`,
      title: 'by [name]',
      list: ['[name]', `[withheld: ${withheld}]`],
    });
    expect(redactorWith().text(slow)).toBe(`[withheld: ${withheld}]`);
  });

  it('has a notice in place of a text that is too long', () => {
    const long = `ada ${'x'.repeat(70_000)}`;
    expect(redactorWith().data({ short: 'ada', long })).toEqual({
      short: '[name]',
      long: '[withheld: a text of 70004 characters is too long to be redacted here]',
    });
    const redactor = createRedactor({ clock: systemClock });
    redactor.addSecret('hunter22222');
    expect(redactor.text(`hunter22222 ${long}`)).toMatch(/^\[withheld: a text of \d+ characters/);
    expect(createRedactor({ clock: systemClock }).text(long)).toBe(long);
  });

  it('in a line of the log: one field does not hide the others', () => {
    const log = keptLog();
    redactorWith().log(log).error('a tool of ada failed', { canonical: 'docs.read', error: slow, by: 'ada' });
    redactorWith({ logs: null })
      .log(log)
      .info('no rules', { cause: new Error('ada') });
    redactorWith().log(log).info('no fields');
    expect(log.lines).toEqual([
      {
        level: 'error',
        message: 'a tool of [name] failed',
        fields: { canonical: 'docs.read', error: `[withheld: ${withheld}]`, by: '[name]' },
      },
      { level: 'info', message: 'no rules', fields: { cause: new Error('ada') } },
      { level: 'info', message: 'no fields', fields: {} },
    ]);
  });
});

it('refuses data for a client that it cannot redact, and says what it is', async () => {
  expect(await redactorWith().content({ text: 'by ada' }, 'The prompt')).toEqual({ text: 'by [name]' });
  await expect(redactorWith().content({ text: slow }, 'The prompt')).rejects.toMatchObject({
    code: 'upstream_error',
    detail: expect.stringContaining(`The prompt is withheld: ${withheld}.`),
  });
});

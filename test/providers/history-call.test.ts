/** Calls of the past as every API takes them back. */
import { describe, expect, it } from 'vitest';
import type { ToolCallPart } from '../../src/core/message.ts';
import { WireName } from '../../src/core/names.ts';
import { historyArguments, historyInput, historyName } from '../../src/providers/history-call.ts';

const call = (args: ToolCallPart['arguments'], raw?: string): ToolCallPart => ({
  type: 'tool-call',
  callId: 'c1',
  requested: 'a',
  canonical: null,
  via: null,
  arguments: args,
  ...(raw !== undefined && { raw }),
});

describe('the name of a past call', () => {
  it.each(['get_weather', '_x', 'A-1'])('%j stays as it is', (name) => {
    expect(historyName(name)).toBe(name);
  });

  it.each(['', '7up', '-x', 'functions.run:0', 'ö', ' ', 'x'.repeat(100), '🙂'])('%j becomes one that may be offered anywhere', (name) => {
    expect(WireName.safeParse(historyName(name)).success).toBe(true);
  });
});

describe('the input of a past call', () => {
  it('is the arguments that it had', () => {
    expect(historyInput(call({ city: 'Paris' }, '{"city":"Pa'))).toEqual({ city: 'Paris' });
  });

  it('that nobody could read is shown as it began, under a name that says so, and no longer than is good', () => {
    expect(historyArguments(call(null, '{"ci'))).toBe('{"rawInvalidInput":"{\\"ci"}');
    const long = historyInput(call(null, `{"${'🙂'.repeat(50_000)}`));
    expect(JSON.stringify(long).length).toBeLessThan(2100);
    expect(String(long.rawInvalidInput).isWellFormed()).toBe(true);
  });

  it('that never came is an empty object', () => {
    expect([historyArguments(call(null)), historyArguments(call(null, ''))]).toEqual(['{}', '{}']);
  });
});

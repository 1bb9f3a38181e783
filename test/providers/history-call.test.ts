/** Earlier calls in the form that every API accepts. */
import { historyArguments, historyInput, historyName } from '../../src/providers/history-calls.ts';
import { describe, expect, it } from 'vitest';
import type { ToolCallPart } from '../../src/core/model/message.ts';
import { WireName } from '../../src/core/names/names.ts';

const call = (args: ToolCallPart['arguments'], raw?: string): ToolCallPart => ({
  type: 'tool-call',
  callId: 'c1',
  requested: 'a',
  canonical: null,
  via: null,
  arguments: args,
  ...(raw !== undefined && { raw }),
});

describe('the name of an earlier call', () => {
  it.each(['get_weather', '_x', 'A-1'])('%j is unchanged', (name) => {
    expect(historyName(name)).toBe(name);
  });

  it.each(['', '7up', '-x', 'functions.run:0', 'ö', ' ', 'x'.repeat(100), '🙂'])('%j becomes a legal name', (name) => {
    expect(WireName.safeParse(historyName(name)).success).toBe(true);
  });
});

describe('the input of an earlier call', () => {
  it('is its arguments', () => {
    expect(historyInput(call({ city: 'Paris' }, '{"city":"Pa'))).toEqual({ city: 'Paris' });
  });

  it('that is invalid is shown as its beginning, under a descriptive name and with bounded length', () => {
    expect(historyArguments(call(null, '{"ci'))).toBe('{"rawInvalidInput":"{\\"ci"}');
    const long = historyInput(call(null, `{"${'🙂'.repeat(50_000)}`));
    expect(JSON.stringify(long).length).toBeLessThan(2100);
    expect(String(long.rawInvalidInput).isWellFormed()).toBe(true);
  });

  it('that never arrived is an empty object', () => {
    expect([historyArguments(call(null)), historyArguments(call(null, ''))]).toEqual(['{}', '{}']);
  });
});

/** The settings of a request that its model receives, on any API. */
import { describe, expect, it } from 'vitest';
import type { ModelSettings } from '../../src/core/turn/plan.ts';
import { plainProfile } from '../../src/providers/profiles.ts';
import { requestedFormat, supportedSettings } from '../../src/providers/supported-settings.ts';

const all: ModelSettings = {
  temperature: 1,
  topP: 0.5,
  topK: 3,
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
  stop: ['END'],
  seed: 7,
  parallelToolCalls: false,
  responseFormat: { type: 'json_object' },
  reasoningEffort: 'low',
  maxOutputTokens: 10,
};
const left = (flags: object, hasTools = true): string[] => {
  const taken = supportedSettings(all, { ...plainProfile, ...flags }, hasTools);
  return Object.keys(all).filter((name) => !(name in taken));
};

describe('settings', () => {
  it('are all kept without flags', () => {
    expect(supportedSettings(all, plainProfile, true)).toEqual(all);
  });

  it.each([
    [{ noSampling: true }, ['temperature', 'topP', 'topK']],
    [{ noPenalties: true }, ['frequencyPenalty', 'presencePenalty']],
    [{ noStop: true }, ['stop']],
    [{ parallelToolCalls: false }, ['parallelToolCalls']],
    [{ formatWithTools: false }, ['responseFormat']],
  ])('%j removes %j', (flags, names) => {
    expect(left(flags)).toEqual(names);
  });

  it('contain nothing about tools if there are none, and then keep the response format', () => {
    expect(left({ formatWithTools: false }, false)).toEqual(['parallelToolCalls']);
  });

  it('use the profile’s token limit if the request has none', () => {
    const profile = { ...plainProfile, defaultMaxTokens: 99 };
    expect(supportedSettings({}, profile, false)).toEqual({ maxOutputTokens: 99 });
    expect(supportedSettings({ maxOutputTokens: 5 }, profile, false)).toEqual({ maxOutputTokens: 5 });
  });
});

it.each([
  [undefined, null],
  [{ type: 'text' }, null],
  [{ type: 'json_object' }, { schema: null }],
  [{ type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }, { schema: { type: 'object' } }],
  [{ type: 'json_schema', json_schema: 'odd' }, { schema: null }],
])('%j requests the format %j', (responseFormat, form) => {
  expect(requestedFormat({ responseFormat })).toEqual(form);
});

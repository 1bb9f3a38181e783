/** The settings of a request that its model receives, on any API. */
import { describe, expect, it } from 'vitest';
import { createDropped } from '../../src/core/model/dropped.ts';
import type { ModelSettings } from '../../src/core/model/model-settings.ts';
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
  const taken = supportedSettings({ settings: all }, { ...plainProfile, topK: true, ...flags }, 'openai-chat', hasTools);
  return Object.keys(all).filter((name) => !(name in taken));
};

describe('settings', () => {
  it('are all kept without flags', () => {
    expect(supportedSettings({ settings: all }, { ...plainProfile, topK: true }, 'openai-chat', true)).toEqual(all);
  });

  it.each([
    [{ noSampling: true }, ['temperature', 'topP', 'topK']],
    [{ noPenalties: true }, ['frequencyPenalty', 'presencePenalty']],
    [{ noStop: true }, ['stop']],
    [{ parallelToolCalls: false }, ['parallelToolCalls']],
  ])('%j removes %j', (flags, names) => {
    expect(left(flags)).toEqual(names);
  });

  it('contain nothing about tools if there are none', () => {
    expect(left({}, false)).toEqual(['parallelToolCalls']);
  });

  it('that the API does not have are left out and named, but not what is its default', () => {
    const dropped = createDropped();
    const settings = { ...all, parallelToolCalls: true, user: 'x'.repeat(65), metadata: { a: 1 } };
    const taken = supportedSettings({ settings, dropped }, plainProfile, 'gemini', true);
    expect(Object.keys(taken)).not.toContain('parallelToolCalls');
    expect(dropped.items().map(({ name }) => name)).toEqual(['user', 'metadata']);
    const long = createDropped();
    supportedSettings({ settings, dropped: long }, plainProfile, 'anthropic', true);
    expect(long.items().map(({ name }) => name)).toEqual(expect.arrayContaining(['user', 'seed', 'frequencyPenalty']));
  });

  it('use the profile’s token limit if the request has none', () => {
    const profile = { ...plainProfile, defaultMaxTokens: 99 };
    expect(supportedSettings({ settings: {} }, profile, 'openai-chat', false)).toEqual({ maxOutputTokens: 99 });
    expect(supportedSettings({ settings: { maxOutputTokens: 5 } }, profile, 'openai-chat', false)).toEqual({ maxOutputTokens: 5 });
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

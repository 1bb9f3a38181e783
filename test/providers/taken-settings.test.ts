/** What of a request's settings its model is told, whichever API it speaks. */
import { describe, expect, it } from 'vitest';
import type { ModelSettings } from '../../src/core/plan.ts';
import { plainProfile } from '../../src/providers/profile-rows.ts';
import { askedFormat, takenSettings } from '../../src/providers/taken-settings.ts';

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
  const taken = takenSettings(all, { ...plainProfile, ...flags }, hasTools);
  return Object.keys(all).filter((name) => !(name in taken));
};

describe('settings', () => {
  it('are all taken where no flag says otherwise', () => {
    expect(takenSettings(all, plainProfile, true)).toEqual(all);
  });

  it.each([
    [{ noSampling: true }, ['temperature', 'topP', 'topK']],
    [{ noPenalties: true }, ['frequencyPenalty', 'presencePenalty']],
    [{ noStop: true }, ['stop']],
    [{ parallelToolCalls: false }, ['parallelToolCalls']],
    [{ formatWithTools: false }, ['responseFormat']],
  ])('%j leaves out %j', (flags, names) => {
    expect(left(flags)).toEqual(names);
  });

  it('say nothing of tools where there are none, and keep the form of the answer then', () => {
    expect(left({ formatWithTools: false }, false)).toEqual(['parallelToolCalls']);
  });

  it('name as many tokens as the profile says where the request names none', () => {
    const profile = { ...plainProfile, defaultMaxTokens: 99 };
    expect(takenSettings({}, profile, false)).toEqual({ maxOutputTokens: 99 });
    expect(takenSettings({ maxOutputTokens: 5 }, profile, false)).toEqual({ maxOutputTokens: 5 });
  });
});

it.each([
  [undefined, null],
  [{ type: 'text' }, null],
  [{ type: 'json_object' }, { schema: null }],
  [{ type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }, { schema: { type: 'object' } }],
  [{ type: 'json_schema', json_schema: 'odd' }, { schema: null }],
])('the answer that %j asks for has the form %j', (responseFormat, form) => {
  expect(askedFormat({ responseFormat })).toEqual(form);
});

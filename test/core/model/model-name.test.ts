/** Patterns of models: which names they match, and which patterns are within others. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowsModel, calledName, coversPattern, matchesModel, ModelPatterns } from '../../../src/core/model/model-name.ts';
import { runs } from '../../selection.ts';

const called = (ref: string, kind: Parameters<typeof allowsModel>[1]['kind'] = 'openai') => {
  const [provider = '', ...model] = ref.split('/');
  return { provider, kind, model: model.join('/') };
};

describe('an allow-list of models', () => {
  it.each([
    ['openai/gpt-5', 'openai/gpt-5', true],
    ['openai/gpt-5', 'openai/gpt-5-pro', false],
    ['openai/gpt-5*', 'openai/gpt-5-pro', true],
    ['openai/*', 'openai/anything/at:all@x', true],
    ['openai/*', 'openai-responses/gpt-5', false],
    ['*/gpt-5', 'openai/gpt-5', true],
    ['*/gpt-5', 'openai/gpt-5-pro', false],
    ['openrouter/openai/*', 'openrouter/openai/gpt-5', true],
    ['openrouter/openai/*', 'openrouter/anthropic/claude', false],
    // Another case is the same model of the provider, whose name is exact.
    ['openai/gpt-5', 'openai/GPT-5', true],
    ['openai/GPT-5', 'openai/gpt-5', true],
    ['openai/gpt-5', 'OpenAI/gpt-5', false],
    // Other spellings are other names.
    ['openai/gpt-5', 'openai/gpt-5 ', false],
    ['openai/gpt-5', 'openai/ gpt-5', false],
    ['openai/gpt-5', 'openai/gpt%2D5', false],
    ['openai/gpt-5', 'openai/gpt‐5', false],
    ['openai/gpt-5', 'openai/gpt-5\u0000', false],
    ['openai/gpt-5', 'openai//gpt-5', false],
    // Several names in one, as LiteLLM takes them.
    ['openai/gpt-4o*', 'openai/gpt-4o,gpt-5-pro', false],
    ['openai/gpt-4o*', 'openai/gpt-4o\ngpt-5-pro', false],
    ['openai/gpt-4o*', 'openai/gpt-4o?model=gpt-5-pro', false],
    ['openai/gpt-4o*', 'openai/gpt-4o#gpt-5-pro', false],
    ['openai/gpt-4o,gpt-5', 'openai/gpt-4o,gpt-5', true],
  ])('of "%s" allows %j: %s', (pattern, ref, allowed) => {
    expect(allowsModel([pattern], called(ref))).toBe(allowed);
  });

  it.each([
    ['gemini/gemini-flash', 'gemini/models/gemini-flash', true],
    ['gemini/gemini-flash*', 'gemini/gemini-flash/gemini-pro', false],
    ['gemini/gemini-flash*', 'gemini/gemini-flash-x/../gemini-pro', false],
    ['gemini/gemini-pro', 'gemini/publishers/google/models/gemini-pro', true],
    ['gemini/*', 'gemini/tunedModels/mine', true],
    ['gemini/mine', 'gemini/tunedModels/mine', false],
    ['gemini/tunedModels/mine', 'gemini/tunedModels/mine', true],
  ])('of "%s" for Gemini allows %j, by the model that is called: %s', (pattern, ref, allowed) => {
    expect(allowsModel([pattern], called(ref, 'gemini'))).toBe(allowed);
  });

  it.each(['gpt-5', '*', 'agent/helper', 'agent/*', 'OpenAI/gpt-5', '/gpt-5', 'openai/', 'open*/gpt-5', '', `openai/${'x'.repeat(201)}`])(
    'cannot contain %j',
    (pattern) => {
      const { error } = ModelPatterns.safeParse([pattern]);
      expect(error?.issues[0]).toMatchObject({ path: [0], message: expect.stringContaining('<provider>/<model>') });
    },
  );

  it('is not empty, and has at most 100 patterns', () => {
    expect(ModelPatterns.safeParse([]).success).toBe(false);
    expect(ModelPatterns.safeParse(Array.from({ length: 101 }, (_, n) => `a/m${n}`)).success).toBe(false);
  });
});

describe('a pattern', () => {
  it.each([
    [['openai/gpt-5*'], 'openai/gpt-5', true],
    [['openai/gpt-5*'], 'openai/gpt-5-*', true],
    [['openai/gpt-5*'], 'openai/GPT-5-MINI', true],
    [['openai/gpt-5*'], 'openai/gpt-*', false],
    [['openai/gpt-5'], 'openai/gpt-5*', false],
    [['openai/*'], '*/gpt-5', false],
    [['*/gpt-5'], 'openai/gpt-5', true],
    [['*/*'], '*/*', true],
    [['a/x', 'a/y*'], 'a/y1', true],
    [['a/*b*c'], 'a/*c', false],
    [['a/*b*c'], 'a/*bc', true],
  ])('of %j covers %s: %s', (wide, narrow, covers) => {
    expect(coversPattern(wide, narrow)).toBe(covers);
  });

  it('that covers another one matches all that the other one matches', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 6 }).map((list) => list.join(''));
    const name = fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }).map((list) => list.join(''));
    fc.assert(
      fc.property(letters, letters, name, (wide, narrow, text) => {
        if (coversPattern([`p/${wide}`], `p/${narrow}`) && matchesModel(narrow, text)) expect(matchesModel(wide, text)).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('with many stars is matched without trying every division', () => {
    expect(matchesModel(`${'*a'.repeat(100)}b`, 'a'.repeat(20_000))).toBe(false);
  });
});

describe('the name that a provider is asked for', () => {
  it('is the model as it is, and for Gemini the last part', () => {
    expect(calledName({ kind: 'openai', model: 'models/x' })).toBe('models/x');
    expect(calledName({ kind: 'gemini', model: 'models/x' })).toBe('x');
    expect(calledName({ kind: 'gemini', model: 'projects/p/endpoints/123' })).toBe('endpoints/123');
  });
});

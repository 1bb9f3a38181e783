import { describe, expect, it } from 'vitest';
import { ModelAlias, ModelAliasName, resolveModelAlias } from '../../../src/core/model/model-alias.ts';

const aliases = [
  { name: '*', model: 'rehearsal/rest' },
  { name: 'claude-*', model: 'groq/any' },
  { name: 'claude-*-haiku', model: 'groq/small' },
  { name: 'claude-opus-4', model: 'agent/best' },
];

describe('a model alias', () => {
  it.each([
    ['claude-opus-4', 'agent/best'],
    ['claude-sonnet-4', 'groq/any'],
    ['claude-3-5-haiku', 'groq/small'],
    ['gpt-4o', 'rehearsal/rest'],
    ['constructor', 'rehearsal/rest'],
  ])('stands for the exact name first, then for the closest pattern: %s is %s', (requested, model) => {
    expect(resolveModelAlias(aliases, requested)).toBe(model);
    expect(resolveModelAlias(aliases.toReversed(), requested)).toBe(model);
  });

  it('does not match a name that is shorter than the text of its pattern', () => {
    expect(resolveModelAlias([{ name: 'ab*ba', model: 'x/y' }], 'aba')).toBeNull();
    expect(resolveModelAlias([{ name: 'gpt-4o', model: 'x/y' }], 'gpt-4o-mini')).toBeNull();
  });

  it('names a model or an agent and never an alias, so there are no loops', () => {
    expect(ModelAlias.safeParse({ model: 'agent/demo' }).success).toBe(true);
    for (const model of ['claude-*', 'gpt-4o', '', '/x', 'Groq/x']) expect(ModelAlias.safeParse({ model }).success).toBe(false);
    for (const name of ['a*b*', '', 'x'.repeat(129), '-x', 'a b']) expect(ModelAliasName.safeParse(name).success).toBe(false);
  });

  it('may have the form of <provider>/<model>, and then takes precedence over it', () => {
    const named = [
      { name: '*', model: 'rehearsal/rest' },
      { name: 'openai/*', model: 'groq/any' },
      { name: 'openai/gpt-4o', model: 'agent/best' },
      { name: '*/mini', model: 'groq/mini' },
    ];
    const found = (name: string) => resolveModelAlias(named, name);
    expect(['openai/gpt-4o', 'openai/gpt-5', 'openai/a/b', 'together/mini'].map(found)).toEqual([
      'agent/best',
      'groq/any',
      'groq/any',
      'groq/mini',
    ]);
    // A pattern without "/" stands for names without one.
    expect(['groq/llama', 'gpt-4o'].map(found)).toEqual([null, 'rehearsal/rest']);
  });

  it('never stands for names of agents and of the rehearsal', () => {
    const named = ['*/*', 'agent/x', '*/default', 'Agent/x'].map((name) => ({ name, model: 'groq/any' }));
    for (const name of ['agent/x', 'rehearsal/default']) expect(resolveModelAlias(named, name)).toBeNull();
    for (const name of ['agent/x', 'Agent/x', 'rehearsal/default', 'rehearsal/*'])
      expect(ModelAliasName.safeParse(name).success).toBe(false);
  });

  it.each(['a/', '/a', 'a//b', 'a/../b', 'a/..', './a', 'a/.', 'a%2Fb', 'a\\b', 'a/b?c', 'a/b#c', `${'a/'.repeat(64)}b`])(
    'cannot have the name %s',
    (name) => expect(ModelAliasName.safeParse(name).success).toBe(false),
  );

  it.each(['groq/llama-4-maverick', 'together_ai/meta-llama/Llama-4', 'openai/*', '*/mini', 'a/b.c/..d'])('can have the name %s', (name) =>
    expect(ModelAliasName.safeParse(name).success).toBe(true),
  );
});

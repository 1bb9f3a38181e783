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
    for (const name of ['groq/x', 'a*b*', '', 'x'.repeat(129), '-x', 'a b']) expect(ModelAliasName.safeParse(name).success).toBe(false);
  });
});

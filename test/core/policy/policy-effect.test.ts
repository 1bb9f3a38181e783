import { describe, expect, it } from 'vitest';
import { effectRules, PolicyEffect, rulesOfEffect } from '../../../src/core/policy/policy-effect.ts';
import { callEffect } from '../../../src/core/policy/effects/call.ts';

const rule = {
  path: '/tmp/a',
  host: 'api.example',
  method: 'POST',
  secret: 'GH',
  name: 'support',
  resource: 'docs.file:///a',
  prompt: 'docs.a',
};
const effects = [...effectRules.flatMap((kind) => kind.examples(rule)), callEffect({ kind: 'mcp', annotations: {} })];

describe('the table of effects', () => {
  it('has a public schema for each kind, which accepts its effects unchanged', () => {
    expect(new Set(effects.map(({ kind }) => kind)).size).toBe(effectRules.length);
    for (const effect of effects) expect(PolicyEffect.parse(effect)).toEqual(effect);
  });

  it('names what an effect is about in the fields of a rule', () => {
    for (const effect of effects) {
      const subject = rulesOfEffect(effect).subject(effect);
      expect(subject.path ?? rule.path).toMatch(/^\/tmp\/a/);
      expect({ ...rule, ...subject, path: rule.path }).toEqual(rule);
    }
  });
});

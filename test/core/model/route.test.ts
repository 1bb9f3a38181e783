import { describe, expect, it } from 'vitest';
import { ModelAlias } from '../../../src/core/model/model-alias.ts';
import { nameForTurns, modelsOf, type NamedRoute } from '../../../src/core/model/route.ts';

const faults = (alias: object): string[] =>
  (ModelAlias.safeParse(alias).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('the document of a route', () => {
  it('accepts targets with every other member, and a weight of 0 beside others', () => {
    const alias = {
      targets: [
        { model: 'openai/gpt-5.5', weight: 3 },
        { model: 'azure-eu/gpt-5.5', weight: 0 },
      ],
      strategy: 'weighted',
      fallbacks: ['groq/llama-3.3-70b'],
      contextFallback: 'openai/gpt-5.5',
      retries: 2,
      timeouts: { firstByteMs: 5_000, betweenBytesMs: 5_000, wholeMs: 60_000, totalMs: 90_000 },
      sticky: 'key',
    };
    expect(ModelAlias.parse(alias)).toEqual(alias);
  });

  it.each([
    ['only weights of 0', { targets: [{ model: 'a/b', weight: 0 }] }, 'targets: at least one target needs'],
    ['a negative weight', { targets: [{ model: 'a/b', weight: -1 }] }, 'targets.0.weight: '],
    ['no target', { targets: [] }, 'targets: '],
    ['an alias as a target', { targets: [{ model: 'fast' }] }, 'targets.0.model: must be <provider>/<model>; a target is never an alias'],
    ['an agent as a target', { targets: [{ model: 'agent/helper' }] }, 'targets.0.model: must be <provider>/<model>'],
    ['an alias as a fallback', { targets: [{ model: 'a/b' }], fallbacks: ['fast'] }, 'fallbacks.0: must be <provider>/<model>'],
    ['a target twice', { targets: [{ model: 'a/b' }, { model: 'a/b' }] }, 'targets.1.model: is a target already'],
    ['a context fallback to the only target', { targets: [{ model: 'a/b' }], contextFallback: 'a/b' }, 'contextFallback: '],
    ['a model and targets', { model: 'a/b', targets: [{ model: 'a/b' }] }, 'model: give either model or targets'],
    ['neither model nor targets', { description: 'x' }, 'model: is required'],
    ['members of a route without targets', { model: 'a/b', strategy: 'weighted' }, 'strategy: needs `targets`'],
    ['33 targets', { targets: Array.from({ length: 33 }, (_, index) => ({ model: `a/${index}` })) }, 'targets: '],
    ['a strategy that does not exist', { targets: [{ model: 'a/b' }], strategy: 'random' }, 'strategy: '],
    ['17 fallbacks', { targets: [{ model: 'a/b' }], fallbacks: Array.from({ length: 17 }, () => 'a/c') }, 'fallbacks: '],
  ])('refuses %s', (_name, alias, fault) => {
    const found = faults(alias);
    expect(found.length).toBeGreaterThan(0);
    expect(found[0]).toContain(fault);
  });
});

describe('the models of a name', () => {
  const route: NamedRoute = {
    name: 'fast',
    targets: [{ model: 'a/1' }, { model: 'a/2' }],
    fallbacks: ['b/1', 'a/1'],
    contextFallback: 'c/1',
  };

  it('are each listed once, with the first target first', () => {
    expect(modelsOf(route)).toEqual(['a/1', 'a/2', 'b/1', 'c/1']);
    expect(modelsOf('a/1')).toEqual(['a/1']);
  });

  it('are stored in a session by the name of the alias, unless that looks like a model', () => {
    expect([nameForTurns(route), nameForTurns({ ...route, name: 'openai/gpt-4o' }), nameForTurns('a/1')]).toEqual(['fast', 'a/1', 'a/1']);
  });
});

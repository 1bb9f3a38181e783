import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold } from '../../../src/core/names/fold.ts';
import { limits } from '../../../src/core/limits/limits.ts';

describe('fold', () => {
  it.each(['web_search', 'web-search', 'webSearch', 'WebSearch', 'WEB_SEARCH', 'Web Search', 'web.search', ' web_search\n', 'web__search'])(
    'folds %j to websearch',
    (spelling) => {
      expect(fold(spelling)).toBe('websearch');
    },
  );

  it.each([
    'functions.bash',
    'function.bash',
    'Functions.Bash',
    'functions.functions.bash',
    'tools.bash',
    'default_api.bash',
    'default_api:bash',
  ])('drops prefixes that models add: %s', (spelling) => {
    expect(fold(spelling)).toBe('bash');
  });

  it('folds mcp__server__tool like the canonical name', () => {
    expect(fold('mcp__github__search_issues')).toBe(fold('github.search_issues'));
  });

  it('keeps a prefix that is the whole name', () => {
    expect(fold('functions.')).toBe('functions');
    expect(fold('functions')).toBe('functions');
    expect(fold('tools_list')).toBe('toolslist');
  });

  it('folds ASCII only, so that no other letter equals an ASCII letter', () => {
    expect(fold('\u212Aelvin')).not.toBe(fold('kelvin'));
    expect(fold('\u0130d')).not.toBe(fold('id'));
    expect(fold('\uFEFFgit')).not.toBe(fold('git'));
    expect(fold('Caf\u00C9')).toBe('caf\u00C9');
  });

  it('returns ’’ for separators alone and for text longer than any name', () => {
    expect(fold(' _-. ')).toBe('');
    expect(fold('a'.repeat(limits.maxToolNameLength + 1))).toBe('');
    expect(fold('a'.repeat(limits.maxToolNameLength))).not.toBe('');
  });

  it('is idempotent', () => {
    for (const text of ['a\t-', '-\ta', '\0\t-']) expect(fold(fold(text))).toBe(fold(text));
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('functions.', 'mcp__', 'tools.', '_', '-', '.', ' ', 'default_api:', 'Web'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = fold(pieces.join(''));
        expect(fold(once)).toBe(once);
      }),
    );
  });

  it('ignores how words are separated', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const camel = words.map((one, index) => (index === 0 ? one : one.charAt(0).toUpperCase() + one.slice(1))).join('');
        const spellings = [
          words.join('_'),
          words.join('-'),
          words.join(' '),
          camel,
          words.join('_').toUpperCase(),
          `functions.${words.join('_')}`,
        ];
        expect(new Set(spellings.map(fold)).size).toBe(1);
      }),
    );
  });

  it('takes linear time on repeated prefixes', () => {
    expect(fold('functions.'.repeat(50))).toBe('functions');
  });
});

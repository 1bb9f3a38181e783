import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { createTextRedactor } from '../../src/core/redaction/redact-text.ts';
import { createPatternSearch } from '../../src/platform/pattern-search.ts';
import { checkPatterns, compilePatterns } from '../../src/platform/text-patterns.ts';
import { applyRules } from '../redaction.ts';
import { runs } from '../selection.ts';

const redact = async (pattern: string, text: string, replaceWith?: string): Promise<string> => {
  const rules = await compilePatterns([{ name: 'own', pattern, ...(replaceWith !== undefined && { replaceWith }) }]);
  return applyRules(createTextRedactor(rules), text);
};

describe('patterns of a workspace', () => {
  it('replace every match with the label, by default the name', async () => {
    expect(await redact('EMP-[0-9]{6}', 'EMP-123456, EMP-1, EMP-654321')).toBe('[own], EMP-1, [own]');
    expect(await redact('(?i)project (apollo|gemini)', 'Project Apollo', '[project]')).toBe('[project]');
    expect(await redact('\\bcat\\b', 'cat concat cat')).toBe('[own] concat [own]');
    expect(await redact('^a', 'aaa')).toBe('[own]aa');
    expect(await redact('a$', 'aaa')).toBe('aa[own]');
  });

  it('find matches wherever they are in a long text', async () => {
    const places = [0, 3_060, 3_070, 3_072, 4_090, 4_096, 9_000, 12_287];
    for (const place of places) {
      const text = `${'.'.repeat(place)}EMP-123456${'.'.repeat(5_000)}`;
      expect(await redact('EMP-[0-9]{6}', text), String(place)).toBe(`${'.'.repeat(place)}[own]${'.'.repeat(5_000)}`);
    }
    expect(await redact('\\bx', `${'y'.repeat(3_072)}x`)).toBe(`${'y'.repeat(3_072)}x`);
  });

  it('find matches of any length', async () => {
    for (const length of [1_000, 3_000, 4_095, 10_000, 200_000]) {
      expect(await redact('BEGIN[^.]*END', `a BEGIN${'x'.repeat(length)}END b`), String(length)).toBe('a [own] b');
      expect(await redact('key: .*', `key: ${'x'.repeat(length)}\nrest`), String(length)).toBe('[own]\nrest');
    }
  });

  it('replace the rest of a text with too many matches', async () => {
    expect(await redact('a', 'a '.repeat(10_005))).toBe(`${'[own] '.repeat(10_000)}[own]`);
  });

  it.each([
    ['(a', 'is not a regular expression of RE2'],
    ['(?=a)b', 'no lookaround'],
    ['(a)\\1', 'no backreferences'],
    ['a*', 'must not match the empty text'],
    ['((a{100}){100}){100}', 'is'],
    ['(?:[a-z]{1,900}x){1,900}', 'is'],
    ['[a-z]{1,1000}[0-9]{1,1000}', 'has 4000 states when it is compiled, and at most 2000 are allowed'],
  ])('are refused: %s', async (pattern, why) => {
    expect(await checkPatterns([{ name: 'own', pattern }])).toEqual({
      issues: [{ path: 'settings.redaction.patterns[0].pattern', message: expect.stringContaining(why) }],
      warnings: [],
    });
  });

  it('are warned about if only short results can be searched for certain', async () => {
    const patterns = ['EMP-[0-9]{6}', '(?i)customer.{0,500}(name|mail)'].map((pattern, index) => ({ name: `own-${index}`, pattern }));
    expect(await checkPatterns(patterns)).toEqual({
      issues: [],
      warnings: [
        {
          path: 'settings.redaction.patterns[1].pattern',
          message: expect.stringMatching(
            /^has 1021 states when it is compiled, so that a result of more than \d{5} characters can be withheld/,
          ),
        },
      ],
    });
  });
});

/** The matches of the library, without empty ones. */
function expectedMatches(compiled: RE2JS, text: string): string[] {
  const found: string[] = [];
  for (const matcher = compiled.matcher(text); matcher.find(); )
    if (matcher.end() > matcher.start()) found.push(`${matcher.start()}-${matcher.end()}`);
  return found;
}

function foundMatches(compiled: RE2JS, text: string): string[] {
  return [...createPatternSearch(compiled)(text)].flatMap((step) => (typeof step === 'number' ? [] : [`${step[0]}-${step[1]}`]));
}

describe('the search for a pattern', () => {
  it('finds the same matches as the library, for random patterns and texts', () => {
    const random = createRandom(20_261_128);
    let matches = 0;
    for (let count = 0; count < runs(6_000); count += 1) {
      const pattern = randomPattern(random);
      const text = Array.from({ length: random(20) }, () => pickFrom(random, letters)).join('');
      const compiled = RE2JS.compile(pattern);
      const expected = expectedMatches(compiled, text);
      matches += expected.length;
      expect(foundMatches(compiled, text), `${JSON.stringify(pattern)} in ${JSON.stringify(text)}`).toEqual(expected);
    }
    expect(matches).toBeGreaterThan(runs(4_000));
  });

  it('finds the same matches where each character leads to new states', () => {
    const random = createRandom(7);
    const mostlyTwo = [...'ab'.repeat(20), 'c', 'd', ' ', 'é'];
    for (const pattern of ['a[ab]{14}c', '(?:a[ab]{11}c|b[ab]{13}d)+', 'a[abé]{12,13}c.*?d', '\\ba[ab]{14}\\b|c[^c]{9}']) {
      const text = Array.from({ length: 30_000 }, () => pickFrom(random, mostlyTwo)).join('');
      const compiled = RE2JS.compile(pattern);
      // The library searches a text of this length without its own bounds.
      const expected = expectedMatches(compiled, text);
      expect(expected.length).toBeGreaterThan(10);
      expect(foundMatches(compiled, text), pattern).toEqual(expected);
    }
  });

  it('takes turns with searches of other texts for the same pattern', () => {
    const search = createPatternSearch(RE2JS.compile('a[^z]{0,300}b'));
    const texts = ['a', 'ab', 'xa'].map((unit) => `${unit.repeat(10_000)}b`);
    const alone = texts.map((text) => [...search(text)].filter((step) => typeof step !== 'number'));
    const together = texts.map((text) => ({ steps: search(text)[Symbol.iterator](), found: [] as unknown[] }));
    for (let left = together.length; left > 0; ) {
      left = 0;
      for (const { steps, found } of together) {
        const { done, value } = steps.next();
        if (done === true) continue;
        if (typeof value !== 'number') found.push(value);
        left += 1;
      }
    }
    expect(together.map(({ found }) => found)).toEqual(alone);
    expect(alone.map(({ length }) => length)).toEqual([1, 67, 1]);
  });
});

type Random = (below: number) => number;

/** A linear congruential generator, so that a failure can be repeated. */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

function pickFrom<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item;
}

const letters = ['a', 'b', 'c', 'K', 'k', 'ſ', 'K', 'é', 'É', 'ß', 'ẞ', '😀', '\ud83d', '\ude00', '\n', ' ', '_', '1', 'A', 'S', 'ü'];
const atoms = [
  ...['a', 'b', 'c', 'k', 's', '.', '[ab]', '[^a]', '\\w', '\\d', '\\b', '\\B', '^', '$', '\\s', 'é', '[é-ü]', '😀', '\\pL', '\\x{1F600}'],
  ...['[[:alpha:]]', 'ß', '\\n', '(?m:^)', '(?m:$)', '\\A', '\\z', '(?s:.)'],
];
const repetitions = ['', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{0,3}', '{1,3}?', '{0}'];

function randomPattern(random: Random): string {
  const alternatives = (depth: number): string =>
    Array.from({ length: 1 + random(3) }, () => (random(12) === 0 ? '' : parts(depth))).join('|');
  const parts = (depth: number): string =>
    Array.from({ length: 1 + random(4) }, () => part(depth) + pickFrom(random, repetitions)).join('');
  const part = (depth: number): string =>
    depth > 0 && random(12) < 4 ? `(${pickFrom(random, ['', '?:', '?i:'])}${alternatives(depth - 1)})` : pickFrom(random, atoms);
  return `${random(4) === 0 ? '(?i)' : ''}${alternatives(2)}`;
}

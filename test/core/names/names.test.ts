import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isAlias,
  isWireName,
  listedNameFault,
  ownWireNames,
  parseAlias,
  parseWireName,
  quote,
  toWireName,
} from '../../../src/core/names/names.ts';

/** The intersection of all providers' rules, repeated here so that the test does not depend on the source. */
const legal = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

describe('parseAlias', () => {
  it.each(['ab', 'web_search', 'search-2', 'a'.repeat(64), 'tool__x', 'trail-'])('takes %s', (alias) => {
    expect(parseAlias(alias)).toEqual({ ok: true, alias });
  });

  it('trims white space around an alias', () => {
    expect(parseAlias(' git_status\n')).toEqual({ ok: true, alias: 'git_status' });
  });

  it.each([
    ['', 'it is empty'],
    ['a', 'shorter than 2'],
    ['a'.repeat(65), 'longer than 64'],
    ['Search', 'contains capitals'],
    ['_private', 'begin with a letter'],
    ['0abc', 'begin with a letter'],
    ['a:b', 'no provider accepts'],
    ['a.b', 'contains "."'],
    ['git status', 'contains a space'],
    ['git\nstatus', 'U+000A'],
    ['\uFEFFgit', 'U+FEFF'],
    ['g\u0456t', 'U+0456'],
    ['\u{1F600}', 'U+1F600'],
    ['\uD83D', 'U+D83D'],
    ['constructor', 'member of every JavaScript object'],
    ['__proto__', 'member of every JavaScript object'],
    ['tostring', 'member of every JavaScript object'],
  ])('refuses %j and says that %s', (text, reason) => {
    const parsed = parseAlias(text);
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
    expect(isAlias(text)).toBe(false);
  });

  it('agrees with isAlias on everything that needs no trimming', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parsed = parseAlias(text);
        if (parsed.ok) expect(isAlias(parsed.alias)).toBe(true);
        else expect(isAlias(text)).toBe(false);
      }),
    );
  });
});

describe('parseWireName', () => {
  it.each(['terminalRun', '_private', 'A1', 'get_workflow'])('takes %s', (name) => {
    expect(parseWireName(name)).toEqual({ ok: true, wireName: name });
  });

  it.each(['a', '1st', '-x', 'a.b', 'a b', 'toString', '__proto__', 'a'.repeat(65), ''])('refuses %j', (name) => {
    expect(parseWireName(name)).toMatchObject({ ok: false, reason: expect.stringContaining('cannot be a name') });
  });
});

describe('names that servers list', () => {
  it.each([
    ['a/b'],
    ['repo/issues:list'],
    ['$x'],
    ['#'],
    ['größe'],
    ['gro\u0308ße'],
    ['查询'],
    ['get_пользователь'],
    ['Summarize  Detection (v2)'],
    ['a.b.c'],
    ['n'.repeat(129)],
    ['n'.repeat(256)],
    ['می\u200cخواهم'],
    ['🔍'],
    ['❤\ufe0f list'],
    ['👩\u200d💻'],
    ["it's <here>"],
    ['constructor'],
  ])('accepts %j and gives it a legal wire name', (name) => {
    expect(listedNameFault(name)).toBeNull();
    expect(isWireName(toWireName(`server.${name}`, name))).toBe(true);
  });

  it.each([
    ['', 'empty'],
    ['n'.repeat(257), 'longer than 256'],
    [' a', 'white space'],
    ['a\u3000', 'white space'],
    ['a\nb', 'U+000A'],
    ['a\tb', 'U+0009'],
    ['a\u200bb', 'U+200B'],
    ['a\u202eb', 'U+202E'],
    ['a\u{e0041}', 'U+E0041'],
    ['a\ufe0f', 'U+FE0F'],
    ['a\u200d_b', 'U+200D'],
    ['a\u0007', 'U+0007'],
    ['\ud83d', 'U+D83D'],
    ['\ue000', 'U+E000'],
    ['r\u0435ad_file', 'look alike'],
    ['\u03bfpen', 'look alike'],
    ['read_*', 'any name'],
  ])('refuses %j and says that it is %s', (name, reason) => {
    expect(listedNameFault(name)).toContain(reason);
  });

  it('have distinct, stable, legal wire names, whatever the spelling and the order', () => {
    const names = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom(...'ab/:$. _-äß查я'.split(''), 'constructor'), minLength: 1, maxLength: 80 }),
      { minLength: 2, maxLength: 20 },
    );
    fc.assert(
      fc.property(names, (own) => {
        const tools = own.map((ownName) => ({ canonical: `s.${ownName}`, ownName, wireName: toWireName(`s.${ownName}`, ownName) }));
        const wires = ownWireNames(tools);
        for (const wire of wires) expect(wire).toMatch(legal);
        expect(new Set(wires).size).toBe(own.length);
        expect(ownWireNames(tools.toReversed()).toReversed()).toEqual(wires);
      }),
    );
  });
});

describe('toWireName', () => {
  it('leaves a legal own name unchanged', () => {
    expect(toWireName('github.search_code', 'search_code')).toBe('search_code');
    expect(toWireName('hackernews.getUser', 'getUser')).toBe('getUser');
  });

  it('makes an illegal name legal, with a hash of the whole canonical name', () => {
    expect(toWireName('vectra.Summarize Detection', 'Summarize Detection')).toMatch(/^Summarize_Detection_[0-9a-f]{10}$/);
    expect(toWireName('a.admin.tools', 'admin.tools')).toMatch(/^admin_tools_[0-9a-f]{10}$/);
    expect(toWireName('a.1st', '1st')).toMatch(/^_1st_[0-9a-f]{10}$/);
  });

  it('keeps names distinct that would collide when only cut or made legal', () => {
    const long = 'a'.repeat(70);
    const names = [`${long}1`, `${long}2`].map((name) => toWireName(`s.${name}`, name));
    expect(new Set(names).size).toBe(2);
    expect(toWireName('a.x.y', 'x.y')).not.toBe(toWireName('b.x.y', 'x.y'));
    expect(toWireName('a.x.y', 'x.y')).not.toBe(toWireName('a.x y', 'x y'));
  });

  it('never returns a member of every object', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'then']) expect(isWireName(toWireName(`evil.${name}`, name))).toBe(true);
  });

  it('never changes its result, since models, skills and logs store it', () => {
    expect(toWireName('s.tool number 1', 'tool number 1')).toBe('tool_number_1_a39bf349c5');
    expect(toWireName('s.\u00e9', '\u00e9')).toBe('__40931cf059');
  });

  it('is legal for any name and distinct for any two canonical names', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 140 });
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 2, maxLength: 30 }), (names) => {
        const wires = names.map((name) => toWireName(`server.${name}`, name));
        for (const wire of wires) expect(wire).toMatch(legal);
        expect(new Set(wires).size).toBe(names.length);
      }),
    );
  });

  it('gives 20,000 distinct hashes', () => {
    const wires = new Set(Array.from({ length: 20_000 }, (_, index) => toWireName(`s.tool ${index}`, 'tool x')));
    expect(wires.size).toBe(20_000);
  });
});

describe('quote', () => {
  it('replaces non-printable characters with code points, and cuts', () => {
    expect(quote('a\r\nb\u200b')).toBe('"a<U+000D><U+000A>b<U+200B>"');
    expect(quote('a'.repeat(500))).toBe(`"${'a'.repeat(80)}…"`);
    expect(quote('\u200b'.repeat(500)).length).toBeLessThan(130);
  });
});

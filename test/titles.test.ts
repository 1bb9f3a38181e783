/**
 * The title of a test says what happens, so it has a verb: "refuses a body of 10 MB", not "body-10mb-plus", "nested" or "%s". It may
 * continue its `describe` ("a session", "ends with its key") or be a sentence of its own, and the rows of a table fill its placeholders.
 * The check knows verbs from a list, since nouns end with "s" too; a verb that is missing there is added. Some words of it are nouns as
 * well, so the check finds most fragments, not all.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blankComments } from './source-text.ts';

const auxiliaries = 'is are was were be has have had do does did can cannot could may must might will would never'.split(' ');

/** In the infinitive: a title has it, or its third person. */
const verbs = `
  abort accept accumulate act add admit agree allow alternate announce answer appear append apply approve arrive ask assume audit
  become begin behave belong bind blank block bound break bring buffer build cache call cancel carry catch cause change chat check
  choose clean clear close collect come commit compare compile complete compute concatenate confirm connect consist contain continue
  convert copy cost count cover create cut decide declare decline decode delay delete deliver deny depend derive describe detect
  differ disable discard disclose dispatch distinguish document drop edit elicit emit encode end enter equal equip escape evaluate
  exclude exist expire explain export express extend fail fall fill filter find finish fire fit flag fold follow forbid forget fork
  forward fulfill gain get give go grant grow handle hang happen harm hide hold host identify ignore import include index install
  invalidate iterate join judge jump keep know label lack lead learn leave let limit list load log lose make map mark match mean
  mention merge mix move name need negotiate normalize note notice notify offer omit open override own page parse pass pause permit
  pin plan point predict prefer preserve print process produce promise propose provide publish pump put queue quote rank reach read
  receive recognize reconnect record redact redirect reduce refer refresh refuse register reject release remain remember remove
  rename render renew repair repeat replace report republish request require reserve resolve respect respond restart restore
  restrict resume rethrow retire retry return revoke rewrite rotate round run sanitize save say score seal search see send separate
  serve set share shorten show sign skip sort spend split stand start stay stop store stream succeed suggest summarize support
  survive take talk tell terminate test think throw time touch translate treat trigger trim truncate trust try turn understand undo
  unequip use validate vanish verify wait waive wake warn weigh withhold work write yield`
  .trim()
  .split(/\s+/);

const known = new Set([...auxiliaries, ...verbs.flatMap((verb) => [verb, thirdPerson(verb)])]);

function thirdPerson(verb: string): string {
  if (/(?:s|x|ch|sh|zz|o)$/.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

/** `it.each(table)` and `it.skipIf(condition)` take their title with the second pair of parentheses. Titles that are variables are not checked. */
const test = /^[ \t]*(?:it|test)(?:\.\w+)*(?=\()/gm;

function titlesIn(source: string): string[] {
  const code = blankComments(source);
  const structure = blankComments(source, { strings: true });
  return [...structure.matchAll(test)].flatMap(({ index, 0: call }) => {
    let open = index + call.length;
    for (let next = closing(structure, open) + 1; structure[next] === '('; next = closing(structure, open) + 1) open = next;
    const title = /^\(\s*(['"`])(.*?[^\\])\1/s.exec(code.slice(open))?.[2];
    return title === undefined ? [] : [title];
  });
}

/** Returns where the parenthesis closes that opens at `open`. */
function closing(structure: string, open: number): number {
  let depth = 0;
  for (let index = open; index < structure.length; index++) {
    if (structure[index] === '(') depth += 1;
    if (structure[index] === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return structure.length;
}

const hasVerb = (title: string): boolean =>
  (title.replace(/\$\{.*?\}|\$[\w.]+|%\w/g, ' ').match(/[a-z]+/gi) ?? []).some((word) => known.has(word));

it('Every test has a title with a verb', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const ours = files.filter((path) => path.endsWith('.ts') && !/^(clients|fixtures)\//.test(path));
  const titles = ours.flatMap((path) => titlesIn(readFileSync(join(import.meta.dirname, path), 'utf8')).map((title) => ({ path, title })));
  expect(titles.length).toBeGreaterThan(5_000);
  expect(titles.filter(({ title }) => !hasVerb(title)).map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
});

it.each([
  ["it('empty body', () => {", false],
  ["it('refuses an empty body', () => {", true],
  ["it('body-10mb-plus', () => {", false],
  ["it.each([['a (b', 1]])('%s', (name) => {", false],
  ["it.each([['a (b', 1]])(\n  'is %s',\n  (name) => {", true],
  ['it.skipIf(isWindows)(`of $shows`, () => {', false],
])('The check knows a fragment from a title: %s', (source, isTitle) => {
  expect(titlesIn(source).map(hasVerb)).toEqual([isTitle]);
});

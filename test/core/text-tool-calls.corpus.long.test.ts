/**
 * The corpus of completions with calls in their text (`text-tool-calls.jsonl`): what is expected of a strict and of a tolerant reader,
 * whole and cut at every position. Deliberate differences are listed in a table with the reason.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { type CallRead, readWords, type WordsRead } from './text-words.ts';
import { selection } from '../selection.ts';
import { printStatistics } from '../statistics.ts';

type Expected = { name: string; arguments: unknown };
type Row = {
  id: string;
  text: string;
  chunks?: string[];
  expected: { strict: Expected[]; tolerant: Expected[]; outsideText: string | null };
};

/** Records with another tolerant reading, and why. The strict reading matches for all. */
const readOtherwise: Readonly<Record<string, string>> = {
  'bfcl-bad-json-5':
    'a value that is missing (`"slope": }`) is null to jsonrepair, as in every provider\'s arguments: the call is marked repaired, so it never drives an unsafe tool, and a schema that wants a number refuses it',
};

/** Records with different text outside of calls, and why. */
const shownOtherwise: Readonly<Record<string, string>> = {
  'llamacpp-thinking-then-call':
    'thoughts that the chat template opened were shown before `</think>` told what they were: holding every reply back for it would end streaming',
};

/** The result of a call. Arguments that are not an object cannot be run; the corpus has them unchanged, and so does `raw`. */
function meaning({ name, state, arguments: args, raw }: CallRead): Expected | null {
  if (args !== null) return { name, arguments: args };
  return state === 'invalid' && name !== '' && raw.startsWith('"') ? { name, arguments: JSON.parse(raw) } : null;
}

function meanings(calls: readonly CallRead[]): Expected[] {
  return calls.flatMap((call) => meaning(call) ?? []);
}

/** Every strict call is present, in order and unchanged; additional calls are those of a tolerant reader. */
function meetsStrict(read: WordsRead, { strict, tolerant }: Row['expected'], otherwise: boolean): boolean {
  const exact = meanings(read.calls.filter(({ state }) => state === 'ok' || state === 'invalid'));
  const inOrder = (wanted: readonly Expected[], among: readonly Expected[]): boolean => {
    let at = 0;
    for (const call of among) if (at < wanted.length && isDeepStrictEqual(call, wanted[at])) at++;
    return at === wanted.length;
  };
  return inOrder(strict, exact) && (otherwise ? exact.length === strict.length : inOrder(meanings(read.calls), tolerant));
}

describeCorpus('text-tool-calls.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  /** Characters between two cuts. A prime, so that the cuts meet every part of a format in some record. */
  const step = selection === 'all' ? 1 : 7;

  it.each(rows.map((row) => [row.id, row] as const))('reads the calls of %s as the corpus expects, wherever the text is cut', (id, row) => {
    const read = readWords([row.text]);
    expect(meetsStrict(read, row.expected, id in readOtherwise), 'strict').toBe(true);
    if (id in readOtherwise) expect(meanings(read.calls)).not.toEqual(row.expected.tolerant);
    else expect(meanings(read.calls)).toEqual(row.expected.tolerant);
    const outside = row.expected.outsideText;
    if (id in shownOtherwise) expect(read.text.trim()).not.toBe(outside?.trim());
    else if (outside !== null) expect(read.text.trim()).toBe(outside.trim());
    // Incomplete or unparsable calls never have arguments.
    for (const call of read.calls) expect(call.arguments === null).toBe(call.state === 'truncated' || call.state === 'invalid');
  });

  it('gives the same result however a record is cut', () => {
    let cuts = 0;
    for (const { id, text, chunks } of rows) {
      const whole = readWords([text]);
      expect(readWords(text.split('')), `${id}, by character`).toEqual(whole);
      if (chunks !== undefined) expect(readWords(chunks), `${id}, as its source cut it`).toEqual(whole);
      for (let at = 1; at < text.length; at += step, cuts++) {
        const halves = readWords([text.slice(0, at), text.slice(at)]);
        if (!isDeepStrictEqual(halves, whole)) expect(halves, `${id}, cut at ${at}`).toEqual(whole);
      }
    }
    printStatistics(`${rows.length} records, each at every place: ${cuts} cuttings`);
  });

  it('runs nothing that a cut stream did not complete', () => {
    for (const { id, text } of rows) {
      const known = new Set(readWords([text]).calls.map((call) => JSON.stringify(meaning(call))));
      for (let at = 0; at < text.length; at += step) {
        for (const call of readWords([text.slice(0, at)], { ended: false }).calls) {
          expect(call.state, `${id} at ${at}`).not.toBe('closed');
          if (call.arguments !== null) expect(known, `${id} at ${at}`).toContain(JSON.stringify(meaning(call)));
        }
      }
    }
  });

  it('reports how many matched', () => {
    const read = rows.map((row) => ({ row, read: readWords([row.text]) }));
    const strict = read.filter(({ row, read: found }) => meetsStrict(found, row.expected, row.id in readOtherwise)).length;
    const tolerant = read.filter(({ row, read: found }) => isDeepStrictEqual(meanings(found.calls), row.expected.tolerant)).length;
    const told = rows.filter(({ expected }) => expected.outsideText !== null);
    const outside = read.filter(({ row, read: found }) => row.expected.outsideText?.trim() === found.text.trim()).length;
    printStatistics(
      `${rows.length} records: strict ${strict}, tolerant ${tolerant} + ${Object.keys(readOtherwise).length} justified, ` +
        `text outside ${outside} of ${told.length} + ${Object.keys(shownOtherwise).length} justified`,
    );
    expect(strict).toBe(rows.length);
    expect(tolerant + Object.keys(readOtherwise).length).toBe(rows.length);
    expect(outside + Object.keys(shownOtherwise).length).toBe(told.length);
  });
});

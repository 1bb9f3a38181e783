/**
 * Compiles the redaction patterns of a workspace. RE2 never backtracks, so that each search is linear; it is limited to a window of the text,
 * and the number of matches is bounded, so that finding all of them is linear too. Loaded when a workspace has patterns.
 */
import { RE2JS } from 're2js';
import type { Issue } from '../core/problem.ts';
import type { RedactionPattern } from '../core/redaction/redaction.ts';
import type { TextMatch, TextRule } from '../core/redaction/redact-text.ts';

/** Characters that one search reads. A match is at most this long; one that begins in the last quarter may be found in the next window. */
const windowLength = 4_096;
const windowStep = 3_072;
/** Matches of one pattern in one text. The rest of a text with more is replaced as a whole. */
const maxMatches = 10_000;
/** The size of a compiled pattern: for each character of a text, the states that a search may be in. */
const maxProgramSize = 2_000;

export function compilePatterns(patterns: readonly RedactionPattern[]): TextRule[] {
  return patterns.map(({ name, pattern, replaceWith = `[${name}]` }) => {
    const compiled = RE2JS.compile(pattern);
    return { label: replaceWith, find: (text) => findAll(text, compiled) };
  });
}

/** Returns what is wrong with the patterns. */
export function patternIssues(patterns: readonly RedactionPattern[]): Issue[] {
  return patterns.flatMap(({ pattern }, index) => {
    const message = faultOf(pattern);
    return message === null ? [] : [{ path: `settings.redaction.patterns[${index}].pattern`, message }];
  });
}

function faultOf(pattern: string): string | null {
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() > maxProgramSize) return 'is too large when it is compiled. Use smaller repetitions';
    return compiled.matcher('').find() ? 'must not match the empty text' : null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `is not a regular expression of RE2, which has no backreferences and no lookaround: ${why}`;
  }
}

function* findAll(text: string, compiled: RE2JS): Generator<TextMatch> {
  let matches = 0;
  for (let from = 0; from < text.length; ) {
    // The character before the window decides about `\b` and `(?m)^`.
    const start = Math.max(0, from - 1);
    const matcher = compiled.matcher(text.slice(start, start + windowLength));
    const end = from + windowStep;
    let found = matcher.find(from - start);
    for (; found; found = matcher.find()) {
      const match: TextMatch = [start + matcher.start(), start + matcher.end()];
      if (match[0] >= end) break;
      if (match[1] <= match[0]) continue;
      matches += 1;
      if (matches > maxMatches) return yield [match[0], text.length];
      from = match[1];
      yield match;
    }
    from = Math.max(from, end);
  }
}

/** Compiles the redaction patterns of a workspace, with `re2js`. Loaded when a workspace has patterns. */
import { RE2JS } from 're2js';
import type { Issue, Warning } from '../core/problem.ts';
import type { RedactionPattern } from '../core/redaction/redaction.ts';
import type { TextRule } from '../core/redaction/redact-text.ts';
import { maxRuleWork } from '../core/redaction/redaction-work.ts';
import { systemClock } from './clock.ts';
import { createPatternSearch } from './pattern-search.ts';

/** The size of a compiled pattern: the states that a search may be in at each character. */
const maxProgramSize = 2_000;

export async function compilePatterns(patterns: readonly RedactionPattern[]): Promise<TextRule[]> {
  const rules: TextRule[] = [];
  for (const { name, pattern, replaceWith = `[${name}]` } of patterns) {
    rules.push({ name, label: replaceWith, find: createPatternSearch(RE2JS.compile(pattern)) });
    // Each takes up to 50 ms.
    await systemClock.sleep(0);
  }
  return rules;
}

/** A result of at least this length, whatever it contains, is not withheld because of one pattern. Larger patterns are warned about. */
const safeTextLength = 100_000;
/** Work for each state at one character: it is entered, and it reads the character. */
const workOfState = 2;

/** Returns why patterns cannot be used, and which ones can only be applied to short texts. */
export async function checkPatterns(patterns: readonly RedactionPattern[]): Promise<{ issues: Issue[]; warnings: Warning[] }> {
  const [issues, warnings]: [Issue[], Warning[]] = [[], []];
  for (const [index, { pattern }] of patterns.entries()) {
    const path = `settings.redaction.patterns[${index}].pattern`;
    const checked = checkPattern(pattern);
    if ('fault' in checked) issues.push({ path, message: checked.fault });
    else if (checked.safeLength < safeTextLength) warnings.push({ path, message: slowWarning(checked) });
    await systemClock.sleep(0);
  }
  return { issues, warnings };
}

type Checked = { fault: string } | { size: number; safeLength: number };

function checkPattern(pattern: string): Checked {
  try {
    const compiled = RE2JS.compile(pattern);
    const size = compiled.programSize();
    if (size > maxProgramSize)
      return { fault: `has ${size} states when it is compiled, and at most ${maxProgramSize} are allowed. Use smaller repetitions` };
    if (compiled.matcher('').find()) return { fault: 'must not match the empty text' };
    return { size, safeLength: Math.floor(maxRuleWork / (size * workOfState)) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { fault: `is not a regular expression of RE2, which has no backreferences and no lookaround: ${why}` };
  }
}

function slowWarning({ size, safeLength }: Extract<Checked, { size: number }>): string {
  return `has ${size} states when it is compiled, so that a result of more than ${safeLength} characters can be withheld. Smaller repetitions make it faster`;
}

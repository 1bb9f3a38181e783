/** Redaction as tests use it: applies rules to a text, and counts the work and its slices. */
import type { TextRedactor } from '../src/core/redaction/redact-text.ts';
import { RedactionWork, runAtOnce } from '../src/core/redaction/redaction-work.ts';
import { createRedactor, type Redactor, type RedactionRules } from '../src/engine/call/redact.ts';
import { systemClock } from '../src/platform/clock.ts';

export function applyRules(redact: TextRedactor, text: string, work = new RedactionWork()): string {
  return runAtOnce(redact(text, work));
}

export function redactorFor(rules: RedactionRules | null = null): Redactor {
  return createRedactor({ clock: systemClock }, rules);
}

/** A rule in code. */
export function ruleOf(map: (text: string) => string): TextRedactor {
  // It does all of its work at once.
  // biome-ignore lint/correctness/useYield: see above.
  return function* (text) {
    return map(text);
  };
}

/** Compiles the redaction rules of a workspace, once for each published value. Loaded when a workspace has rules. */
import { builtinRules } from '../core/redaction/builtin-rules.ts';
import { createTextRedactor, type TextRedactor } from '../core/redaction/redact-text.ts';
import type { Redaction } from '../core/redaction/redaction.ts';

const compiled = new WeakMap<Redaction, TextRedactor>();

export async function compileRedaction(redaction: Redaction): Promise<TextRedactor> {
  const known = compiled.get(redaction);
  if (known !== undefined) return known;
  const { rules, patterns } = redaction;
  const own = patterns.length === 0 ? [] : await (await import('./text-patterns.ts')).compilePatterns(patterns);
  const redact = createTextRedactor([...builtinRules(rules), ...own]);
  compiled.set(redaction, redact);
  return redact;
}

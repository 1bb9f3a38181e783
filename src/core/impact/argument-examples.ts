/** Shows arguments of past calls as examples. Of values that may be secret, and of what the redaction rules find, only the type is shown. */
import { isRecord } from '../json/wire-value.ts';
import type { TextRedactor } from '../redaction/redact-text.ts';
import type { RedactionWork } from '../redaction/redaction-work.ts';
import { namesSecret } from '../servers/elicitation.ts';
import { cutToLength } from '../text/utf8.ts';

const maxArguments = 10;
const maxShown = 100;
/** Longer values are not searched. */
const maxSearched = 2_000;

/** Returns each call as its arguments with their values as JSON, shortened. */
export function* showExamples(
  calls: readonly Record<string, unknown>[],
  redact: TextRedactor,
  work: RedactionWork,
): Generator<void, Record<string, string>[]> {
  const examples: Record<string, string>[] = [];
  for (const call of calls) {
    const shown: [string, string][] = [];
    for (const [name, value] of Object.entries(call).slice(0, maxArguments)) {
      const text = JSON.stringify(value) ?? '';
      const isHidden = text.length > maxSearched || isSecret(name, value) || (yield* redact(text, work)) !== text;
      const title = name.length > maxShown ? cutToLength(name, maxShown) : yield* redact(name, work);
      shown.push([title, isHidden ? typeOf(value) : cutToLength(text, maxShown)]);
    }
    examples.push(Object.fromEntries(shown));
  }
  return examples;
}

/** By its name, or by one inside of it. The depth of arguments is limited. */
function isSecret(name: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => isSecret(name, item));
  if (isRecord(value)) return Object.entries(value).some(([member, inner]) => isSecret(member, inner));
  return typeof value !== 'boolean' && namesSecret(name, typeof value === 'string');
}

function typeOf(value: unknown): string {
  return `<${Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value}>`;
}

/** A secret with invisible characters inside reaches a model as the secret, so it is found there; everything else keeps its bytes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinRules } from '../../../src/core/redaction/builtin-rules.ts';
import { createTextRedactor, type TextRedactor } from '../../../src/core/redaction/redact-text.ts';
import { RedactionWork, runAtOnce } from '../../../src/core/redaction/redaction-work.ts';
import { secretRedactor } from '../../../src/core/redaction/secret-matcher.ts';
import { bareText } from '../../../src/core/text/bare-text.ts';
import { cleanOutput } from '../../../src/core/tools/listing-text.ts';

const secret = 'hunter22-correct-horse';
const redact = (redactor: TextRedactor, text: string): string => runAtOnce(redactor(text, new RedactionWork()));
const known = secretRedactor([secret]);
const rules = createTextRedactor(builtinRules(['secret', 'email', 'card']));

const hidden = fc.constantFrom(
  ...['\u200b', '\u00ad', '\u200d', '\u200c', '\u2060', '\ufeff', '\u202e', '\u2066', '\u0000', '\u0008', '\r', '\u{e0041}', '\ufe0f'],
  ...['\u{e0100}', '\u034f', '\u115f', '\u001b[31m', '\u001b[0m', '\u001b]0;x\u0007', '\u009b1m', '\u001bc', '\u180e', '\u3164'],
);
/** A model reads these where scripts and emoji need them. */
const joiner = /\u200c|\u200d|\ufe0e|\ufe0f/g;

const split = (value: string) =>
  fc
    .array(fc.array(hidden, { maxLength: 3 }), { minLength: value.length - 1, maxLength: value.length - 1 })
    .map((between) => [...value].map((character, index) => character + (between[index] ?? []).join('')).join(''));
const seen = fc.string({ unit: 'binary', maxLength: 5 }).filter((text) => bareText(text) === null);
const around = fc.array(fc.oneof(seen, hidden), { maxLength: 5 }).map((parts) => parts.join(''));

describe('a secret with hidden characters inside', () => {
  test('is removed, and the text around it keeps its bytes', () => {
    fc.assert(
      fc.property(around, split(secret), around, (before, value, after) => {
        expect(redact(known, `${before} ${value} ${after}`)).toBe(`${before} [secret] ${after}`);
      }),
    );
  });

  test.each([
    ['a token', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[secret]'],
    ['an address', 'ada@example.com', '[email]'],
    ['a card', '4111 1111 1111 1111', '[card]'],
  ])('is found by a rule: %s', (_what, value, label) => {
    fc.assert(
      fc.property(split(value), (found) => {
        expect(redact(rules, `\ufeffone: ${found}\r\nend`)).toBe(`\ufeffone: ${label}\r\nend`);
      }),
    );
  });

  test('does not reach a model, whatever is around it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(hidden, fc.constantFrom('\u001b', '\u001b]', '\u001b[', '😀'.repeat(1_030), 'm', ' ')), { maxLength: 8 }),
        split(secret),
        (before, value) => {
          const text = `${before.join('')}${value}`;
          expect(cleanOutput(redact(known, text)).replaceAll(joiner, '')).not.toContain(secret);
        },
      ),
    );
  });
});

test('a text without what a person cannot see has at most the characters that a model reads', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const bare = bareText(text);
      const read = cleanOutput(text).replaceAll(joiner, '').replaceAll('\r', '');
      const seen = (bare?.text ?? text).toWellFormed().replaceAll(/[\u2028\u2029]/g, '\n');
      expect(seen).toBe(read);
      for (let start = 0; bare !== null && start < bare.text.length; start += 1)
        expect(text.slice(...bare.original(start, start + 1))).toBe(bare.text[start]);
    }),
  );
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtinRules } from '../../../src/core/redaction/builtin-rules.ts';
import { RedactionRule } from '../../../src/core/redaction/redaction.ts';
import { createTextRedactor } from '../../../src/core/redaction/redact-text.ts';
import { applyRules } from '../../redaction.ts';

const redactor = createTextRedactor(builtinRules(RedactionRule.options));
const all = (text: string): string => applyRules(redactor, text);

describe('the built-in rules', () => {
  it.each([
    ['mail ada.lovelace+notes@mail.example.co.uk now', 'mail [email] now'],
    ['<jürgen@bücher.example>, a@b.de;c@d.org', '<[email]>, [email];[email]'],
    [`${'x'.repeat(80)}@example.com`, `${'x'.repeat(16)}[email]`],
    ['card 4111 1111 1111 1111 2029', 'card [card] 2029'],
    ['5555-5555-5555-4444, 378282246310005', '[card], [card]'],
    ['{"card":4242424242424242}', '{"card":[card]}'],
    ['DE89 3704 0044 0532 0130 00 OK', '[iban] OK'],
    ['pay GB29NWBK60161331926819.', 'pay [iban].'],
    ['GB29 nwbk 6016 1331 9268 19', 'GB29 nwbk 6016 1331 9268 19'],
    ['ssn 536-22-8726', 'ssn [ssn]'],
    ['from 203.0.113.7:443 and 2001:db8::7', 'from [ip]:443 and [ip]'],
    ['[::1] and ::ffff:192.0.2.1', '[[ip]] and [ip]'],
    ['call +49 30 901820-14 or (415) 555-0132 or 415-555-0132', 'call [phone] or [phone] or [phone]'],
    ['AKIAIOSFODNN7EXAMPLE', '[secret]'],
    [`token=ghp_${'a1B2'.repeat(9)};`, 'token=[secret];'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N', '[secret]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY----- rest', '[secret] rest'],
    ['"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n"', '"[secret]\\n"'],
  ])('replace %s', (text, expected) => {
    expect(all(text)).toBe(expected);
  });

  it.each([
    '4111 1111 1111 1112',
    '1795000000000 and 1795000000123456',
    'DE89 3704 0044 0532 0130 01',
    'user@localhost, @scope/package, a@@b',
    'std::vector, a::b, 12:30:45, 10:20',
    '999.1.1.1 and 1.2.3.4.5',
    '000-12-3456, 2026-11-23, 123-45-67890',
    'order 415-555-01321, version 1.10.0, 12345678901234567890',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'sk-short, mk_, eyJ.eyJ.x',
  ])('leave %s unchanged', (text) => {
    expect(all(text)).toBe(text);
  });

  it('leave an image in base64 unchanged', () => {
    const image = `${'A'.repeat(2_000)}AKIAIOSFODNN7EXAMPLE==`;
    expect(all(image)).toBe(image);
  });

  it('find the same in any surroundings that are no part of a match', () => {
    const space = fc.string({ unit: fc.constantFrom(' ', '\n', ',', '(', '"') });
    fc.assert(
      fc.property(space, space, (before, after) => {
        expect(all(`${before}|ada@example.com|${after}`)).toBe(`${before}|[email]|${after}`);
      }),
    );
  });
});

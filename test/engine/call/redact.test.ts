import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretSpellings } from '../../../src/core/policy/secret-spellings.ts';
import { contentText, textResult } from '../../../src/core/tools/tool.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { redactorFor, ruleOf } from '../../redaction.ts';

async function cleaned(text: string, ...secrets: string[]): Promise<string> {
  const redactor = redactorFor();
  for (const secret of secrets) redactor.addSecret(secret);
  return contentText((await redactor.result(textResult(text))).content);
}

describe('a secret in a tool result', () => {
  const secret = `s3cr3t/tok+en=é<"x">'&`;
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret);

  it.each([
    ['as it is', secret],
    ['in JSON', json],
    ['in JSON as PHP writes it', json.replaceAll('/', '\\/')],
    ['in JSON as Python writes it', json.replace('é', '\\u00e9')],
    ['in JSON of JSON', JSON.stringify(JSON.stringify({ token: secret }))],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL with small letters', encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
    ['in a form', new URLSearchParams({ secret }).toString()],
    ['in HTML', secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')],
    ['as Latin-1, which headers are read as', bytes.toString('latin1')],
    ['in JSON of that', JSON.stringify(bytes.toString('latin1'))],
    ['in hex', bytes.toString('hex')],
    ['in hex with capitals', bytes.toString('hex').toUpperCase()],
    ['in base64', bytes.toString('base64')],
    ['in base64url', bytes.toString('base64url')],
    ['in an Authorization: Basic', Buffer.from(`user:${secret}`).toString('base64')],
    ['in one followed by other text', Buffer.from(`me:${secret}\n`).toString('base64')],
  ])('is removed %s', async (_how, written) => {
    const shown = await cleaned(`before ${written} behind`, secret);
    expect(shown).toMatch(/^before .*\[secret\].* behind$/s);
    expect(shown.length).toBeLessThan(`before [secret] behind`.length + 40);
  });

  it('is removed from base64, whatever surrounds it', async () => {
    const text = fc.string({ unit: 'binary-ascii', maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(text, fc.string({ unit: 'binary-ascii', minLength: 9, maxLength: 40 }), text, async (before, value, behind) => {
        const written = Buffer.from(before + value + behind).toString('base64');
        for (const shown of [await cleaned(written, value), await cleaned(written.replaceAll('+', '-').replaceAll('/', '_'), value)])
          expect(shown).toContain('[secret]');
      }),
    );
  });

  it.each([
    ['Bearer tok-0123456789', 'bad token tok-0123456789!'],
    ['bearer  tok-0123456789', 'bad token tok-0123456789!'],
    ['Token tok-0123456789', `bad token ${Buffer.from('tok-0123456789').toString('base64')}!`],
    [`Basic ${Buffer.from('me:passwörd1').toString('base64')}`, 'bad password passwörd1!'],
    [`Basic ${Buffer.from('me:passwörd1').toString('base64')}`, 'bad token me:passwörd1!'],
    ['Basic !!no-base64!!', 'bad token !!no-base64!!!'],
  ])('is removed without the scheme of its header: %s', async (header, text) => {
    expect(await cleaned(text, header)).toMatch(/^bad (token|password) \[secret\]!$/);
    expect(await cleaned(`You sent ${header}.`, header)).toBe('You sent [secret].');
  });

  it('leaves nothing of another secret with the same prefix', async () => {
    expect(await cleaned('a: abcdefgh-tail', 'abcdefgh', 'abcdefgh-tail')).toBe('a: [secret]');
    expect(await cleaned('a: abcdefgh-tail', 'abcdefgh-tail', 'abcdefgh')).toBe('a: [secret]');
  });

  it('may be long and contain half a surrogate pair', async () => {
    expect(await cleaned('a \ud800-half b', '\ud800-half')).toBe('a [secret] b');
    const long = 'k'.repeat(64 * 1024);
    expect(await cleaned(Buffer.from(long).toString('base64'), long)).toBe('[secret]');
  });

  it('leaves text unchanged that only contains a part of it', async () => {
    expect(await cleaned('The tokens are in the vault; 73 of them.', 'token-in-the-vault')).toBe(
      'The tokens are in the vault; 73 of them.',
    );
    expect(await cleaned('A staple of correct words.', 'correct staple')).toBe('A staple of correct words.');
    expect(secretSpellings('abcd').every(({ length }) => length >= 4)).toBe(true);
  });
});

it('keeps every member of an object whose names become the same label', async () => {
  const redactor = redactorFor({ results: ruleOf((text) => text.replaceAll(/\S+@\S+/g, '[email]')), logs: null });
  expect(redactor.data({ 'a@x.org': 1, 'b@x.org': { 'c@x.org': 2 }, d: 3 })).toEqual({ '[email]': 1, '[email] 2': { '[email]': 2 }, d: 3 });
});

it('applies the rules for results and for logs separately', async () => {
  const log = keptLog();
  const redactor = redactorFor({ results: null, logs: ruleOf((text) => text.replaceAll('ada', '[name]')) });
  expect(redactor.text('ada')).toBe('ada');
  redactor.log(log).info('hello ada', { of: 'ada' });
  expect(JSON.stringify(log.lines)).toContain('"hello [name]"');
});

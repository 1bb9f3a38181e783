import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretSpellings } from '../../../src/core/redaction/secret-spellings.ts';
import { type ContentBlock, contentText, textResult } from '../../../src/core/tools/tool.ts';
import { createRedactor } from '../../../src/engine/call/redact.ts';
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
    ['in JSON with capital escapes', json.replace('é', '\\u00E9')],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL as RFC 3986 writes it', encodeURIComponent(secret).replaceAll("'", '%27')],
    ['in a URL with small letters', encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
    ['in a form', new URLSearchParams({ secret }).toString()],
    ['in hex', bytes.toString('hex')],
    ['in hex with capitals', bytes.toString('hex').toUpperCase()],
    ['in base64', bytes.toString('base64')],
    ['in base64 without padding', bytes.toString('base64').replace(/=+$/, '')],
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

  it('is found whole if it is short', async () => {
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      expect(await cleaned(Buffer.from('seve7').toString(encoding), 'seve7')).toBe('[secret]');
    expect(await cleaned('se7 and c2U3', 'se7')).toBe('se7 and c2U3');
  });

  it('is not looked for in forms that are chosen to hide it', async () => {
    for (const hidden of [
      [...secret].reverse().join(''),
      secret.toUpperCase(),
      [...secret].join(' '),
      bytes.toString('base64').toLowerCase(),
    ])
      expect(await cleaned(`before ${hidden} behind`, secret)).toBe(`before ${hidden} behind`);
  });

  it('is removed from media, values, names and numbers, and a result without it is unchanged', async () => {
    const redactor = redactorFor();
    for (const value of [secret, '73514']) redactor.addSecret(value);
    const image = (data: string): ContentBlock => ({ type: 'image', mimeType: 'image/png', data });
    const { content, structuredContent } = await redactor.result({
      isError: false,
      content: [image(Buffer.from(`..${secret}`).toString('base64')), image('QUJD')],
      structuredContent: { [secret]: { note: `is ${secret}`, number: 73_514, other: 73_515 } },
    });
    expect(content).toEqual([{ type: 'text', text: '[secret]' }, image('QUJD')]);
    expect(structuredContent).toEqual({ '[secret]': { note: 'is [secret]', number: '[secret]', other: 73_515 } });
    const data = {
      rows: [
        [1, 2],
        ['', 'se', 'ven7'],
      ],
      none: null,
    };
    expect(redactor.data(data)).toBe(data);
  });

  it('is found at every position around the border of a piece', async () => {
    const whole = 'sk-live-4f9A2bC7dE1x';
    for (let before = 65_510; before < 65_540; before += 1)
      expect((await cleaned(`${'.'.repeat(before)}${whole}.`, whole)).slice(before)).toBe('[secret].');
  });
});

it('lets other requests run while a long result is searched for secrets', async () => {
  let pauses = 0;
  const sleep = async (): Promise<void> => {
    pauses += 1;
  };
  const redactor = createRedactor({ clock: { now: () => 0, sleep } });
  redactor.addSecret('hunter2-is-a-secret');
  const { content } = await redactor.result(textResult(`${'a '.repeat(1_000_000)}hunter2-is-a-secret`));
  expect(contentText(content).endsWith('a [secret]')).toBe(true);
  expect(pauses).toBe(3);
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

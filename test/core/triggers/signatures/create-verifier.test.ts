import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createDecoyVerifier,
  createVerifier,
  secretFault,
  secretWarning,
  signDelivery,
} from '../../../../src/core/triggers/signatures/create-verifier.ts';
import type { Verifier } from '../../../../src/core/signatures/signature-claim.ts';
import { HmacSettings, WebhookScheme } from '../../../../src/core/triggers/webhook.ts';
import { signedRequest } from '../webhook-vectors.ts';
import { senders } from './reference-verifiers.ts';
import { runs } from '../../../selection.ts';

const now = 1_614_265_330;
const body = '{"test": 2432232314}';
const standardSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const refused = { valid: false, reason: expect.any(String) };

afterEach(() => {
  vi.restoreAllMocks();
});

it.each([
  { scheme: 'standard' },
  { scheme: 'github' },
  { scheme: 'stripe' },
  { scheme: 'slack' },
  { scheme: 'bearer' },
  { scheme: 'bearer', bearer: { header: 'x-gitlab-token' } },
  { scheme: 'hmac', hmac: HmacSettings.parse({ header: 'x-sig', prefix: 'v=', algorithm: 'sha512', encoding: 'base64url' }) },
  {
    scheme: 'hmac',
    hmac: HmacSettings.parse({ header: 'x-sig', signed: '{id}.{timestamp}.{body}', timestampHeader: 'x-time', idHeader: 'x-id' }),
  },
] as const)('accepts what it signs itself, and not under another secret or body: %j', async (webhook) => {
  const bytes = new TextEncoder().encode(body);
  const headers = await signDelivery(webhook, [standardSecret, 'AAAA'], { id: 'test', seconds: String(now), body: bytes });
  const request = signedRequest(headers, body, now);
  expect(await createVerifier(webhook, [standardSecret])(request)).toEqual({ valid: true });
  expect(await createVerifier(webhook, ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'])(request)).toEqual(refused);
  if (webhook.scheme !== 'bearer')
    expect(await createVerifier(webhook, [standardSecret])(signedRequest(headers, `${body} `, now))).toEqual(refused);
});

describe('several secrets', () => {
  const others: Record<string, string[]> = {
    standard: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', 'AAAA'],
    github: ['one', 'two'],
    stripe: ['whsec_one', 'whsec_two'],
    slack: ['one', 'two'],
  };

  it.each(['standard', 'github', 'stripe', 'slack'] as const)(
    'of %s: each of them is accepted in any position, and no other',
    async (scheme) => {
      const secret = scheme === 'standard' ? standardSecret : 'the secret';
      const request = signedRequest(senders[scheme]({ secret, id: 'msg_1', time: String(now), body }), body, now);
      const [first = '', second = ''] = others[scheme] ?? [];
      for (const secrets of [[secret], [secret, first], [first, secret], [first, second, secret], [secret, secret]])
        expect(await createVerifier({ scheme }, secrets)(request)).toEqual({ valid: true });
      expect(await createVerifier({ scheme }, [first, second])(request)).toEqual(refused);
    },
  );

  it('are all tried, even if the first matches', async () => {
    const verify = createVerifier({ scheme: 'github' }, ['the secret', 'one', 'two']);
    const sign = vi.spyOn(crypto.subtle, 'sign');
    expect(await verify(signedRequest(senders.github({ secret: 'the secret', id: '', time: '', body }), body))).toEqual({ valid: true });
    expect(sign).toHaveBeenCalledTimes(3);
  });

  it('are imported once for all deliveries', async () => {
    const importKey = vi.spyOn(crypto.subtle, 'importKey');
    const verify = createVerifier({ scheme: 'github' }, ['the secret', 'another']);
    expect(importKey).not.toHaveBeenCalled();
    const request = signedRequest(senders.github({ secret: 'another', id: '', time: '', body }), body);
    for (let delivery = 0; delivery < 3; delivery++) expect(await verify(request)).toEqual({ valid: true });
    expect(importKey).toHaveBeenCalledTimes(2);
  });
});

describe('the cost of a rejection', () => {
  const large = 'x'.repeat(100_000);
  const hmac = HmacSettings.parse({
    header: 'x-signature',
    signed: '{id}.{timestamp}.{body}',
    timestampHeader: 'x-time',
    idHeader: 'x-id',
  });
  const hooks: [string, Verifier, Record<string, string>][] = [
    [
      'standard',
      createVerifier({ scheme: 'standard' }, [standardSecret]),
      { 'webhook-id': 'a', 'webhook-timestamp': String(now), 'webhook-signature': 'v1,AAAA' },
    ],
    ['github', createVerifier({ scheme: 'github' }, ['secret']), { 'x-hub-signature-256': 'sha256=00' }],
    ['stripe', createVerifier({ scheme: 'stripe' }, ['secret']), { 'stripe-signature': `t=${now},v1=00` }],
    ['slack', createVerifier({ scheme: 'slack' }, ['secret']), { 'x-slack-request-timestamp': String(now), 'x-slack-signature': 'v0=00' }],
    ['hmac', createVerifier({ scheme: 'hmac', hmac }, ['secret']), { 'x-signature': '00', 'x-time': String(now), 'x-id': 'a' }],
    ['bearer', createVerifier({ scheme: 'bearer' }, ['secret']), { authorization: 'Bearer other' }],
    ['a stranger', createDecoyVerifier(), {}],
  ];

  it.each(hooks)('of %s: one HMAC over the whole body, whatever is missing, empty or malformed', async (_name, verify, complete) => {
    const sign = vi.spyOn(crypto.subtle, 'sign');
    const names = Object.keys(complete);
    const requests = [
      complete,
      {},
      ...names.flatMap((name) => ['', 'garbage', '\u00e4', ','].map((text) => ({ ...complete, [name]: text }))),
    ];
    for (const headers of requests) {
      sign.mockClear();
      expect(await verify(signedRequest(headers, large, now))).toEqual(refused);
      expect(sign.mock.calls.map(([, , bytes]) => Math.round(bytes.byteLength / 1_000))).toEqual([100]);
    }
  });

  it('limits how many signatures of a header with a hundred thousand are compared', async () => {
    const right = senders.standard({ secret: standardSecret, id: 'a', time: String(now), body });
    const verify = createVerifier({ scheme: 'standard' }, [standardSecret]);
    const among = (others: number) =>
      verify(signedRequest({ ...right, 'webhook-signature': `${'v1,AAAA '.repeat(others)}${right['webhook-signature']}` }, body, now));
    expect(await among(19)).toEqual({ valid: true });
    expect(await among(100_000)).toEqual(refused);
  });
});

describe('the reason', () => {
  it.each([
    [{}, 'webhook-id is missing'],
    [{ 'webhook-id': 'a', 'webhook-signature': 'v1,AAAA' }, 'the time of sending is missing'],
    [{ 'webhook-id': 'a', 'webhook-timestamp': '1' }, 'webhook-signature is missing'],
    [{ 'webhook-id': 'a', 'webhook-timestamp': 'x', 'webhook-signature': 'v1,AAAA' }, 'the time of sending is not a number of seconds'],
    [
      { 'webhook-id': 'a', 'webhook-timestamp': String(now - 400), 'webhook-signature': 'v1,AAAA' },
      'it was sent 400 s ago; at most 300 s are accepted',
    ],
    [
      { 'webhook-id': 'a', 'webhook-timestamp': String(now + 400), 'webhook-signature': 'v1,AAAA' },
      'its time is 400 s ahead of the clock of this service; at most 300 s are accepted',
    ],
    [
      { 'webhook-id': 'a', 'webhook-timestamp': String(now), 'webhook-signature': 'v1,AAAA' },
      'no signature matches the body and a secret of this webhook',
    ],
  ])('for %j is: %s', async (headers: Record<string, string>, reason) => {
    expect(await createVerifier({ scheme: 'standard' }, [standardSecret])(signedRequest(headers, body, now))).toEqual({
      valid: false,
      reason,
    });
  });

  it('contains nothing of the request or the secret', async () => {
    const canary = 'canary0123456789';
    const headers = [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-hub-signature-256',
      'stripe-signature',
      'x-slack-signature',
      'authorization',
      'x-signature',
    ];
    for (const scheme of WebhookScheme.options) {
      const hmac = scheme === 'hmac' ? HmacSettings.parse({ header: 'x-signature', prefix: 'a=' }) : undefined;
      const verify = createVerifier({ scheme, hmac }, [canary]);
      const verdict = await verify(signedRequest(Object.fromEntries(headers.map((name) => [name, `${canary}x`])), canary, now));
      expect(verdict).toEqual(refused);
      expect(JSON.stringify(verdict)).not.toContain(canary);
    }
  });
});

describe('a secret', () => {
  it.each([
    ['standard', '', 'is empty'],
    ['standard', 'whsec_', 'contains only `whsec_`'],
    ['standard', 'whsec_====', 'must be base64, with or without `whsec_` before it'],
    ['standard', 'not base64!', 'must be base64, with or without `whsec_` before it'],
    ['standard', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n', 'must be base64, with or without `whsec_` before it'],
    ['standard', 'whsec_A', 'must be base64, with or without `whsec_` before it'],
    ['stripe', 'whsec_', 'contains only `whsec_`'],
    ['github', ' \n', 'is empty'],
    ['bearer', 'žluťoučký', 'must be printable ASCII without spaces at its ends, because it is sent in a header'],
    ['bearer', 'secret ', 'must be printable ASCII without spaces at its ends, because it is sent in a header'],
  ] as const)('of %s that is %j is rejected: %s', (scheme, secret, fault) => {
    expect(secretFault(scheme, secret)).toBe(fault);
    expect(() => createVerifier({ scheme }, [standardSecret, secret])).toThrow(fault);
  });

  it.each([
    ['standard', standardSecret],
    ['standard', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['stripe', 'whsec_test_secret'],
    ['github', "It's a Secret to Everybody"],
    ['bearer', 'a passphrase of words'],
    ['hmac', 'žluťoučký kůň úpěl'],
  ] as const)('of %s that is %j is accepted without a warning', (scheme, secret) => {
    expect(secretFault(scheme, secret)).toBe(null);
    expect(secretWarning(scheme, secret)).toBe(null);
  });

  it('that is short is accepted with a warning', () => {
    expect(secretWarning('github', 'secret')).toBe('is short (6 bytes): use 16 random bytes or more');
    expect(secretWarning('standard', 'whsec_AAAAAAAA')).toBe('is short (6 bytes): use 24 random bytes or more');
    expect(secretFault('standard', 'whsec_AAAAAAAA')).toBe(null);
  });

  it('is required: a webhook without one accepts nothing', () => {
    for (const scheme of WebhookScheme.options) expect(() => createVerifier({ scheme }, [])).toThrow('without a secret');
  });

  it('never causes an exception later if it has no fault', async () => {
    const hmac = HmacSettings.parse({ header: 'x-signature' });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...WebhookScheme.options), fc.string({ unit: 'grapheme' }), async (scheme, secret) => {
        if (secretFault(scheme, secret) !== null) return;
        secretWarning(scheme, secret);
        expect(await createVerifier({ scheme, hmac }, [secret])(signedRequest({}, body, now))).toEqual(refused);
      }),
    );
  });
});

describe('scheme hmac', () => {
  const settings = fc.record({
    header: fc.constant('X-Signature'),
    algorithm: fc.constantFrom('sha1', 'sha256', 'sha512'),
    encoding: fc.constantFrom('hex', 'base64', 'base64url'),
    prefix: fc.constantFrom('', 'sha256=', 'v1:', '$&'),
    signed: fc.constantFrom(
      '{body}',
      '{timestamp}.{body}',
      'v0:{id}:{timestamp}:{body}',
      '{body}{id}',
      'constructor{body}',
      '{body}.{timestamp}.{timestamp}',
    ),
    timestampHeader: fc.constant('x-time'),
    idHeader: fc.constant('x-id'),
  });
  const anything = fc.record({
    settings: settings.map(({ timestampHeader, ...others }) =>
      HmacSettings.parse(others.signed.includes('{timestamp}') ? { ...others, timestampHeader } : others),
    ),
    secret: fc.string({ unit: 'grapheme', minLength: 1 }).filter((secret) => secretFault('hmac', secret) === null),
    body: fc.uint8Array({ maxLength: 200 }),
    id: fc.stringMatching(/^[!-~]{1,40}$/),
    time: fc.integer({ min: now - 300, max: now + 300 }).map(String),
  });

  type Signed = { settings: HmacSettings; secret: string; body: Uint8Array; id: string; time: string };

  function sign({ settings: { algorithm, encoding, signed }, secret, body: bytes, id, time }: Signed): string {
    const [before = '', behind = ''] = signed
      .split('{body}')
      .map((text) => text.replaceAll('{id}', () => id).replaceAll('{timestamp}', () => time));
    return createHmac(algorithm, secret).update(before).update(bytes).update(behind).digest(encoding);
  }

  const headersOf = (signed: Signed, signature = sign(signed)) => ({
    'x-signature': signed.settings.prefix + signature,
    'x-time': signed.time,
    'x-id': signed.id,
  });

  const judge = async ({ settings: hmac, secret }: Signed, headers: Record<string, string>, bytes: Uint8Array): Promise<boolean> =>
    (await createVerifier({ scheme: 'hmac', hmac }, ['another', secret])(signedRequest(headers, bytes, now))).valid;

  it('verifies any bytes under any secret', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (signed) => {
        expect(await judge(signed, headersOf(signed), signed.body)).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  it('accepts hex in any case and base64 with or without padding', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (signed) => {
        const signature = sign(signed);
        const spellings =
          signed.settings.encoding === 'hex'
            ? [signature.toUpperCase()]
            : [signature.replace(/=+$/, ''), `${signature.replace(/=+$/, '')}=`];
        for (const spelling of spellings) expect(await judge(signed, headersOf(signed, spelling), signed.body)).toBe(true);
      }),
    );
  });

  it('rejects any changed bit of the body, and any changed character of the signature', async () => {
    await fc.assert(
      fc.asyncProperty(anything, fc.nat(), fc.nat(), async (signed, place, other) => {
        if (signed.body.byteLength > 0) {
          const changed = new Uint8Array(signed.body);
          const index = place % changed.byteLength;
          changed[index] = (changed[index] ?? 0) ^ (1 << (other % 8));
          expect(await judge(signed, headersOf(signed), changed)).toBe(false);
        }
        const signature = sign(signed).replace(/=+$/, '');
        const at = place % signature.length;
        const wrong = signature.slice(0, at) + (signature[at] === 'a' ? 'b' : 'a') + signature.slice(at + 1);
        expect(await judge(signed, headersOf(signed, wrong), signed.body)).toBe(false);
      }),
      { numRuns: runs(300) },
    );
  });

  it('rejects a missing prefix, a missing signed id or time, and two signatures', async () => {
    const signed: Signed = {
      settings: HmacSettings.parse({
        header: 'x-signature',
        prefix: 'v1=',
        signed: '{id}.{timestamp}.{body}',
        timestampHeader: 'x-time',
        idHeader: 'x-id',
      }),
      secret: 'secret',
      body: new TextEncoder().encode(body),
      id: '',
      time: String(now),
    };
    const headers = headersOf({ ...signed, id: 'a' });
    expect(await judge(signed, headers, signed.body)).toBe(true);
    const { 'x-id': _id, ...withoutId } = headersOf(signed);
    expect(await judge(signed, withoutId, signed.body)).toBe(false);
    const { 'x-time': _time, ...withoutTime } = headersOf({ ...signed, id: 'a', time: '' });
    expect(await judge(signed, withoutTime, signed.body)).toBe(false);
    expect(await judge(signed, { ...headers, 'x-signature': headers['x-signature'].slice(3) }, signed.body)).toBe(false);
    expect(await judge(signed, { ...headers, 'x-signature': headers['x-signature'].replace('v1=', 'v2=') }, signed.body)).toBe(false);
    expect(await judge(signed, { ...headers, 'x-signature': `${headers['x-signature']}, ${headers['x-signature']}` }, signed.body)).toBe(
      false,
    );
  });

  it.each(['{body}{body}', '{timestamp}', '{url}{body}'])('has no document that signs %s', (signed) => {
    expect(HmacSettings.safeParse({ header: 'x', signed, timestampHeader: signed.includes('{timestamp}') ? 'y' : undefined }).success).toBe(
      false,
    );
  });
});

describe('scheme bearer', () => {
  const secret = fc.stringMatching(/^[!-~]([ -~]{0,60}[!-~])?$/);

  it('accepts any secret after the word Bearer in any case, and alone in another header', async () => {
    await fc.assert(
      fc.asyncProperty(secret, fc.constantFrom('Bearer ', 'bearer ', 'BEARER  '), async (text, word) => {
        const plain = createVerifier({ scheme: 'bearer' }, ['another', text]);
        expect(await plain(signedRequest({ authorization: word + text }, body))).toEqual({ valid: true });
        const own = createVerifier({ scheme: 'bearer', bearer: { header: 'x-gitlab-token' } }, ['another', text]);
        expect(await own(signedRequest({ 'x-gitlab-token': text }, body))).toEqual({ valid: true });
      }),
    );
  });

  it('accepts each of several secrets in any position', async () => {
    const verify = createVerifier({ scheme: 'bearer' }, ['first', 'second', 'third']);
    for (const text of ['first', 'second', 'third'])
      expect(await verify(signedRequest({ authorization: `Bearer ${text}` }, body))).toEqual({ valid: true });
  });

  it('rejects any other text', async () => {
    await fc.assert(
      fc.asyncProperty(secret, fc.string(), async (text, given) => {
        fc.pre(given !== text && given.trimStart() !== text);
        expect(await createVerifier({ scheme: 'bearer' }, [text])(signedRequest({ authorization: `Bearer ${given}` }, body))).toEqual(
          refused,
        );
        const own = createVerifier({ scheme: 'bearer', bearer: { header: 'x-token' } }, [text]);
        expect(await own(signedRequest({ 'x-token': given }, body))).toEqual(refused);
      }),
    );
  });

  it.each(['secret', 'Basic secret', 'Bearer', 'Bearersecret', 'Bearer secret, Bearer secret', 'Bearer SECRET', ''])(
    'refuses `authorization: %s`',
    async (authorization) => {
      expect(await createVerifier({ scheme: 'bearer' }, ['secret'])(signedRequest({ authorization }, body))).toEqual(refused);
    },
  );
});

/** The same verdicts in the Workers runtime: its WebCrypto, its headers. */
import { describe, expect, it } from 'vitest';
import { createDecoyVerifier, createVerifier } from '../../../../src/core/triggers/signatures/create-verifier.ts';
import type { SignedRequest } from '../../../../src/core/signatures/signature-claim.ts';
import { HmacSettings } from '../../../../src/core/triggers/webhook.ts';

const now = 1_614_265_330;
const refused = { valid: false, reason: expect.any(String) };

async function sign(hash: string, key: string, text: string): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const imported = await crypto.subtle.importKey('raw', encoder.encode(key), { name: 'HMAC', hash }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text)));
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

async function received(headers: HeadersInit, body: string): Promise<SignedRequest> {
  const request = new Request('http://moniker.test/', { method: 'POST', body, headers });
  return { header: (name) => request.headers.get(name), body: new Uint8Array(await request.arrayBuffer()), now: now * 1000 };
}

describe('in the Workers runtime', () => {
  it('accepts GitHub’s published example, and rejects it with another body', async () => {
    const headers = { 'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' };
    const verify = createVerifier({ scheme: 'github' }, ['another', "It's a Secret to Everybody"]);
    expect(await verify(await received(headers, 'Hello, World!'))).toEqual({ valid: true });
    expect(await verify(await received(headers, 'Hello, World?'))).toEqual(refused);
    expect(await createDecoyVerifier()(await received(headers, 'Hello, World!'))).toEqual(refused);
  });

  it.each([
    ['sha1', 'SHA-1'],
    ['sha256', 'SHA-256'],
    ['sha512', 'SHA-512'],
  ] as const)('verifies HMAC with %s over an empty body and any other', async (algorithm, hash) => {
    const hmac = HmacSettings.parse({ header: 'x-signature', algorithm });
    const verify = createVerifier({ scheme: 'hmac', hmac }, ['the secret']);
    for (const body of ['', 'žluťoučký 🐎']) {
      expect(await verify(await received({ 'x-signature': hex(await sign(hash, 'the secret', body)) }, body))).toEqual({ valid: true });
      expect(await verify(await received({ 'x-signature': hex(await sign(hash, 'the secret!', body)) }, body))).toEqual(refused);
    }
  });

  it('verifies repeated headers in their joined form', async () => {
    const right = hex(await sign('SHA-256', 'whsec_x', `${now}.{}`));
    const twice = new Headers([
      ['stripe-signature', `t=${now},v1=${right}`],
      ['stripe-signature', `t=${now - 1_000},v1=${right}`],
    ]);
    // The second time has a space before its name and does not count, as in Stripe's library.
    expect(await createVerifier({ scheme: 'stripe' }, ['whsec_x'])(await received(twice, '{}'))).toEqual({ valid: true });
    const github = `sha256=${right}`;
    const doubled = new Headers([
      ['x-hub-signature-256', github],
      ['x-hub-signature-256', github],
    ]);
    expect(await createVerifier({ scheme: 'github' }, ['whsec_x'])(await received(doubled, `${now}.{}`))).toEqual(refused);
  });
});

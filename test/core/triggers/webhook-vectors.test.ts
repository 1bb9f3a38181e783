import { expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import { deliveryEventOf, slackChallenge } from '../../../src/core/triggers/delivery-event.ts';
import { parsePayload } from '../../../src/core/triggers/payload.ts';
import { createDecoyVerifier, createVerifier, secretFault } from '../../../src/core/triggers/signatures/create-verifier.ts';
import { describeCorpus, readJson } from '../../fixtures.ts';
import { type SignedVector, signedRequest, type WebhookVector } from './webhook-vectors.ts';
import { maxWebhookBodyBytes } from '../../../src/http/routes/triggers/hooks.ts';
import { webhookToleranceSeconds } from '../../../src/core/signatures/signature-claim.ts';
import { printStatistics } from '../../statistics.ts';

describeCorpus('security/webhook-vectors.json', (path) => {
  const { cases, tolerance_seconds } = readJson<{ cases: WebhookVector[]; tolerance_seconds: number }>(path);
  const signed = cases.filter((vector): vector is SignedVector => vector.scheme !== 'http');
  const checked = new Set<string>();

  it.each(signed)('ends the delivery $id with $expect, for $reason', async (vector) => {
    if (vector.expect === 'config-error') {
      expect(secretFault(vector.scheme, vector.secret)).toEqual(expect.any(String));
      expect(() => createVerifier(vector, [vector.secret])).toThrow('cannot be used');
      checked.add(vector.id);
      return;
    }
    expect(secretFault(vector.scheme, vector.secret)).toBe(null);
    const request = signedRequest(vector.headers, vector.body, vector.now);
    const verdict = await createVerifier(vector, [vector.secret])(request);
    const isRefused = vector.expect === 'reject' || (vector.expect === 'either' && !verdict.valid);
    expect(verdict).toEqual(isRefused ? { valid: false, reason: expect.any(String) } : { valid: true });
    if (verdict.valid) await checkWhatFollows(vector);
    checked.add(vector.id);
  });

  /** What the pure functions return for an accepted request. */
  async function checkWhatFollows(vector: SignedVector): Promise<void> {
    const { header, body } = signedRequest(vector.headers, vector.body);
    const payload = parsePayload(body, { contentType: header('content-type'), contentEncoding: header('content-encoding') });
    const heads = [];
    for (let delivery = 0; delivery < (vector.deliveries ?? 1); delivery++)
      heads.push(await deliveryEventOf(vector, { header, payload: payload.value, body }));
    expect(new Set(heads.map(({ id }) => id))).toEqual(new Set([expect.stringMatching(/^[!-~]{1,256}$/)]));
    expect(slackChallenge(payload.value) !== null).toBe(vector.expect === 'challenge');
  }

  it('http-content-type-confusion: a JSON body declared as multipart is rejected', () => {
    const vector = cases.find(({ id }) => id === 'http-content-type-confusion');
    const body = new TextEncoder().encode(vector?.body ?? '');
    expect(codeOf(() => parsePayload(body, { contentType: vector?.headers?.['content-type'] ?? null, contentEncoding: null }))).toBe(
      'unsupported_media_type',
    );
    checked.add('http-content-type-confusion');
  });

  it('http-gzip-body: a compressed body is rejected, not inflated', () => {
    const vector = cases.find(({ id }) => id === 'http-gzip-body');
    expect(
      codeOf(() =>
        parsePayload(new Uint8Array([0x1f, 0x8b]), {
          contentType: 'application/json',
          contentEncoding: vector?.headers?.['content-encoding'] ?? null,
        }),
      ),
    ).toBe('unsupported_media_type');
    checked.add('http-gzip-body');
  });

  it('http-unknown-endpoint: the decoy verifier accepts no vector', async () => {
    const verify = createDecoyVerifier();
    for (const { headers, body, now } of signed)
      expect(await verify(signedRequest(headers, body, now))).toEqual({ valid: false, reason: 'the webhook does not exist' });
    checked.add('http-unknown-endpoint');
  });

  it('counts them: all except those that need a request through the service', () => {
    // Method and size are checked before this code; the end-to-end tests cover them.
    const ofTheService = ['http-get', 'http-oversize'];
    const missing = cases.map(({ id }) => id).filter((id) => !checked.has(id));
    expect(missing).toEqual(ofTheService);
    expect(cases.find(({ id }) => id === 'http-oversize')).toMatchObject({ bodyRepeat: { s: 'a', n: expect.any(Number) } });
    expect(maxWebhookBodyBytes).toBeLessThan(10_485_761);
    expect(webhookToleranceSeconds).toBe(tolerance_seconds);
    printStatistics(
      `vectors: ${cases.length} of 73 accounted for: ${checked.size} checked here, ${ofTheService.join(' and ')} belong to the tests of the service`,
    );
    expect(cases).toHaveLength(73);
  });
});

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'none';
}

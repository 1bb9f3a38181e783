import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVerifier } from '../../../../src/core/triggers/signatures/create-verifier.ts';
import { describeCorpus, readJson } from '../../../fixtures.ts';
import { type SignedVector, signedRequest, type VectorScheme, type WebhookVector } from '../webhook-vectors.ts';
import { changes } from './changes.ts';
import { references, type Sent, senders } from './reference-verifiers.ts';
import { webhookToleranceSeconds, maxSignatures } from '../../../../src/core/signatures/signature-claim.ts';
import { printStatistics } from '../../../statistics.ts';

/** A known difference from a sender's library, and the reason. `ours`: our verdict. */
type Difference = { name: string; ours: boolean; applies(scheme: VectorScheme, sent: Sent): boolean };

const differences: Difference[] = [
  {
    // `parseInt` reads `1614265330.5`, ` 1614265330` or `+1614265330` as a time and signs that number instead of the sent text.
    name: 'a time that is not plain decimal',
    ours: false,
    applies: (scheme, sent) => scheme !== 'github' && !/^(?:0|[1-9]\d*)$/.test(timeIn(scheme, sent)),
  },
  {
    // Stripe's library only rejects old times; the requirement (SEC-16) covers both directions.
    name: 'a time in the future',
    ours: false,
    applies: (scheme, sent) => scheme === 'stripe' && Number(timeIn(scheme, sent)) > sent.now + webhookToleranceSeconds,
  },
  {
    // The libraries compare any number of signatures.
    name: 'more signatures than we look at',
    ours: false,
    applies: (_scheme, { headers }) => Object.values(headers).join(' ').split('v1').length - 1 > maxSignatures,
  },
  {
    // Two of the libraries treat an empty body as a missing argument; it can be signed (vector `standard-empty-body`).
    name: 'an empty body, signed',
    ours: true,
    applies: (scheme, sent) => (scheme === 'github' || scheme === 'stripe') && sent.body === '' && isSoundlySigned(scheme, sent),
  },
  {
    // Stripe's comparison throws on an element that is empty or not ASCII, even next to a valid one.
    name: 'a broken element next to a valid one',
    ours: true,
    applies: (scheme, sent) =>
      scheme === 'stripe' &&
      isSoundlySigned(scheme, sent) &&
      elementsIn(sent).some(({ name, value }) => name === 'v1' && !/^[!-~]+$/.test(value)),
  },
];

function timeIn(scheme: VectorScheme, sent: Sent): string {
  if (scheme === 'standard') return sent.headers['webhook-timestamp'] ?? '';
  if (scheme === 'slack') return sent.headers['x-slack-request-timestamp'] ?? '';
  return elementsIn(sent).findLast(({ name }) => name === 't')?.value ?? '';
}

function elementsIn({ headers }: Sent): { name: string; value: string }[] {
  return (headers['stripe-signature'] ?? '').split(',').map((element) => {
    const [name = '', value = ''] = element.split('=');
    return { name, value };
  });
}

/** Signed by the sender's key: what we accept and a library does not must still be signed. */
function isSoundlySigned(scheme: 'github' | 'stripe', sent: Sent): boolean {
  const [right = ''] = Object.values(senders[scheme]({ ...sent, id: '', time: timeIn(scheme, sent) }));
  const signature = right.replace(/^.*=/, '');
  return scheme === 'github'
    ? sent.headers['x-hub-signature-256'] === right
    : elementsIn(sent).some(({ name, value }) => name === 'v1' && value === signature);
}

/** Counts of one comparison, as a line. */
class Tally {
  agreedYes = 0;
  agreedNo = 0;
  readonly differed = new Map<string, number>();

  /** Fails on an unknown difference. */
  async compare(scheme: VectorScheme, sent: Sent): Promise<void> {
    const theirs = await references[scheme](sent);
    const { valid: ours } = await createVerifier({ scheme }, [sent.secret])(signedRequest(sent.headers, sent.body, sent.now));
    if (ours === theirs) {
      if (ours) this.agreedYes++;
      else this.agreedNo++;
      return;
    }
    const difference = differences.find((known) => known.ours === ours && known.applies(scheme, sent));
    expect({ scheme, sent, ours, theirs, difference: difference?.name }).toMatchObject({ difference: expect.any(String) });
    if (difference !== undefined) this.differed.set(difference.name, (this.differed.get(difference.name) ?? 0) + 1);
  }

  print(name: string): void {
    const differed = [...this.differed].map(([reason, count]) => `${count} × ${reason}`).join(', ');
    printStatistics(
      `differential, ${name}: ${this.agreedYes} taken by both, ${this.agreedNo} refused by both; named differences: ${differed || 'none'}`,
    );
  }
}

const compared: VectorScheme[] = ['standard', 'github', 'stripe', 'slack'];

const now = 1_614_265_330;

function sentOf(scheme: VectorScheme, signed: { secret: string; id: string; time: string; body: string }): Sent {
  return { secret: signed.secret, body: signed.body, headers: senders[scheme](signed), now };
}

const secrets: Record<VectorScheme, fc.Arbitrary<string>> = {
  standard: fc
    .tuple(fc.constantFrom('whsec_', ''), fc.uint8Array({ minLength: 1, maxLength: 80 }))
    .map(([prefix, bytes]) => prefix + Buffer.from(bytes).toString('base64')),
  github: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }).filter((text) => text.trim() !== ''),
  stripe: fc.string({ minLength: 1, maxLength: 80 }).map((text) => `whsec_${text}x`),
  slack: fc.stringMatching(/^[0-9a-f]{1,64}$/),
};

const bodies = fc.oneof(
  fc.json(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '{"test": 2432232314}', '{"t":"žluťoučký 🐎"}\n', 'a=1&b=%2F', '\ufeff{}', '\0'),
);

/** Values that a sender may have signed as the time, valid or not. */
const times = fc.oneof(
  { arbitrary: fc.integer({ min: now - 310, max: now + 310 }).map(String), weight: 8 },
  {
    arbitrary: fc.constantFrom(
      '',
      '0',
      '-1',
      '1e9',
      `${now}.0`,
      `0${now}`,
      `+${now}`,
      ` ${now}`,
      `${now}000`,
      'NaN',
      '0x6037bbf2',
      '９',
      `${now}, ${now}`,
    ),
    weight: 1,
  },
);

describe.each(compared)('compared with %s', (scheme) => {
  it('agrees on each single change, in every header and at each end', async () => {
    const tally = new Tally();
    const bodies = ['{"test": 2432232314}', '{"t":"žluťoučký 🐎",\n"n":[1, 2]}', ''];
    const times = [now, now - 300, now - 301, now + 300, now + 301];
    // Each place for a change with each body and each time.
    const requests = bodies.flatMap((body) => times.flatMap((time) => [0, 1, 2, 3].map((at) => ({ body, time, at }))));
    for (const { body, time, at } of requests) {
      const sent = sentOf(scheme, { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', id: 'msg_1', time: String(time), body });
      for (const { make } of changes) await tally.compare(scheme, make(sent, at * 5));
    }
    tally.print(`${scheme}, one change`);
    expect(tally.agreedYes).toBeGreaterThan(50);
    expect(tally.agreedNo).toBeGreaterThan(500);
  });

  it('agrees on requests signed with anything and changed up to three times', async () => {
    const tally = new Tally();
    const change = fc.tuple(fc.constantFrom(...changes), fc.nat({ max: 500 }));
    const signed = fc.record({ secret: secrets[scheme], id: fc.string({ unit: 'grapheme', maxLength: 40 }), time: times, body: bodies });
    await fc.assert(
      fc.asyncProperty(signed, fc.array(change, { maxLength: 3 }), async (original, made) => {
        await tally.compare(
          scheme,
          made.reduce((sent, [{ make }, at]) => make(sent, at), sentOf(scheme, original)),
        );
      }),
      { seed: 8, numRuns: 3_000 },
    );
    tally.print(`${scheme}, any request and up to three changes`);
    expect(tally.agreedYes).toBeGreaterThan(100);
    expect(tally.agreedNo).toBeGreaterThan(160);
  });
});

describeCorpus('security/webhook-vectors.json', (path) => {
  it('agrees with the sender’s library on every vector', async () => {
    const tally = new Tally();
    const { cases } = readJson<{ cases: WebhookVector[] }>(path);
    const known = cases.filter((vector): vector is SignedVector => vector.scheme !== 'http' && vector.expect !== 'config-error');
    for (const { scheme, secret, body, headers, now: seconds = 0 } of known) {
      const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      await tally.compare(scheme, { secret, body, headers: lower, now: seconds });
    }
    tally.print('vectors');
    expect(tally.agreedYes + tally.agreedNo + [...tally.differed.values()].reduce((sum, count) => sum + count, 0)).toBe(known.length);
    expect([...tally.differed.keys()]).toEqual(['a time that is not plain decimal']);
  });
});

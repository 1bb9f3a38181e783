import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedHeaders, maxKeptHeaderCharacters, maxStoredHeaders } from '../../../src/engine/triggers/receive-delivery.ts';

describe('stored headers of a delivery', () => {
  it('contain no credentials of the sender, for any scheme', () => {
    const proofs = {
      authorization: 'Bearer s',
      cookie: 's',
      'x-hub-signature-256': 's',
      'x-hub-signature': 's',
      'stripe-signature': 's',
      'webhook-signature': 's',
      'x-gitlab-token': 's',
      'x-api-key': 's',
      'x-apikey': 's',
      'proxy-authorization': 's',
      'x-client-secret': 's',
    };
    const kept = storedHeaders({}, new Headers({ ...proofs, 'x-github-event': 'push' }));
    expect(kept).toEqual({ 'x-github-event': 'push' });
  });

  it('contain no header that the webhook itself uses as proof', () => {
    const given = new Headers({ 'x-seal': 's', 'x-other': 'o' });
    const hmac = { header: 'x-seal', algorithm: 'sha256', encoding: 'hex', prefix: '', signed: '{body}' } as const;
    expect(storedHeaders({ hmac }, given)).toEqual({ 'x-other': 'o' });
    expect(storedHeaders({ bearer: { header: 'x-seal' } }, given)).toEqual({ 'x-other': 'o' });
  });

  it('contain no headers of the transport', () => {
    const transport = {
      'cf-connecting-ip': '192.0.2.1',
      'x-forwarded-for': '192.0.2.1',
      'x-real-ip': '192.0.2.1',
      host: 'h',
      via: '1.1 x',
    };
    expect(storedHeaders({}, Object.entries(transport))).toEqual({});
  });

  it('are bounded, for any headers', () => {
    const header = fc.tuple(fc.stringMatching(/^[a-z_-]{1,30}$/), fc.string({ maxLength: 5_000 }));
    fc.assert(
      fc.property(fc.array(header, { maxLength: 200 }), (headers) => {
        const kept = Object.entries(storedHeaders({}, headers));
        expect(kept.length).toBeLessThanOrEqual(maxStoredHeaders);
        expect(kept.reduce((sum, [name, value]) => sum + name.length + value.length, 0)).toBeLessThanOrEqual(maxKeptHeaderCharacters);
      }),
    );
  });
});

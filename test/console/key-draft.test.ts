import { describe, expect, it } from 'vitest';
import { bindingsOf, daysLeft, draftOf, expiryOf, keyState, mergePatchOf } from '../../src/console/pages/keys/key-draft.ts';

const dayMs = 86_400_000;
const after = (ms: number) => new Date(Date.now() + ms).toISOString();
const key = {
  ...{ id: 'k1', name: 'my app', scopes: ['chat' as const], createdAt: after(-dayMs), lastUsedAt: null },
  ...{ expiresAt: null, revokedAt: null, rotatedAt: null, previousExpiresAt: null, previousUsedAt: null },
};

describe('a key in the form', () => {
  it('has what a change may write, and not what the service records', () => {
    expect(draftOf({ ...key, agents: ['demo'], models: ['openai/*'], caller: { team: 'payments' } })).toEqual({
      ...{ name: 'my app', scopes: ['chat'], agents: ['demo'], models: ['openai/*'], caller: { team: 'payments' } },
    });
  });

  it('is sent as the members that changed, with null for those that were removed', () => {
    const before = { name: 'a', scopes: ['chat'], agents: ['x'], caller: { team: 'a', region: 'eu' } };
    expect(mergePatchOf(before, before)).toEqual({});
    expect(mergePatchOf(before, { name: 'b', scopes: ['chat'], caller: { team: 'a' }, ips: ['10.0.0.1'] })).toEqual({
      ...{ name: 'b', agents: null, caller: { region: null }, ips: ['10.0.0.1'] },
    });
  });

  it('keeps its expiry unless one is chosen', () => {
    expect([expiryOf(''), expiryOf('never')]).toEqual([{}, { expiresAt: null }]);
    expect(Date.parse(expiryOf('7').expiresAt ?? '')).toBeGreaterThan(Date.now() + 6.9 * dayMs);
  });
});

describe('a key in the list', () => {
  it('is active, expired or revoked, and expires soon within a week', () => {
    const keys = [key, { ...key, expiresAt: after(-1) }, { ...key, expiresAt: after(-1), revokedAt: after(-5) }];
    expect(keys.map(keyState)).toEqual(['active', 'expired', 'revoked']);
    const expiring = [null, after(3.5 * dayMs), after(8 * dayMs), after(-1)].map((expiresAt) => daysLeft({ ...key, expiresAt }));
    expect(expiring).toEqual([null, 3, null, null]);
  });

  it('names what it is bound to', () => {
    expect([bindingsOf({}), bindingsOf({ agents: ['demo'], toolsets: ['a', 'b'] })]).toEqual([
      ...['nothing', 'agent demo, toolset a, toolset b'],
    ]);
  });
});

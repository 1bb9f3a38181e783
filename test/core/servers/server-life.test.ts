import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import {
  requestClaim,
  boundedDiscovery,
  afterFailedRefresh,
  initialState,
  afterRefresh,
  healthOf,
  withFault,
  type RefreshReason,
  type RefreshState,
} from '../../../src/core/servers/refresh-state.ts';
import { identityFinding } from '../../../src/core/servers/server-identity.ts';
import type { ServerConnection } from '../../../src/core/servers/server-state.ts';
import { listingTtlMs, maxListingTtlMs, maxRefreshBackoffMs, minListingTtlMs } from '../../../src/core/servers/refresh-state.ts';

const start = Date.UTC(2026, 0, 1);
const nothing = { prompts: 0, resources: 0, resourceTemplates: 0, held: 0 };
const read = (state: RefreshState, now: number, ttlMs: number | null = null, isOther = false) =>
  afterRefresh(state, { connection: null, offered: nothing, ttlMs, canChange: true, isOther }, now);
const fail = (state: RefreshState, now: number) => afterFailedRefresh(state, { status: 'failing', reason: 'down' }, now);
const leave = (state: RefreshState, reason: RefreshReason, now: number) => {
  const asked = requestClaim(state, reason, now);
  return asked.claimed ? 0 : asked.retryAfterMs;
};

describe('the refresh claim', () => {
  it('expires, so that a failed refresh does not block others', () => {
    const { state } = requestClaim(initialState(1, start), 'stale', start);
    expect(leave(state, 'asked', start + limits.refreshClaimMs - 1)).toBe(1);
    expect(leave(state, 'asked', start + limits.refreshClaimMs)).toBe(0);
  });

  it('is granted when the listing is stale, by the server’s TTL within bounds', () => {
    for (const [ttlMs, heldMs] of [
      [null, listingTtlMs],
      [60_000, 60_000],
      [0, minListingTtlMs],
      [-5, minListingTtlMs],
      [Number.MAX_SAFE_INTEGER, maxListingTtlMs],
    ] as const) {
      const state = read(initialState(1, start), start, ttlMs);
      expect([ttlMs, leave(state, 'stale', start), leave(state, 'stale', start + heldMs)]).toEqual([ttlMs, heldMs, 0]);
    }
  });

  it('is granted with increasing delays after failures, up to a maximum, but always on request', () => {
    let state = initialState(1, start);
    const waits: number[] = [];
    for (let failures = 0; failures < 40; failures += 1) {
      state = fail(state, start);
      waits.push(leave(state, 'stale', start));
      expect(leave(state, 'changed', start)).toBeGreaterThanOrEqual(waits.at(-1) ?? 0);
      expect(leave(state, 'asked', start)).toBe(0);
    }
    expect(waits.slice(0, 4)).toEqual([1, 2, 4, 8].map((factor) => factor * limits.minRefreshIntervalMs));
    expect(waits.at(-1)).toBe(maxRefreshBackoffMs);
    expect(read(state, start)).toMatchObject({ failures: 0, status: 'ok', reason: null });
  });

  it('is granted once per interval, however many changes a server reports', () => {
    let state = read(initialState(1, start), start);
    let reads = 0;
    // A thousand in each of thirty seconds.
    for (let tick = 0; tick < 30_000; tick += 1) {
      const asked = requestClaim(state, 'changed', start + tick);
      state = asked.claimed ? read(asked.state, start + tick) : asked.state;
      if (asked.claimed) reads += 1;
    }
    expect(reads).toBe(2);
  });

  it('is granted ever less often to a server that changes each time, until it is the same again', () => {
    let state = initialState(1, start);
    let reads = 0;
    const day = 24 * 60 * 60_000;
    // It reports a change every minute, and its lists may be kept for ten seconds.
    for (let now = start; now < start + day; now += 60_000) {
      const asked = requestClaim(state, 'changed', now);
      state = asked.claimed ? read(asked.state, now, 0, true) : asked.state;
      if (asked.claimed) reads += 1;
    }
    expect(reads).toBeLessThan(110);
    expect([leave(state, 'asked', start + day), leave(state, 'stale', start + day) > 60_000]).toEqual([0, true]);
    expect(leave(read(state, start + day, 0), 'stale', start + day)).toBe(minListingTtlMs);
  });

  it('is due after the claim of a failed refresh for a change reported meanwhile', () => {
    const { state } = requestClaim(read(initialState(1, start), start), 'asked', start);
    const told = requestClaim(state, 'changed', start + 1).state;
    expect(told.staleAt).toBe(start + limits.refreshClaimMs);
    expect(requestClaim(told, 'stale', start + limits.refreshClaimMs)).toMatchObject({ claimed: true });
  });

  it('is due soon for a change reported during a refresh, which may have missed it', () => {
    const { state } = requestClaim(read(initialState(1, start), start), 'asked', start);
    const told = requestClaim(state, 'changed', start + 1);
    expect(told).toMatchObject({ claimed: false, state: { hasChanged: true } });
    expect(leave(read(told.state, start + 2), 'stale', start + 2)).toBe(limits.minRefreshIntervalMs);
    expect(leave(read(state, start + 2), 'stale', start + 2)).toBe(listingTtlMs);
  });

  it('is never held twice, for any sequence of events', () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: limits.refreshClaimMs }),
      what: fc.constantFrom('asked', 'changed', 'stale', 'read', 'fail'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = initialState(1, start);
        let now = start;
        let reader: number | null = null;
        for (const { wait, what } of steps) {
          now += wait;
          if (what === 'read' || what === 'fail') {
            state = what === 'read' ? read(state, now) : fail(state, now);
            reader = null;
            continue;
          }
          const asked = requestClaim(state, what as RefreshReason, now);
          if (asked.claimed) {
            expect(reader === null || now - reader >= limits.refreshClaimMs).toBe(true);
            reader = now;
          } else expect(asked.retryAfterMs).toBeGreaterThan(0);
          state = asked.state;
        }
      }),
    );
  });
});

describe('a call that fails because of its server', () => {
  const failed = (state: RefreshState, now: number) => withFault(state, 'It exited.', now);

  it('degrades its health through the refreshes of the next minutes', () => {
    const state = failed(read(initialState(1, start), start), start + 1);
    expect(healthOf(state, 0)).toMatchObject({ status: 'degraded', reason: 'A call failed at 2026-01-01T00:00:00.001Z: It exited.' });
    const soon = read(state, start + listingTtlMs);
    expect(healthOf(soon, 2)).toMatchObject({ status: 'degraded', reason: expect.stringMatching(/^2 held: .* A call failed/) });
    expect(healthOf(read(soon, start + 1 + listingTtlMs), 0)).toMatchObject({ status: 'ok' });
  });

  it('is forgotten when an administrator refreshes the server', () => {
    const { state } = requestClaim(failed(read(initialState(1, start), start), start), 'asked', start + 1);
    expect(healthOf(read(state, start + 2), 0)).toMatchObject({ status: 'ok' });
  });

  it('does not hide that the server cannot be listed', () => {
    expect(healthOf(fail(failed(initialState(1, start), start), start), 0)).toMatchObject({ status: 'failing', reason: 'down' });
  });
});

describe('the result of a refresh', () => {
  it('is bounded, with warnings about what was dropped', () => {
    const prompts = Array.from({ length: limits.maxServerOffers + 1 }, (_, index) => ({ name: `prompt_${index}` }));
    const resources = [1, 2, 3].map((index) => ({ uri: `a:${index}`, name: 'x'.repeat(limits.maxServerOffersBytes / 2) }));
    const connection: ServerConnection = {
      era: 'legacy',
      protocolVersion: '2025-11-25',
      capabilities: { experimental: { text: 'x'.repeat(100_000) } },
      instructions: 'x'.repeat(100_000),
    };
    const { discovery, warnings } = boundedDiscovery(
      { tools: [], connection, offers: { prompts, resources, resourceTemplates: [] }, operations: null, ttlMs: null },
      new Set(),
    );
    expect(discovery.offers.prompts).toHaveLength(limits.maxServerOffers);
    expect(discovery.offers.resources).toHaveLength(1);
    expect(JSON.stringify(discovery.connection).length).toBeLessThan(2 * limits.maxServerInstructionBytes);
    expect(warnings.map(({ path }) => path)).toEqual(['prompts', 'resources']);
  });
});

describe('a server’s description of itself', () => {
  it('is stored as it is, for clients and for pages that show what is invisible', () => {
    const connection: ServerConnection = {
      era: 'legacy',
      protocolVersion: '2025-11-25',
      server: { name: 'fa\u202ects', version: '\u001b]0;1\u0007' },
      capabilities: { tools: {} },
      instructions: 'Be\u{e0041} kind.',
    };
    const none = { tools: [], offers: { prompts: [], resources: [], resourceTemplates: [] }, operations: null, ttlMs: null };
    const { discovery } = boundedDiscovery({ ...none, connection }, new Set());
    expect(discovery.connection).toEqual(connection);
  });
});

describe('a server’s offers besides tools', () => {
  it('are stored as they are, without icons at URLs; offers with invalid names are skipped', () => {
    const seen = {
      name: 'plan',
      description: 'a\u202eb',
      arguments: [{ name: 'x', description: '\u001b[31mred' }],
      icons: [{ src: 'http://t' }],
    };
    let deep: unknown = 1;
    for (let level = 0; level < 1_000; level += 1) deep = [deep];
    const offers = {
      prompts: [seen, { name: 'p\u200b' }, { name: 'deep', _meta: { deep } }],
      resources: [{ uri: 'a:\u{e0041}', name: 'a' }],
      resourceTemplates: [],
    };
    const { discovery, warnings } = boundedDiscovery({ tools: [], connection: null, offers, operations: null, ttlMs: null }, new Set());
    const { icons: _none, ...plan } = seen;
    const prompts = [plan];
    expect(discovery.offers).toEqual({ prompts, resources: [], resourceTemplates: [] });
    expect(warnings.map(({ path }) => path)).toEqual(['prompts', 'resources']);
  });
});

describe('the identity of a server', () => {
  const connection = (name: string, version: string): ServerConnection => ({
    era: 'modern',
    protocolVersion: '2026-07-28',
    server: { name, version },
    capabilities: {},
  });

  it.each([
    ['facts', '1.0.0', 'facts', '1.4.2', false],
    ['facts', 'v1.0.0', 'facts', '1.0.1', false],
    ['facts', '1.0.0', 'facts', '2.0.0', true],
    ['facts', '1.0.0', 'Facts', '1.0.0', true],
    ['facts', 'stable', 'facts', 'nightly', true],
    ['facts', '9'.repeat(400), 'facts', '9'.repeat(400), false],
  ])('changes between %s %s and %s %s: %s %s', (name, version, name2, version2, isOther) => {
    expect(identityFinding(connection(name, version), connection(name2, version2)) !== null).toBe(isOther);
  });

  it('is unknown if the server does not state it', () => {
    const { server: _server, ...anonymous } = connection('facts', '1.0.0');
    expect(identityFinding(anonymous, connection('facts', '1.0.0'))).toBeNull();
    expect(identityFinding(connection('facts', '1.0.0'), null)).toBeNull();
  });

  it('is quoted without hidden characters', () => {
    const finding = identityFinding(connection('facts', '1'), connection('facts\u202e\n', '1'));
    expect(finding?.message).not.toMatch(/[\u202e\n]/);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerOffers } from '../../../src/core/servers/server-state.ts';
import { nameOffers, ownerOf, shownUri, type OffersOfServer } from '../../../src/engine/mcp/serve-offers.ts';
import { matchesTemplate } from '../../../src/engine/mcp/uri-template.ts';

const of = (server: string, offers: { prompts?: string[]; resources?: string[]; templates?: string[] }): OffersOfServer => ({
  server,
  offers: {
    prompts: (offers.prompts ?? []).map((name) => ({ name, description: server })),
    resources: (offers.resources ?? []).map((uri) => ({ uri, name: uri })),
    resourceTemplates: (offers.templates ?? []).map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  } satisfies ServerOffers,
});

describe('names of what servers offer', () => {
  it('are unchanged while one server has them; clashing ones have their server in the name', () => {
    const named = nameOffers([
      of('b', { prompts: ['review', 'plan'], resources: ['file:///a'], templates: ['db://{table}'] }),
      of('a', { prompts: ['review'], resources: ['file:///a', 'file:///b'], templates: ['db://{table}'] }),
    ]);
    expect([...named.prompts.keys()].sort()).toEqual(['a_review', 'b_review', 'plan']);
    expect([...named.resources.keys()].sort()).toEqual(['file:///b', 'moniker://a/file:///a', 'moniker://b/file:///a']);
    expect([...named.templates.keys()].sort()).toEqual(['moniker://a/db://{table}', 'moniker://b/db://{table}']);
    expect(named.prompts.get('b_review')).toEqual({ server: 'b', own: 'review', shown: { name: 'b_review', description: 'b' } });
  });

  it('are unique, whatever servers offer, and lead back to their server', () => {
    const name = fc.constantFrom('x', 'y', 'a_x', 'b_x', 'a_x_2', 'x y', 'moniker://a/x', 'constructor');
    const servers = fc.uniqueArray(fc.constantFrom('a', 'b', 'a-b', 'c'), { minLength: 1, maxLength: 4 });
    const offers = fc.record({ prompts: fc.array(name), resources: fc.array(name), templates: fc.array(name) });
    fc.assert(
      fc.property(servers, fc.array(offers, { minLength: 4, maxLength: 4 }), (names, each) => {
        const all = names.map((server, index) => of(server, each[index] ?? {}));
        const named = nameOffers(all);
        for (const [kind, key] of [
          ['prompts', 'prompts'],
          ['resources', 'resources'],
          ['templates', 'resourceTemplates'],
        ] as const) {
          const wanted = new Set(
            all.flatMap(({ server, offers }) =>
              offers[key].map((offer) =>
                JSON.stringify([server, offer[kind === 'prompts' ? 'name' : kind === 'resources' ? 'uri' : 'uriTemplate']]),
              ),
            ),
          );
          expect(new Set([...named[kind].values()].map(({ server, own }) => JSON.stringify([server, own])))).toEqual(wanted);
          expect(named[kind].size).toBe(wanted.size);
        }
        for (const [uri, { server, own }] of named.resources) expect(ownerOf(named, uri)).toMatchObject({ server, own });
        // The order in which servers are read does not matter.
        expect([...nameOffers([...all].reverse()).prompts.keys()]).toEqual([...named.prompts.keys()]);
      }),
    );
  });
});

describe('the server of a URI', () => {
  const two = nameOffers([
    of('a', { resources: ['file:///a'], templates: ['db://{table}/rows'] }),
    of('b', { templates: ['log://{+path}'] }),
  ]);

  it.each([
    ['file:///a', { server: 'a', own: 'file:///a' }],
    ['db://users/rows', { server: 'a', own: 'db://users/rows' }],
    ['log://2026/01/x', { server: 'b', own: 'log://2026/01/x' }],
    ['moniker://b/file:///a', { server: 'b', own: 'file:///a' }],
    ['file:///etc/passwd', null],
    ['moniker://c/file:///a', null],
  ])('%s', (uri, owner) => {
    const found = ownerOf(two, uri);
    if (owner === null) expect(found).toBeNull();
    else expect(found).toMatchObject(owner);
  });

  it('is the only server, if nothing else determines it', () => {
    expect(ownerOf(nameOffers([of('a', {})]), 'test://x')).toEqual({ server: 'a', own: 'test://x' });
    expect(ownerOf(nameOffers([]), 'test://x')).toBeNull();
  });

  it('is determined from the URI that a client is shown', () => {
    const clashing = nameOffers([of('a', { resources: ['x://1', 'x://2'] }), of('b', { resources: ['x://1'] })]);
    expect(shownUri(clashing, 'a', 'x://1')).toBe('moniker://a/x://1');
    expect(shownUri(clashing, 'a', 'x://2')).toBe('x://2');
    expect(shownUri(clashing, 'b', 'x://2')).toBe('moniker://b/x://2');
  });
});

describe('URI templates', () => {
  it.each([
    ['test://template/{id}/data', 'test://template/123/data', true],
    ['test://template/{id}/data', 'test://template/1/2/data', false],
    ['test://template/{id}/data', 'test://template/123/data/more', false],
    ['test://template/{id}', 'test://template/123', true],
    ['test://template/{id}', 'test://template/1/2', false],
    ['file:///{+path}', 'file:///a/b/c', true],
    ['search://q{?words}', 'search://q?words=a/b', true],
    ['{a}{b}', 'anything', true],
    ['plain://x', 'plain://x', true],
    ['plain://x', 'plain://xy', false],
    ['{broken', '{broken', true],
    ['x{a}x', 'x', false],
  ])('%s and %s: %s', (template, uri, expected) => {
    expect(matchesTemplate(template, uri)).toBe(expected);
  });

  it('are matched against long URIs without quadratic time', () => {
    const template = `x://${'{a}/'.repeat(60)}end`;
    expect(matchesTemplate(template, `x://${'a/'.repeat(4_000)}no`)).toBe(false);
    expect(matchesTemplate('{a}'.repeat(1_000), 'x'.repeat(8_000))).toBe(false);
  });
});

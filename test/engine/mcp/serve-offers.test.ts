import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerOffers } from '../../../src/core/servers/server-state.ts';
import type { OfferSelection } from '../../../src/core/toolset/offer-entry.ts';
import type { Alias } from '../../../src/core/names/names.ts';
import * as offered from '../../../src/engine/mcp/serve-offers.ts';
import { findPrompt, findResource, linkedAs, otherNames, shownUri, type OffersOfServer } from '../../../src/engine/mcp/serve-offers.ts';
import { namePages } from '../../../src/engine/mcp/ui-pages.ts';
import { matchesTemplate } from '../../../src/engine/mcp/uri-template.ts';

type Given = { prompts?: string[]; resources?: string[]; templates?: string[]; pages?: string[]; trusted?: boolean };

type WithPages = OffersOfServer & { uris: string[] };

const of = (server: string, { trusted = true, pages: uris = [], ...offers }: Given): WithPages => ({
  ...{ server, trusted, uris },
  offers: {
    prompts: (offers.prompts ?? []).map((name) => ({ name, description: server })),
    resources: (offers.resources ?? []).map((uri) => ({ uri, name: uri })),
    resourceTemplates: (offers.templates ?? []).map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  } satisfies ServerOffers,
});

const nameOffers = (servers: readonly WithPages[], selection?: OfferSelection, aliases = true) =>
  offered.nameOffers(servers, selection, { aliases, pages: namePages(servers, aliases ? selection?.resources : []) });

/** Everything of these servers. */
const all = (...servers: string[]): OfferSelection => ({
  resources: servers.map((name) => `${name}.*`),
  prompts: servers.map((name) => `${name}.*`),
});

describe('names of what servers offer', () => {
  it('are unchanged while one server has them; clashing ones have their server in the name', () => {
    const named = nameOffers([
      of('b', { prompts: ['review', 'plan'], resources: ['file:///a'], templates: ['db://{table}'] }),
      of('a', { prompts: ['review'], resources: ['file:///a', 'file:///b'], templates: ['db://{table}'] }),
    ]);
    expect([...named.prompts.keys()].sort()).toEqual(['a_review', 'b_review', 'plan']);
    expect([...named.resources.keys()].sort()).toEqual(['file:///a#moniker.a', 'file:///a#moniker.b', 'file:///b']);
    expect([...named.templates.keys()].sort()).toEqual(['db://{table}#moniker.a', 'db://{table}#moniker.b']);
    expect(named.prompts.get('b_review')).toMatchObject({ server: 'b', own: 'review', shown: { name: 'b_review', description: 'b' } });
  });

  it('are unique, whatever servers offer, and lead back to their server', () => {
    const name = fc.constantFrom('x', 'y', 'a_x', 'b_x', 'a_x_2', 'x y', 'x#moniker.a', 'constructor', 'x#y', 'x~MONIKER.b');
    const servers = fc.uniqueArray(fc.constantFrom('a', 'b', 'a-b', 'c'), { minLength: 1, maxLength: 4 });
    const offers = fc.record({ prompts: fc.array(name), resources: fc.array(name), templates: fc.array(name), trusted: fc.boolean() });
    fc.assert(
      fc.property(servers, fc.array(offers, { minLength: 4, maxLength: 4 }), (names, each) => {
        const every = names.map((server, index) => of(server, each[index] ?? {}));
        const named = nameOffers(every, all(...names));
        for (const [kind, key] of [
          ['prompts', 'prompts'],
          ['resources', 'resources'],
          ['templates', 'resourceTemplates'],
        ] as const) {
          const wanted = new Set(
            every.flatMap(({ server, offers }) =>
              offers[key].map((offer) =>
                JSON.stringify([server, offer[kind === 'prompts' ? 'name' : kind === 'resources' ? 'uri' : 'uriTemplate']]),
              ),
            ),
          );
          expect(new Set([...named[kind].values()].map(({ server, own }) => JSON.stringify([server, own])))).toEqual(wanted);
          expect(named[kind].size).toBe(wanted.size);
        }
        for (const [uri, { server, own }] of named.resources) expect(findResource(named, uri, [])).toMatchObject({ server, own });
        // A name with a server is that server's.
        for (const [shown, { server }] of named.prompts)
          for (const other of names) if (shown.startsWith(`${other}_`)) expect(other).toBe(server);
        for (const shown of [...named.resources, ...named.templates])
          for (const other of names) if (shown[0].endsWith(`moniker.${other}`)) expect(other).toBe(shown[1].server);
        // The order in which servers are read does not matter.
        expect([...nameOffers([...every].reverse(), all(...names)).prompts.keys()]).toEqual([...named.prompts.keys()]);
      }),
    );
  });
});

describe('a hostile server beside others', () => {
  const hostile = of('evil', {
    trusted: false,
    prompts: ['docs_review', 'review', 'plan', 'docs_plan', 'git_'],
    resources: ['file:///readme#moniker.docs', 'file:///readme', 'file:///in/template', 'x://1#Moniker.docs', 'ui://docs/page'],
    templates: ['{+x}', 'file:///{+path}', '{+x}#moniker.docs', '{scheme}://{rest}', 'file:{+x}', 'x://{a}moniker.{b}'],
    pages: ['ui://docs/page', 'ui://docs/listed'],
  });
  const docs = of('docs', {
    prompts: ['review', 'plan'],
    resources: ['file:///readme', 'docs://one', 'ui://docs/listed'],
    templates: ['file:///{+path}'],
    pages: ['ui://docs/page'],
  });
  const named = nameOffers([hostile, docs], all('evil', 'docs'));

  it.each(['review', 'plan'])('does not take the prompt %s', (name) => {
    expect(findPrompt(named, name)).toMatchObject({ server: 'docs', own: name });
  });

  it.each(['docs_review', 'docs_plan'])('does not take the name %s, which is one of ours', (name) => {
    expect(findPrompt(named, name)).toBeNull();
    expect(findPrompt(named, `evil_${name}`)).toMatchObject({ server: 'evil', own: name });
  });

  it.each(['file:///readme', 'docs://one', 'file:///in/template', 'file:///any/other', 'ui://docs/page', 'ui://docs/listed'])(
    'does not receive requests for %s',
    (uri) => {
      expect(findResource(named, uri, [])).toMatchObject({ server: 'docs', own: uri });
    },
  );

  it.each(['file:///readme#moniker.docs', 'x://1#Moniker.docs', 'x://1moniker.docs~moniker.docs', 'http://x', 'x'])(
    'does not receive requests for %s, which nothing published',
    (uri) => {
      expect(findResource(named, uri, [])).toBeNull();
    },
  );

  it('is reached by its own names', () => {
    expect(findResource(named, 'file:///readme#moniker.evil', [])).toMatchObject({ server: 'evil', own: 'file:///readme' });
    expect(findResource(named, 'file:///readme#moniker.docs~moniker.evil', [])).toMatchObject({ server: 'evil' });
    expect(findResource(named, 'anything#moniker.evil', [])).toMatchObject({ server: 'evil', own: 'anything' });
    expect(findResource(named, 'ui://docs/page#moniker.evil', [])).toMatchObject({ server: 'evil', own: 'ui://docs/page' });
    expect([...named.templates].flatMap(([shown, { server }]) => (server === 'evil' ? [shown] : []))).toSatisfy((shown: string[]) =>
      shown.every((one) => one.endsWith('moniker.evil') || one === 'x://{a}moniker.{b}'),
    );
  });

  it('does not take a URI by linking to it', () => {
    const links = ['file:///readme', 'docs://one', 'file:///in/template', 'ui://docs/page'].map((uri) => ({ server: 'evil', uri }));
    for (const { uri } of links.slice(0, 2)) expect(findResource(named, uri, links)).toMatchObject({ server: 'docs' });
    expect(findResource(named, 'x://both', [{ server: 'evil', uri: 'x://both' }])).toMatchObject({ server: 'evil' });
    const both = ['evil', 'docs'].map((server) => ({ server, uri: 'x://both' }));
    expect(findResource(named, 'x://both', both)).toBe('ambiguous');
    expect(findResource(named, 'x://both#moniker.docs', both)).toMatchObject({ server: 'docs', own: 'x://both' });
    expect(linkedAs(named, 'x://both#moniker.docs')).toEqual(['x://both#moniker.docs', 'x://both']);
    // So none of its links can be the same as a later link of a trusted server.
    expect(shownUri(named, 'evil', 'x://both')).toBe('x://both#moniker.evil');
    expect(shownUri(named, 'docs', 'x://both')).toBe('x://both');
  });

  it('changes no name of a trusted server, whatever it lists', () => {
    const name = fc.constantFrom('review', 'file:///readme', 'file:///{+path}', '{+x}', 'file:///x/{y}', 'docs://one', 'plan#moniker.docs');
    const given = fc.record({ prompts: fc.array(name), resources: fc.array(name), templates: fc.array(name) });
    const alone = nameOffers([docs], all('docs'));
    fc.assert(
      fc.property(given, (offers) => {
        const beside = nameOffers([of('evil', { ...offers, trusted: false }), docs], all('evil', 'docs'));
        for (const kind of ['prompts', 'resources', 'templates'] as const)
          for (const [shown, one] of alone[kind]) expect(beside[kind].get(shown)).toMatchObject({ server: 'docs', own: one.own });
      }),
    );
  });
});

describe('what a toolset offers', () => {
  const servers = [
    of('docs', { prompts: ['review', 'plan'], resources: ['file:///a', 'file:///b/c'], templates: ['file:///{+path}', 'db://{table}'] }),
    of('wild', { trusted: false, prompts: ['go'], resources: ['w://1'], templates: ['w://{x}'], pages: ['ui://wild/page'] }),
  ];
  const keys = ({ prompts, resources, templates }: ReturnType<typeof nameOffers>): string[][] =>
    [prompts, resources, templates].map((table) => [...table.keys()].sort());

  it('is what trusted servers list, if it says nothing', () => {
    const named = nameOffers(servers);
    expect(keys(named)).toEqual([
      ['plan', 'review'],
      ['file:///a', 'file:///b/c'],
      ['db://{table}', 'file:///{+path}'],
    ]);
    expect(findResource(named, 'w://1', [{ server: 'wild', uri: 'w://1' }])).toBeNull();
    // The page of a tool that an administrator chose; the policy asks before it is read.
    expect(findResource(named, 'ui://wild/page#moniker.wild', [])).toMatchObject({ server: 'wild', own: 'ui://wild/page' });
  });

  it.each<[OfferSelection, string[][]]>([
    [{ resources: [], prompts: [] }, [[], [], []]],
    [{ resources: ['docs.file:///b/*'] }, [['plan', 'review'], ['file:///b/c'], []]],
    [{ resources: ['wild.*'], prompts: ['wild.go', 'docs.pl*'] }, [['go', 'plan'], ['w://1'], ['w://{x}']]],
    [{ resources: ['docs.file:///a', 'other.*'], prompts: [] }, [[], ['file:///a'], []]],
  ])('is what it selects: %j', (selection, expected) => {
    expect(keys(nameOffers(servers, selection))).toEqual(expected);
  });

  it('has URIs that a template of the server matches only within its entries', () => {
    const named = nameOffers(servers, { resources: ['docs.file:///b/*', 'docs.file:///x'] });
    expect(findResource(named, 'file:///b/new', [])).toMatchObject({
      server: 'docs',
      own: 'file:///b/new',
      entry: { pattern: 'docs.file:///b/*' },
    });
    expect(findResource(named, 'file:///x', [])).toMatchObject({ server: 'docs' });
    for (const uri of ['file:///a', 'file:///etc/passwd', 'db://users', 'ui://wild/page']) expect(findResource(named, uri, [])).toBeNull();
  });

  it('has links of results only within its entries', () => {
    const named = nameOffers(servers, { resources: ['docs.note://*'] });
    const links = ['note://1', 'other://1'].map((uri) => ({ server: 'docs', uri }));
    expect(findResource(named, 'note://1', links)).toMatchObject({ server: 'docs', own: 'note://1' });
    expect(findResource(named, 'other://1', links)).toBeNull();
  });

  it('gives prompts the names, aliases and descriptions of its entries', () => {
    const named = nameOffers(servers, {
      prompts: [
        { prompt: 'docs.review', name: 'plan', aliases: ['check' as Alias], description: 'Reviews.', approval: 'always' },
        'docs.*',
        'wild.go',
      ],
    });
    expect([...named.prompts.keys()].sort()).toEqual(['docs_plan', 'go', 'plan']);
    expect(findPrompt(named, 'plan')).toMatchObject({
      ...{ server: 'docs', own: 'review', entry: { approval: 'always' } },
      shown: { name: 'plan', description: 'Reviews.', _meta: { aliases: ['check'] } },
    });
    expect(findPrompt(named, 'check')).toMatchObject({ server: 'docs', own: 'review' });
    expect(findPrompt(named, 'docs_plan')).toMatchObject({ server: 'docs', own: 'plan' });
    expect(nameOffers(servers, { prompts: [{ prompt: 'docs.review', name: 'x1' }] }, false).prompts.has('review')).toBe(true);
  });
});

describe('a resource with words of the toolset', () => {
  const page = 'ui://docs/page';
  const docs = of('docs', { resources: ['file:///srv/handbook.md', page], templates: ['db://{table}'], pages: [page] });
  const other = of('other', { resources: ['docs://handbook', 'docs://book'] });
  const resources = [
    { resource: 'docs.file:///srv/handbook.md', uri: 'docs://handbook', aliases: ['docs://book'], name: 'Handbook', description: 'Rules.' },
    { resource: `docs.${page}`, uri: 'ui://shown' },
    { resource: 'docs.db://{table}', name: 'Tables', description: 'All tables.' },
    'docs.db://*',
    'other.*',
  ];
  const named = nameOffers([docs, other], { resources });

  it('is listed by its URI, name and description, and nothing else has its names', () => {
    expect([...named.resources.keys()]).toEqual([
      'docs://handbook',
      'ui://shown',
      'docs://handbook#moniker.other',
      'docs://book#moniker.other',
    ]);
    expect(named.resources.get('docs://handbook')?.shown).toEqual({
      ...{ uri: 'docs://handbook', name: 'Handbook', description: 'Rules.', _meta: { aliases: ['docs://book'] } },
    });
    expect(named.templates.get('db://{table}')?.shown).toMatchObject({ name: 'Tables', description: 'All tables.' });
  });

  it.each([
    ['docs://handbook', { server: 'docs', own: 'file:///srv/handbook.md' }],
    ['docs://book', { server: 'docs', own: 'file:///srv/handbook.md' }],
    ['docs://book#moniker.other', { server: 'other', own: 'docs://book' }],
    ['ui://shown', { server: 'docs', own: page }],
    ['db://users', { server: 'docs', own: 'db://users' }],
  ])('is found by %s', (uri, expected) => {
    expect(findResource(named, uri, [])).toMatchObject(expected);
  });

  it('has its URI wherever its server names it, and not its own one', () => {
    expect(shownUri(named, 'docs', 'file:///srv/handbook.md')).toBe('docs://handbook');
    expect(shownUri(named, 'docs', page)).toBe('ui://shown');
    expect(findResource(named, 'file:///srv/handbook.md', [])).toBeNull();
    expect(otherNames(named, 'file:///srv/handbook.md')).toEqual(['docs://handbook']);
  });

  it('has its own words where names of toolsets are off', () => {
    const plain = nameOffers([docs, other], { resources }, false);
    expect([...plain.resources.keys()]).toContain('file:///srv/handbook.md');
    expect(plain.templates.get('db://{table}')?.shown).toMatchObject({ name: 'db://{table}' });
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
    ['file:///a#moniker.b', null],
    ['file:///etc/passwd', null],
    ['file:///a#moniker.c', null],
    ['log://1#moniker.a', null],
  ])('finds the server that lists %s, or none', (uri, owner) => {
    const found = findResource(two, uri, []);
    if (owner === null) expect(found).toBeNull();
    else expect(found).toMatchObject(owner);
  });

  it('is not the only server, if nothing it listed has the URI', () => {
    expect(findResource(nameOffers([of('a', {})]), 'test://x', [])).toBeNull();
    expect(findResource(nameOffers([]), 'test://x', [])).toBeNull();
  });

  it('is determined from the URI that a client is shown', () => {
    const clashing = nameOffers([of('a', { resources: ['x://1', 'x://2'] }), of('b', { resources: ['x://1'] })]);
    expect(shownUri(clashing, 'a', 'x://1')).toBe('x://1#moniker.a');
    expect(shownUri(clashing, 'a', 'x://2')).toBe('x://2');
    expect(shownUri(clashing, 'b', 'x://2')).toBe('x://2#moniker.b');
    expect(otherNames(clashing, 'x://1')).toEqual(['x://1#moniker.a', 'x://1#moniker.b']);
  });

  it('is the first one that linked to it, and a later one has its name in the link', () => {
    const named = nameOffers([of('a', {}), of('b', {})]);
    expect(shownUri(named, 'a', 'note://1#top')).toBe('note://1#top');
    const links = [{ server: 'a', uri: 'note://1#top' }];
    expect(shownUri(named, 'a', 'note://1#top', links)).toBe('note://1#top');
    expect(shownUri(named, 'b', 'note://1#top', links)).toBe('note://1#top~moniker.b');
    const both = [...links, { server: 'b', uri: 'note://1#top~moniker.b' }];
    expect(findResource(named, 'note://1#top', both)).toMatchObject({ server: 'a', own: 'note://1#top' });
    expect(findResource(named, 'note://1#top~moniker.b', both)).toMatchObject({ server: 'b', own: 'note://1#top' });
  });

  it('is found by its name in the URI of a page that two servers have', () => {
    const page = 'ui://app/view.html';
    const named = nameOffers([of('a', { pages: [page], resources: [page] }), of('b', { pages: [page] })]);
    expect(findResource(named, page, [])).toBeNull();
    for (const server of ['a', 'b']) {
      expect(shownUri(named, server, page)).toBe(`${page}#moniker.${server}`);
      expect(findResource(named, `${page}#moniker.${server}`, [])).toMatchObject({ server, own: page });
    }
    expect([...named.resources.keys()]).toEqual([`${page}#moniker.a`]);
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
  ])('match: does %s cover %s? %s', (template, uri, expected) => {
    expect(matchesTemplate(template, uri)).toBe(expected);
  });

  it('are matched against long URIs without quadratic time', () => {
    const template = `x://${'{a}/'.repeat(60)}end`;
    expect(matchesTemplate(template, `x://${'a/'.repeat(4_000)}no`)).toBe(false);
    expect(matchesTemplate('{a}'.repeat(1_000), 'x'.repeat(8_000))).toBe(false);
  });
});

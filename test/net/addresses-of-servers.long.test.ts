/** Every address of `ssrf-urls.jsonl` in every place where a server, its document, its issuer or one of their responses may name one. */
import { describe, expect, it } from 'vitest';
import type { EditionTool } from '../../src/core/toolset/edition-tool.ts';
import { Problem } from '../../src/core/problem.ts';
import { OpenApiServer, type ServerAccess } from '../../src/core/servers/server.ts';
import type { ServerOAuth } from '../../src/core/servers/server-oauth.ts';
import { contentText } from '../../src/core/tools/tool.ts';
import { createServerFetch, createToolFetch } from '../../src/engine/servers/server-fetch.ts';
import { createOpenApiExecutor } from '../../src/http-tools/executor.ts';
import { createOpenApiSource } from '../../src/http-tools/openapi/source.ts';
import { createMcpUpstream } from '../../src/mcp/client/upstream.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import type { ToolContext } from '../../src/ports/tool-executor.ts';
import { documentOf } from '../core/openapi/documents.ts';
import { createAuthorizationServer, type AuthorizationServerOptions } from '../fakes/authorization-server.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { bodyOf, createHarness } from '../http/harness.ts';
import { accessTo, contextWith } from '../mcp/client/context.ts';
import { createInstallation, own, serverOf, signIn } from '../mcp/oauth/installation.ts';
import { sample } from '../selection.ts';

type Row = { id: string; url: string; expect: 'block' | 'allow' | 'invalid' | 'block-after-dns' };

/** The outbound client in a world where every host returns `answer`. `sent`: the requests that were really sent. */
function world(answer: (request: Request) => Response = () => Response.json({})) {
  const sent: string[] = [];
  const outbound = createOutbound({ allowPrivateHosts: [], publicUrl: 'https://moniker.example.com' }, async (request) => {
    sent.push(request.url);
    return answer(request);
  });
  const fetch = createServerFetch({ fetch: createToolFetch(outbound) }, null);
  return { sent, fetch, outbound };
}

/** Returns the error message of work that must fail; null: it did not fail. */
async function reasonOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}

/** The error must come from the guard or the URL parser, not from a missing host. */
function isClear(reason: string | null): boolean {
  return reason !== null && reason.length > 20 && !reason.includes('could not be reached');
}

const home = 'https://api.example.net';
const operation = { '/things': { get: { operationId: 'do' } } };

/** Calls the only operation of a document with a fake network behind the guard. Returns what the model sees. */
async function call(access: ServerAccess, document: unknown, { fetch }: Pick<ReturnType<typeof world>, 'fetch'>): Promise<string | null> {
  const context = { ...contextWith({ fetch, document: async () => JSON.stringify(document) }), idempotencyKey: 'k' };
  const { operations, warnings = [] } = await createOpenApiSource().discover(access, context);
  const found = operations?.do;
  if (found === undefined) return warnings.map(({ message }) => message).join(' ');
  const executor = createOpenApiExecutor({ server: async () => access, operation: async () => found });
  const tool = { server: 'files', ownName: 'do', canonical: 'files.do', kind: 'openapi' } as EditionTool; // Only the fields in use.
  const result = await executor.execute(tool, {}, context as unknown as ToolContext);
  return result.isError ? contentText(result.content) : null;
}

const openApi = (url: string, more: Partial<ServerAccess> = {}) => accessTo(url, { kind: 'openapi', openapi: {}, ...more });

/** The value as bytes in a header; null: no header can contain it. */
function inHeader(url: string): string | null {
  const bytes = Buffer.from(url, 'utf8').toString('latin1');
  return /[\0\r\n]/.test(bytes) ? null : bytes;
}

function redirectTo(url: string, status: number): Response | null {
  const location = inHeader(url);
  return location === null ? null : new Response(null, { status, headers: { location } });
}

describeCorpus('security/ssrf-urls.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  const allBad = rows.filter(({ expect: expected }) => expected === 'block' || expected === 'invalid');
  const bad = sample('forbidden addresses of servers', allBad, (_, index) => index % 4 === 0);
  const good = rows.filter(({ expect: expected }) => expected === 'allow');

  /** Addresses that are valid in a header and not a path within the host that sends them. */
  const leadingAway = bad.filter(
    ({ expect: expected, url }) => inHeader(url) !== null && (expected === 'block' || !URL.canParse(url, home)),
  );

  it('has addresses of both kinds', () => {
    expect(allBad.length).toBeGreaterThan(200);
    expect(good.length).toBeGreaterThan(30);
  });

  describe('as the address of an OpenAPI document', () => {
    it('is rejected on write or reported as the server’s health, and nothing is sent', async () => {
      const harness = createHarness();
      const { sent, fetch } = world();
      harness.sources.openapi = { discover: (server, context) => createOpenApiSource().discover(server, { ...context, fetch }) };
      const wrong: string[] = [];
      for (const { id, url } of bad) {
        const answered = await harness.send('PUT', '/v1/servers/api', { kind: 'openapi', url });
        const body = await bodyOf(answered);
        const isRefused = answered.status === 422 && body.issues.length > 0;
        const isFailing = answered.ok && body.health.status === 'failing' && isClear(body.health.reason);
        if (!isRefused && !isFailing) wrong.push(`${id} ${url}: ${answered.status} ${JSON.stringify(body)}`);
      }
      expect({ wrong, sent }).toEqual({ wrong: [], sent: [] });
    });

    it('is read if it is public', async () => {
      for (const { url } of good) {
        const { sent, fetch } = world();
        await reasonOf(createOpenApiSource().discover(openApi(url), contextWith({ fetch, document: async () => null })));
        expect(sent, url).toEqual([new URL(url).href]);
      }
    });
  });

  describe('as the place where an API is called', () => {
    const places: [string, (url: string) => [ServerAccess, unknown]][] = [
      ['`servers` of the document', (url) => [openApi(''), documentOf(operation, { servers: [{ url }] })]],
      [
        'a variable of `servers`',
        (url) => [openApi(''), documentOf(operation, { servers: [{ url: '{at}', variables: { at: { default: url } } }] })],
      ],
      [
        '`servers` of the operation',
        (url) => [openApi(''), documentOf({ '/things': { get: { operationId: 'do', servers: [{ url }] } } }, { servers: [{ url: home }] })],
      ],
      ['`baseUrl` of the server', (url) => [openApi('', { baseUrl: url }), documentOf(operation, { servers: [{ url: home }] })]],
    ];

    it.each(places)('by %s, gets no call, and the model sees the reason', async (_place, written) => {
      const wrong: string[] = [];
      for (const { id, url } of bad) {
        const outside = world();
        const [access, document] = written(url);
        // Rejected on write.
        if (access.baseUrl !== undefined && !OpenApiServer.safeParse({ kind: 'openapi', document: {}, baseUrl: url }).success) continue;
        const reason = await call(access, document, outside).catch(async (error: unknown) => await reasonOf(Promise.reject(error)));
        if (!isClear(reason) || outside.sent.length > 0) wrong.push(`${id} ${url}: ${reason} ${outside.sent.join(' ')}`);
      }
      expect(wrong).toEqual([]);
    });

    it.each(places)('by %s, is called if it is public', async (_place, written) => {
      for (const { url } of good) {
        const outside = world();
        const [access, document] = written(url);
        await call(access, document, outside);
        expect(outside.sent, url).toHaveLength(1);
        expect(new URL(outside.sent[0] ?? '').origin).toBe(new URL(url).origin);
      }
    });
  });

  describe('in signing in', () => {
    const url = 'https://mcp.example.com/mcp';
    const issuer = 'https://login.example.com';
    const byPerson: ServerOAuth = { grant: 'authorization_code' };
    // Without a secret: the guard must reject the address, not the secret's host binding.
    const byClient: ServerOAuth = { grant: 'client_credentials', clientId: 'us' };

    function installed(options: Partial<AuthorizationServerOptions>, oauth: ServerOAuth) {
      const fake = createAuthorizationServer({ issuer, resource: url, clients: { us: {} }, ...options });
      const server = serverOf('docs', url, oauth);
      const installation = createInstallation([fake, { answer: async () => Response.json({}) }], [server]);
      const signIns = installation.isolate();
      const tokens = signIns.tokens('main', server, null);
      if (tokens === null) throw new Error('the server has no oauth');
      return { ...installation, fake, signIns, tokens };
    }

    const known = new Set(['mcp.example.com', 'login.example.com']);
    const strangers = (sent: readonly string[]) => sent.filter((one) => !known.has(new URL(one).host));

    /** The SDK requests the host that it names, without the user name or scheme: a public one. */
    const namesHost = new Set(['https://token:x-oauth-basic@example.com/repo', 'blob:https://example.com/uuid']);

    const asked: [string, readonly Row[], (place: string) => Promise<{ sent: string[]; reason: string | null }>][] = [
      [
        'the authorization server',
        bad.filter(({ url: place }) => !namesHost.has(place)),
        async (place) => {
          const { signIns, sent } = installed({ resourceMetadata: { authorization_servers: [place] } }, byPerson);
          return { sent, reason: await reasonOf(signIns.begin('main', 'docs', own)) };
        },
      ],
      [
        'where clients register',
        bad,
        async (place) => {
          const { signIns, sent } = installed({ metadata: { registration_endpoint: place } }, byPerson);
          return { sent, reason: await reasonOf(signIns.begin('main', 'docs', own)) };
        },
      ],
      [
        'where tokens are given',
        bad,
        async (place) => {
          const { tokens, sent } = installed({ metadata: { token_endpoint: place } }, byClient);
          return { sent, reason: await reasonOf(tokens.token()) };
        },
      ],
      [
        'where the token endpoint leads to',
        leadingAway,
        async (place) => {
          const instead = { '/token': () => redirectTo(place, 307) ?? new Response(null, { status: 404 }) };
          const { tokens, sent } = installed({ instead }, byClient);
          return { sent, reason: await reasonOf(tokens.token()) };
        },
      ],
      [
        'where the metadata leads to',
        leadingAway,
        async (place) => {
          const instead = {
            '/.well-known/oauth-protected-resource/mcp': () => redirectTo(place, 302) ?? new Response(null, { status: 500 }),
          };
          const { tokens, sent } = installed({ instead }, byClient);
          return { sent, reason: await reasonOf(tokens.token()) };
        },
      ],
    ];

    it.each(asked)('as %s, is never requested, and the reason is reported', async (_place, asking, ask) => {
      const wrong: string[] = [];
      for (const { id, url: place } of asking) {
        const { sent, reason } = await ask(place);
        if (!isClear(reason) || strangers(sent).length > 0) wrong.push(`${id} ${place}: ${reason} ${strangers(sent).join(' ')}`);
      }
      expect(wrong).toEqual([]);
    });

    it('as the token endpoint, is requested if it is public and https', async () => {
      for (const { id, url: place } of good) {
        const { tokens, sent } = installed({ metadata: { token_endpoint: place } }, byClient);
        await reasonOf(tokens.token());
        const isAsked = sent.some((one) => one.replace(/#.*/, '') === new URL(place).href.replace(/#.*/, ''));
        expect([id, isAsked]).toEqual([id, new URL(place).protocol === 'https:']);
      }
    });

    it('as the metadata URL of a challenge, is never requested', async () => {
      const wrong: string[] = [];
      for (const { id, url: place } of bad) {
        const { tokens, sent } = installed({}, byClient);
        const named = inHeader(place);
        if (named === null) continue;
        const reason = await reasonOf(tokens.refreshAfterRejection(null, `Bearer resource_metadata="${named}"`));
        // An invalid address is not a hint: the server's own metadata is used.
        if (strangers(sent).length > 0 || (reason !== null && !isClear(reason))) wrong.push(`${id} ${place}: ${reason}`);
      }
      expect(wrong).toEqual([]);
    });

    it('as the revocation endpoint, is never requested', async () => {
      for (const { id, url: place } of bad) {
        const { fake, signIns, sent } = installed({ metadata: { revocation_endpoint: place } }, byPerson);
        // Metadata with an invalid address is rejected.
        if ((await reasonOf(signIn(signIns, fake, 'docs'))) === null) await signIns.forget('main', 'docs');
        expect(strangers(sent), id).toEqual([]);
      }
    });

    it('as the sign-in page, is never requested, and offered only over https or on loopback', async () => {
      const wrong: string[] = [];
      for (const { id, url: place } of bad) {
        const { signIns, sent } = installed({ metadata: { authorization_endpoint: place } }, byPerson);
        let opened: URL | null = null;
        const reason = await reasonOf(
          signIns.begin('main', 'docs', own).then(({ authorizationUrl }) => {
            opened = new URL(authorizationUrl);
          }),
        );
        const at = opened as URL | null;
        const isOpenable =
          at !== null &&
          at.username === '' &&
          (at.protocol === 'https:' || /^(127\.|0\.0\.0\.0$|\[::1\]$|(.+\.)?localhost$)/.test(at.hostname));
        if (strangers(sent).length > 0 || (!isOpenable && !isClear(reason))) wrong.push(`${id} ${place}: ${at?.href ?? reason}`);
      }
      expect(wrong).toEqual([]);
    });
  });

  describe('as the target of a redirect', () => {
    const leading: [string, (out: ReturnType<typeof world>) => Promise<string | null>][] = [
      [
        'an MCP server that is read',
        ({ fetch }) => reasonOf(createMcpUpstream().discover(accessTo(`${home}/mcp`), contextWith({ fetch }))),
      ],
      [
        'an OpenAPI document',
        ({ fetch }) => reasonOf(createOpenApiSource().discover(openApi(home), contextWith({ fetch, document: async () => null }))),
      ],
      ['a call of an API', (out) => call(openApi(''), documentOf(operation, { servers: [{ url: home }] }), out)],
      ['a tool’s own request', ({ outbound }) => reasonOf(outbound(new Request(home), { purpose: 'tool' }))],
    ];

    it.each(leading)('of %s, is never reached, and the reason is reported', async (_what, ask) => {
      const wrong: string[] = [];
      for (const { id, url } of leadingAway) {
        for (const status of [301, 302, 303, 307, 308]) {
          const out = world(() => redirectTo(url, status) ?? new Response(null, { status: 404 }));
          const reason = await ask(out);
          const strangers = out.sent.filter((one) => new URL(one).origin !== home);
          if (strangers.length > 0 || !isClear(reason)) wrong.push(`${id} ${status} ${url}: ${reason} ${strangers.join(' ')}`);
        }
      }
      expect(leadingAway.length).toBeGreaterThan(bad.length * 0.8);
      expect(wrong).toEqual([]);
    });

    it('of a tool’s own request, is reached if it is public', async () => {
      for (const { id, url } of good) {
        if (inHeader(url) === null) continue;
        const isFirst = (one: string) => one === `${home}/`;
        const out = world((request) => (isFirst(request.url) ? redirectTo(url, 302) : null) ?? new Response('here'));
        expect(await reasonOf(out.outbound(new Request(home), { purpose: 'tool' })), id).toBeNull();
        expect(out.sent, id).toHaveLength(2);
      }
    });
  });
});

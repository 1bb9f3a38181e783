/** The contract of every `Catalog` and its `Directory` for servers that list their tools themselves. `make` returns an empty workspace. */
import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { noOffers, type Discovery, type ServerConnection } from '../../../src/core/servers/server-state.ts';
import type { ServerOperation } from '../../../src/core/tools/server-operation.ts';
import type { CatalogPort, RefreshClaim } from '../../../src/ports/catalog.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import { pages, refusal, type MakeWorkspace } from './workspace.ts';
import { listingTtlMs } from '../../../src/core/servers/refresh-state.ts';

const url = 'https://mcp.example.com/mcp';
const mcp = { kind: 'mcp', url };
const listed = (name: string, description = `Does ${name}.`) => ({ name, description, inputSchema: { type: 'object' } });
const connectionOf = (name: string, version: string): ServerConnection => ({
  era: 'modern',
  protocolVersion: '2026-07-28',
  server: { name, version },
  capabilities: { tools: {} },
});
export const discoveryOf = (tools: Record<string, unknown>[], more: Partial<Discovery> = {}): Discovery => ({
  tools,
  connection: connectionOf('facts', '1.0.0'),
  offers: noOffers,
  operations: null,
  ttlMs: null,
  ...more,
});

export function selfListingServersContract(make: MakeWorkspace): void {
  let workspace: string;
  let catalog: CatalogPort;
  let directory: Directory;
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  const states = async () =>
    Object.fromEntries((await pages((page) => catalog.serverTools('facts', page), 50)).map(({ name, state }) => [name, state]));
  const claim = async (): Promise<RefreshClaim> => {
    const claimed = await catalog.claimRefresh('facts', 'asked');
    if (!claimed.claimed) throw new Error(`no leave for ${claimed.retryAfterMs} ms`);
    return claimed.claim;
  };
  const take = async (discovery: Discovery) => await catalog.takeDiscovery('facts', await claim(), discovery);
  const body = async () => (await catalog.get('server', 'facts')).body;

  describe('servers that list their tools themselves', () => {
    it('are stored before they are first read, and are due for reading at once', async () => {
      expect(await catalog.put('server', 'facts', mcp)).toMatchObject({ created: true, document: { version: 1 } });
      expect(await body()).toEqual({
        name: 'facts',
        ...mcp,
        toolCount: 0,
        held: 0,
        health: { status: 'unknown', checkedAt: null, listedAt: null, failures: 0 },
        offers: { prompts: 0, resources: 0, resourceTemplates: 0, held: 0 },
      });
      const access = await directory.server(workspace, 'facts');
      expect(access).toMatchObject({ kind: 'mcp', url, ready: [], version: 1, connection: null, mcp: {} });
      expect(access.staleAt).toBeTypeOf('number');
      expect(await catalog.claimRefresh('facts', 'stale')).toMatchObject({ claimed: true, server: { name: 'facts', version: 1 } });
    });

    it('have their first listing accepted, and later changes held', async () => {
      await catalog.put('server', 'facts', mcp);
      expect(await take(discoveryOf([listed('get'), listed('put')]))).toMatchObject({ tools: 2, added: ['get', 'put'], held: [] });
      expect(await states()).toEqual({ get: 'ready', put: 'ready' });
      await catalog.put('toolset', 'daily', { tools: [{ tool: 'facts.get' }] });
      expect(await take(discoveryOf([listed('get', 'Changed.'), listed('new')]))).toMatchObject({ held: ['get', 'new'], removed: ['put'] });
      expect(await states()).toEqual({ get: 'held', new: 'held' });
      expect((await directory.toolset(workspace, 'daily')).names.tools).toMatchObject([{ canonical: 'facts.get', state: 'held' }]);
      expect(await catalog.acceptTool('facts', 'get')).toMatchObject({ state: 'ready', description: 'Changed.' });
      expect(await directory.server(workspace, 'facts')).toMatchObject({ ready: ['get'], held: ['new'] });
    });

    it('report the warnings of a reading once', async () => {
      await catalog.put('server', 'facts', mcp);
      const warnings = [{ path: 'include[0]', message: 'fits no operation' }];
      expect(await take(discoveryOf([listed('get')], { warnings }))).toMatchObject({ warnings });
    });

    it('have their protocol revision, their other offers, and their time to live', async () => {
      await catalog.put('server', 'facts', mcp);
      const offers = {
        prompts: [{ name: 'ask', description: '😀'.repeat(1_000) }],
        resources: [{ uri: 'facts://today', name: 'today' }],
        resourceTemplates: [],
      };
      await take(discoveryOf([listed('get')], { offers, ttlMs: 60_000 }));
      expect(await directory.serverOffers(workspace, 'facts')).toEqual(offers);
      const { staleAt, connection } = await directory.server(workspace, 'facts');
      expect(connection).toEqual(connectionOf('facts', '1.0.0'));
      const { health, ...rest } = await body();
      expect(rest).toMatchObject({ connection, offers: { prompts: 1, resources: 1, resourceTemplates: 0 } });
      expect(health).toMatchObject({ status: 'ok', failures: 0 });
      expect(staleAt).toBe(Date.parse((health as { listedAt: string }).listedAt) + 60_000);
      expect(await catalog.claimRefresh('facts', 'stale')).toMatchObject({ claimed: false });
    });

    it('are read by one reader at a time', async () => {
      await catalog.put('server', 'facts', mcp);
      const leave = await claim();
      for (const reason of ['asked', 'stale', 'changed'] as const) {
        const refused = await catalog.claimRefresh('facts', reason);
        if (refused.claimed) throw new Error(`two read it, one for ${reason}`);
        expect(refused.retryAfterMs).toBeGreaterThan(0);
        expect(refused.retryAfterMs).toBeLessThanOrEqual(limits.refreshClaimMs);
      }
      await catalog.takeDiscovery('facts', leave, discoveryOf([listed('get')]));
      expect(await catalog.claimRefresh('facts', 'asked')).toMatchObject({ claimed: true });
    });

    it('that report a change are read again soon, not at once, and reliably', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')]));
      const before = (await directory.server(workspace, 'facts')).staleAt ?? 0;
      const refused = await catalog.claimRefresh('facts', 'changed');
      expect(refused).toMatchObject({ claimed: false, retryAfterMs: expect.any(Number) });
      const { server } = (await catalog.claimRefresh('facts', 'asked')) as { server: ServerAccess };
      expect(server.staleAt).toBeLessThanOrEqual(before - listingTtlMs + limits.minRefreshIntervalMs);
    });

    it('that cannot be read keep their listing, with the reason', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')]));
      const leave = await claim();
      await catalog.takeFailure('facts', leave, { status: 'failing', reason: 'It is down.' });
      expect(await states()).toEqual({ get: 'ready' });
      expect(await body()).toMatchObject({ toolCount: 1, health: { status: 'failing', reason: 'It is down.', failures: 1 } });
      expect((await catalog.list('server', { limit: 5 })).items).toMatchObject([{ body: { health: { status: 'failing' } } }]);
      expect(await catalog.claimRefresh('facts', 'stale')).toMatchObject({ claimed: false });
      await take(discoveryOf([listed('get')]));
      expect((await body()).health).not.toHaveProperty('reason');
    });

    it('whose other lists cannot be read are degraded, with the reason, until they can', async () => {
      await catalog.put('server', 'facts', mcp);
      const warnings = [{ path: 'prompts', message: 'could not be read. The server facts returned error -32603: "broken".' }];
      await take(discoveryOf([listed('get')], { unread: ['prompts'], warnings }));
      const reason = 'Its prompts could not be read. The server facts returned error -32603: "broken".';
      expect(await body()).toMatchObject({ toolCount: 1, health: { status: 'degraded', reason } });
      await take(discoveryOf([listed('get')]));
      expect((await body()).health).toMatchObject({ status: 'ok' });
    });

    it('that fail in a call are degraded, although they can be listed, until an administrator refreshes them', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')]));
      // It was read just now, so it is not read again for this.
      expect(await catalog.claimRefresh('facts', 'changed', 'It exited with code 3.')).toMatchObject({ claimed: false });
      expect(await body()).toMatchObject({
        health: { status: 'degraded', reason: expect.stringMatching(/^A call failed at \d{4}-.*: It exited with code 3\.$/) },
      });
      expect(await catalog.serverStatuses()).toEqual({ ok: 0, degraded: 1, failing: 0, unauthorized: 0, unknown: 0 });
      await take(discoveryOf([listed('get')]));
      expect((await body()).health).toMatchObject({ status: 'ok' });
      expect(await catalog.serverStatuses()).toMatchObject({ ok: 1, degraded: 0 });
    });

    it('that were rewritten during a reading discard its result', async () => {
      await catalog.put('server', 'facts', mcp);
      const leave = await claim();
      await catalog.put('server', 'facts', { ...mcp, url: 'https://other.example.com/mcp' });
      const late = await refusal(catalog.takeDiscovery('facts', leave, discoveryOf([listed('get')])));
      expect(late).toMatchObject({ code: 'conflict' });
      await catalog.takeFailure('facts', leave, { status: 'failing', reason: 'It is down.' });
      expect(await body()).toMatchObject({ toolCount: 0, health: { status: 'unknown', failures: 0 } });
      // The writer need not wait for the reader of the earlier document.
      expect(await catalog.claimRefresh('facts', 'asked')).toMatchObject({ claimed: true, server: { version: 2 } });
    });

    it('discard a reading whose claim has passed to another reader', async () => {
      await catalog.put('server', 'facts', mcp);
      const { version } = await claim();
      const late = { version, until: 1 };
      expect(await refusal(catalog.takeDiscovery('facts', late, discoveryOf([listed('old')])))).toMatchObject({ code: 'conflict' });
      await catalog.takeFailure('facts', late, { status: 'failing', reason: 'It is down.' });
      expect(await body()).toMatchObject({ toolCount: 0, health: { status: 'unknown', failures: 0 } });
      // The same for a claim that was already used.
      await catalog.put('server', 'facts', { ...mcp, instructions: 'Facts.' });
      const leave = await claim();
      await catalog.takeDiscovery('facts', leave, discoveryOf([listed('get')]));
      expect(await refusal(catalog.takeDiscovery('facts', leave, discoveryOf([])))).toMatchObject({ code: 'conflict' });
      expect(await states()).toEqual({ get: 'ready' });
    });

    it('may list no tools, as servers of resources do', async () => {
      await catalog.put('server', 'facts', mcp);
      expect(await take(discoveryOf([]))).toMatchObject({ tools: 0, warnings: [] });
      expect(await body()).toMatchObject({ toolCount: 0, health: { status: 'ok' } });
    });

    it('that change their name have everything held until it is accepted; new versions of the same server do not', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')]));
      await take(discoveryOf([listed('get')], { connection: connectionOf('facts', '1.9.3') }));
      expect(await states()).toEqual({ get: 'ready' });
      const report = await take(discoveryOf([listed('get')], { connection: connectionOf('trusted-facts', '1.9.3') }));
      expect(report.held).toEqual(['get']);
      expect(report.warnings[0]?.message).toContain('identifies itself as "trusted-facts"');
      // It does not count as a second confirmation either.
      await take(discoveryOf([listed('get')], { connection: connectionOf('trusted-facts', '1.9.3') }));
      expect(await catalog.serverTool('facts', 'get')).toMatchObject({
        state: 'held',
        held: { reason: 'server', findings: [{ finding: 'other-server' }] },
      });
      const { refId } = await catalog.serverTool('facts', 'get');
      await expect(catalog.acceptTool('facts', 'get', { refId })).rejects.toMatchObject({ code: 'acknowledgement_required' });
      await catalog.acceptTool('facts', 'get', { refId, acknowledge: ['other-server'] });
      await take(discoveryOf([listed('get')], { connection: connectionOf('trusted-facts', '1.9.3') }));
      expect(await states()).toEqual({ get: 'ready' });
      // Undone, it is held for the same reason, whatever was listed since.
      await catalog.undoTool('facts', 'get');
      await take(discoveryOf([listed('get')], { connection: connectionOf('trusted-facts', '1.9.3') }));
      expect(await catalog.serverTool('facts', 'get')).toMatchObject({ state: 'held', held: { reason: 'server' } });
    });

    it('may be moved to another address by their writer, whatever name the server there has', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')], { offers: { ...noOffers, prompts: [{ name: 'ask' }] } }));
      await catalog.put('server', 'facts', { ...mcp, url: 'https://other.example.com/mcp' });
      expect(await body()).toMatchObject({ toolCount: 1, health: { status: 'unknown' }, offers: { prompts: 0 } });
      expect((await directory.server(workspace, 'facts')).connection).toBeNull();
      await take(discoveryOf([listed('get')], { connection: connectionOf('other', '7.0.0') }));
      expect(await states()).toEqual({ get: 'ready' });
    });

    it('lose their grant when they move to another origin or client, and when they are removed', async () => {
      const oauth = { grant: 'authorization_code', scopes: ['read'] };
      const grant = async () => await catalog.serverGrant('facts');
      const sign = async () => expect(await catalog.saveServerGrant('facts', { ...(await grant()), value: 'tokens' })).toBe(true);
      await catalog.put('server', 'facts', { ...mcp, oauth });
      await sign();
      const early = await grant();
      await catalog.put('server', 'facts', { ...mcp, oauth, url: `${url}/v2`, trusted: true });
      expect((await grant()).value).toBe('tokens');
      await catalog.put('server', 'facts', { ...mcp, oauth, url: 'https://other.example.com/mcp' });
      expect((await grant()).value).toBeNull();
      // A concurrent token refresh fails.
      expect(await catalog.saveServerGrant('facts', early)).toBe(false);
      await sign();
      await catalog.put('server', 'facts', { ...mcp, oauth: { ...oauth, clientId: 'another' }, url: 'https://other.example.com/mcp' });
      expect((await grant()).value).toBeNull();
      await sign();
      await catalog.remove('server', 'facts');
      expect((await grant()).value).toBeNull();
    });

    it('are removed with everything that was read of them', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')], { offers: { ...noOffers, prompts: [{ name: 'ask' }] } }));
      await catalog.remove('server', 'facts');
      await catalog.put('server', 'facts', mcp);
      expect(await body()).toMatchObject({ toolCount: 0, health: { status: 'unknown', listedAt: null }, offers: { prompts: 0 } });
      expect(await directory.serverOffers(workspace, 'facts')).toEqual(noOffers);
      expect(await body()).not.toHaveProperty('connection');
    });

    it('that become static, and the reverse, are compared with what was accepted before', async () => {
      await catalog.put('server', 'facts', { kind: 'static', url, tools: [listed('get')] });
      await catalog.put('server', 'facts', mcp);
      expect(await states()).toEqual({ get: 'ready' });
      await take(discoveryOf([listed('get', 'Changed.'), listed('new')]));
      expect(await states()).toEqual({ get: 'held', new: 'held' });
      await catalog.put('server', 'facts', { kind: 'static', url, tools: [listed('get')] });
      expect(await states()).toEqual({ get: 'ready' });
      expect(await body()).not.toHaveProperty('health');
    });

    it('keep a limited number of tools, those they already had first', async () => {
      await catalog.put('server', 'facts', mcp);
      await take(discoveryOf([listed('get')]));
      const flood = Array.from({ length: limits.maxServerTools + 5 }, (_, index) => listed(`tool_${index}`));
      const report = await take(discoveryOf([...flood, listed('get')]));
      expect(report).toMatchObject({ tools: limits.maxServerTools, removed: [] });
      expect(report.warnings[0]).toEqual({ path: 'tools', message: expect.stringContaining(`${limits.maxServerTools} are used`) });
      expect(await catalog.serverTool('facts', 'get')).toMatchObject({ state: 'ready' });
    });

    it('of OpenAPI have how a tool is called, which is part of what was accepted', async () => {
      const operation = (path: string): ServerOperation => ({ method: 'GET', path, parameters: [], body: null });
      await catalog.put('server', 'facts', { kind: 'openapi', url: 'https://api.example.com/openapi.json' });
      const read = (path: string) => discoveryOf([listed('get')], { connection: null, operations: { get: operation(path) } });
      await take(read('/facts'));
      expect(await directory.operation(workspace, { server: 'facts', ownName: 'get', pin: '' })).toEqual(operation('/facts'));
      await expect(directory.operation(workspace, { server: 'facts', ownName: 'nothing', pin: '' })).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await take(read('/secrets'))).toMatchObject({ held: ['get'] });
      expect((await catalog.serverTool('facts', 'get')).held).toMatchObject({
        reason: 'changed',
        changes: [{ path: '/operation/path', from: '/facts', to: '/secrets' }],
      });
      await catalog.acceptTool('facts', 'get');
      await catalog.put('server', 'facts', { kind: 'openapi', url: 'https://api.example.com/openapi.json', trusted: true });
      expect(await directory.operation(workspace, { server: 'facts', ownName: 'get', pin: '' })).toEqual(operation('/secrets'));
    });

    it('of OpenAPI may include their document, which is returned unchanged', async () => {
      const document = { openapi: '3.1.0', info: { title: 'Ünïcode 😀' }, paths: {} };
      await catalog.put('server', 'facts', { kind: 'openapi', document });
      expect(JSON.parse((await catalog.serverDocument('facts')) ?? '')).toEqual(document);
      const shown = await body();
      expect(shown.document).toEqual(document);
      const { toolCount: _count, held: _held, ...sent } = shown;
      expect(await catalog.put('server', 'facts', sent)).toMatchObject({ changed: false });
      await take(discoveryOf([listed('get')], { connection: null }));
      // It does not change by itself.
      expect((await directory.server(workspace, 'facts')).staleAt).toBeNull();
      expect(await catalog.put('server', 'facts', { kind: 'openapi', document: 'openapi: 3.1.0\n' })).toMatchObject({ changed: true });
      expect([await catalog.serverDocument('facts'), (await body()).document]).toEqual(['openapi: 3.1.0\n', 'openapi: 3.1.0\n']);
      expect((await catalog.list('server', { limit: 5 })).items[0]?.body).not.toHaveProperty('document');
      await catalog.put('server', 'facts', { kind: 'openapi', url: 'https://api.example.com/openapi.json' });
      expect(await catalog.serverDocument('facts')).toBeNull();
    });

    it('that are static are never read', async () => {
      await catalog.put('server', 'facts', { kind: 'static', url, tools: [listed('get')] });
      const leave = await claim();
      expect(await catalog.claimRefresh('facts', 'stale')).toMatchObject({ claimed: true, server: { kind: 'static' } });
      expect(await refusal(catalog.takeDiscovery('facts', leave, discoveryOf([])))).toMatchObject({ code: 'conflict' });
      await catalog.put('server', 'other', mcp);
      expect(await refusal(catalog.refreshServer('other'))).toMatchObject({ code: 'conflict' });
      await expect(catalog.claimRefresh('nobody', 'asked')).rejects.toMatchObject({ code: 'not_found' });
    });
  });
}

/** The `Catalog` port over RPC. After a write the isolate's caches are invalidated, so that the isolate reads its own writes. */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { policyDocument, type Catalog, type CatalogCaller } from '../ports/catalog.ts';
import type { Bindings } from './bindings.ts';
import { askCatalog } from './catalog-rpc.ts';
import type { IsolateDirectory } from './directory.ts';

/** `caller`: as in `CatalogCaller`. */
export function createCatalogClient(bindings: Bindings, caller: CatalogCaller, directory?: Pick<IsolateDirectory, 'invalidate'>): Catalog {
  const workspace = typeof caller === 'string' ? caller : caller.workspace;
  const revokeKey = async (id: string, cancel: boolean): Promise<void> => {
    const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.revokeKey(caller, id, cancel));
    await invalidateAfter(write, () => directory?.invalidate('key', workspace, id));
  };
  return {
    put: async (kind, name, body, options = {}) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.put(caller, kind, name, body, options));
      return invalidateAfter(write, options.dryRun === true ? () => undefined : () => directory?.invalidate(kind, workspace, name));
    },
    get: (kind, name, version) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.get(workspace, kind, name, version)),
    list: (kind, page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.list(workspace, kind, page)),
    versions: (toolset, page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.versions(workspace, toolset, page)),
    remove: async (kind, name, options = {}) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.remove(caller, kind, name, options));
      await invalidateAfter(write, options.dryRun === true ? () => undefined : () => directory?.invalidate(kind, workspace, name));
    },
    renameToolset: (from, to, version) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.renameToolset(caller, from, to, version));
      return invalidateAfter(write, () => {
        for (const name of [from, to]) directory?.invalidate('toolset', workspace, name);
      });
    },

    tools: (page, owner) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.tools(workspace, page, owner)),
    privateTools: (owner) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.privateTools(workspace, owner)),
    tool: (canonical) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.tool(workspace, canonical)),

    serverTools: (server, page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.serverTools(workspace, server, page)),
    serverTool: (server, tool) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.serverTool(workspace, server, tool)),
    refreshServer: (server) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.refreshServer(caller, server));
      return invalidateAfter(write, () => directory?.invalidate('server', workspace, server));
    },
    serverDocument: (server) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.serverDocument(workspace, server)),
    claimRefresh: (server, reason) =>
      askCatalog(bindings, workspace, 'write', (catalog) => catalog.claimRefresh(workspace, server, reason)),
    takeDiscovery: (server, leave, discovery) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.takeDiscovery(caller, server, leave, discovery));
      return invalidateAfter(write, () => directory?.invalidate('server', workspace, server));
    },
    takeFailure: async (server, leave, failure) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.takeFailure(workspace, server, leave, failure));
      await invalidateAfter(write, () => directory?.invalidate('server', workspace, server));
    },
    serverGrant: (server) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.serverGrant(workspace, server)),
    saveServerGrant: (server, grant) =>
      askCatalog(bindings, workspace, 'write', (catalog) => catalog.saveServerGrant(caller, server, grant)),
    equipment: (keyId) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.equipment(workspace, keyId)),
    setEquipment: (keyId, change) => askCatalog(bindings, workspace, 'write', (catalog) => catalog.setEquipment(workspace, keyId, change)),
    taintMarks: (names) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.taintMarks(workspace, names)),
    addTaintMarks: async (marks) => {
      await askCatalog(bindings, workspace, 'write', (catalog) => catalog.addTaintMarks(workspace, marks));
    },
    consumeNonce: (nonce, expiresAt) =>
      askCatalog(bindings, workspace, 'write', (catalog) => catalog.consumeNonce(workspace, nonce, expiresAt)),
    acceptTool: (server, tool, refId, annotations) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.acceptTool(caller, server, tool, { refId, annotations }));
      return invalidateAfter(write, () => directory?.invalidate('server', workspace, server));
    },
    rebindTool: (server, from, to) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.rebindTool(caller, server, from, to));
      return invalidateAfter(write, () => directory?.invalidate('server', workspace, server));
    },

    createKey: (request) => askCatalog(bindings, workspace, 'write', (catalog) => catalog.createKey(caller, request)),
    keys: (page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.keys(workspace, page)),
    revokeKey: (id) => revokeKey(id, false),
    cancelKey: async (id) => {
      await revokeKey(id, true);
      return await askCatalog(bindings, workspace, 'question', (catalog) => catalog.keyCancellation(workspace, id), limits.cancelWaitMs);
    },
    isKeyCancelled: (id) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.keyIsCancelled(workspace, id)),
    isKeyActive: (id, scope) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.isKeyActive(workspace, id, scope)),
    keyRights: (id) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.keyRights(workspace, id)),

    addRule: async (rule) => {
      const write = askCatalog(bindings, workspace, 'write', (catalog) => catalog.addRule(caller, rule));
      await invalidateAfter(write, () => directory?.invalidate('policy', workspace, policyDocument));
    },

    indexSession: async (row) => {
      await askCatalog(bindings, workspace, 'write', (catalog) => catalog.indexSession(workspace, row));
    },
    forgetSession: async (id) => {
      await askCatalog(bindings, workspace, 'write', (catalog) => catalog.forgetSession(workspace, id));
    },
    sessions: (keyId, page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.sessions(workspace, keyId, page)),

    appendAudit: async (rows) => {
      await askCatalog(bindings, workspace, 'write', (catalog) => catalog.appendAudit(workspace, rows));
    },
    audit: (query) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.audit(workspace, query)),
  };
}

/** Invalidates after the write, unless it was refused. After a timeout or a broken connection the write may have been made. */
async function invalidateAfter<T>(write: Promise<T>, invalidate: () => void): Promise<T> {
  try {
    const answer = await write;
    invalidate();
    return answer;
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'internal') invalidate();
    throw error;
  }
}

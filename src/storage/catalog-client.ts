/** The `Catalog` port over RPC. After a write the isolate's own caches forget what was written, so that it reads its writes. */
import type { Catalog } from '../ports/catalog.ts';
import type { Bindings } from './bindings.ts';
import { askCatalog } from './catalog-rpc.ts';
import type { IsolateDirectory } from './directory.ts';

export function createCatalogClient(bindings: Bindings, workspace: string, directory?: Pick<IsolateDirectory, 'dropped'>): Catalog {
  return {
    put: async (kind, name, body, options = {}) => {
      const answer = await askCatalog(bindings, workspace, 'write', (catalog) => catalog.put(workspace, kind, name, body, options));
      if (options.dryRun !== true) directory?.dropped(kind, workspace, name);
      return answer;
    },
    get: (kind, name, version) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.get(workspace, kind, name, version)),
    list: (kind, page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.list(workspace, kind, page)),
    versions: (toolset, page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.versions(workspace, toolset, page)),
    remove: async (kind, name, options = {}) => {
      await askCatalog(bindings, workspace, 'write', (catalog) => catalog.remove(workspace, kind, name, options));
      if (options.dryRun !== true) directory?.dropped(kind, workspace, name);
    },

    tools: (page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.tools(workspace, page)),
    tool: (canonical) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.tool(workspace, canonical)),

    createKey: (request) => askCatalog(bindings, workspace, 'write', (catalog) => catalog.createKey(workspace, request)),
    keys: (page) => askCatalog(bindings, workspace, 'question', (catalog) => catalog.keys(workspace, page)),
    revokeKey: async (id) => {
      await askCatalog(bindings, workspace, 'write', (catalog) => catalog.revokeKey(workspace, id));
      directory?.dropped('key', workspace, id);
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

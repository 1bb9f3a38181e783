/**
 * The toolset editor behind the configuration tools: works on the Catalog on behalf of a key. Reads the key's rights for each call, since the
 * key may have been revoked since its session started. `core/people/authority.ts` decides, as for the REST routes.
 */
import { isAllowed, isUnbound, requireAllowed } from '../../core/people/authority.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import { ServerHealth } from '../../core/servers/server-state.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { CatalogPort, Equipment, KeyRights, StoredDocument } from '../../ports/catalog.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import type { CountedUsage } from './edit-impact.ts';
import { readAllDocuments, readDefinitions, listableTools } from './tools-of-key.ts';
import { checkToolset, writeToolset } from './write-toolset.ts';

/** `past`: the calls that edits are compared with; absent: none. `refreshIfStale`: called with the names of the listed servers, to refresh stale tool lists (`refresh-stale-servers.ts`). */
export type ToolsetEditorOptions = { aliases: boolean; past: CountedUsage; refreshIfStale(servers: readonly string[]): void };

export function createToolsetEditor(catalog: CatalogPort, keyId: string, given: Partial<ToolsetEditorOptions> = {}): ToolsetEditor {
  const { aliases = true, past, refreshIfStale } = given;
  const rights = once(async () => requireRights(await catalog.keyRights(keyId)));
  const mayUse = async (name: string): Promise<boolean> => isAllowed(await rights(), { act: 'write-toolset', toolset: name });
  const find = async (name: string): Promise<StoredDocument | null> =>
    (await mayUse(name)) ? await nullIfNotFound(catalog.get('toolset', name)) : null;
  const tools = once(async () => await readDefinitions(catalog, await listableTools(catalog, await rights())));

  const editor: ToolsetEditor = {
    aliases,
    tools,
    async servers() {
      // A bound key sees only the servers of its own tools.
      const seen = isUnbound(await rights()) ? null : new Set((await tools()).map(({ server }) => server));
      const documents = await readAllDocuments(catalog, 'server');
      refreshIfStale?.(documents.flatMap(({ name, body }) => (body.kind === 'static' ? [] : [name])));
      return new Map(documents.flatMap(({ name, body }) => (seen?.has(name) === false ? [] : healthOf(name, body))));
    },
    async toolsets() {
      const { toolsets } = await rights();
      if (toolsets === undefined) return await readAllDocuments(catalog, 'toolset');
      const found = await Promise.all([...new Set(toolsets)].sort().map(find));
      return found.flatMap((document) => document ?? []);
    },
    toolset: find,
    async write(name, toolset, version) {
      return await writeToolset(catalog, await rights(), name, toolset, version === null ? { ifNoneMatch: true } : { ifMatch: version });
    },
    async brokenCalls(name, before, after) {
      const principal = await rights();
      if (past === undefined) return [];
      const { brokenCalls } = await import('./edit-impact.ts');
      return await brokenCalls(past, { catalog, rights: principal, keyId, aliases }, { name, before, after });
    },
    async rename(from, to, version) {
      const principal = await rights();
      for (const toolset of [from, to]) requireAllowed(principal, { act: 'write-toolset', toolset });
      const { body } = await catalog.get('toolset', from);
      // Checked as a write under the new name. Bodies of toolsets were parsed by the schema when they were written.
      await checkToolset(catalog, principal, to, body as Toolset, {});
      return await catalog.renameToolset(from, to, version);
    },
    async remove(name, version) {
      requireAllowed(await rights(), { act: 'write-toolset', toolset: name });
      await catalog.remove('toolset', name, { ifMatch: version });
    },
    async usedBy(name) {
      // A bound key does not see other agents and keys.
      if (!isUnbound(await rights())) return null;
      const uses = await nullIfNotFound(catalog.toolsetUses(name));
      return uses === null ? null : { ...uses, equipped: uses.equipped.filter(({ id }) => id !== keyId) };
    },
    async equipment() {
      await rights();
      return await usableEquipment(await catalog.equipment(keyId), mayUse);
    },
    async equip(change) {
      const principal = await rights();
      if (change.toolset != null) requireAllowed(principal, { act: 'write-toolset', toolset: change.toolset });
      return await usableEquipment(await catalog.setEquipment(keyId, change), mayUse);
    },
  };
  return editor;
}

function requireRights(rights: KeyRights | null): KeyRights {
  if (rights === null) throw new Problem('forbidden', 'The key of this call was revoked or has expired.');
  requireAllowed(rights, { act: 'configure' });
  return rights;
}

async function usableEquipment(equipment: Equipment, mayUse: (name: string) => Promise<boolean>): Promise<Equipment> {
  const isUsable = equipment.toolset === null || (await mayUse(equipment.toolset));
  return isUsable ? equipment : { toolset: null, mode: 'configuration' };
}

function healthOf(name: string, body: Record<string, unknown>): [string, Pick<ServerHealth, 'status' | 'reason'>][] {
  const parsed = ServerHealth.safeParse(body.health);
  return parsed.success ? [[name, parsed.data]] : [];
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let cached: Promise<Value> | undefined;
  return () => (cached ??= read());
}

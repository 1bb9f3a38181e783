/**
 * The configuration tools' desk over the Catalog, in the name of a key. The key's rights are read when a call needs them, not when its
 * session began: a key may have been revoked since. A key that is bound to toolsets sees and takes no tool that none of them has, as on
 * `GET /v1/tools`: who was given a few tools is not to find the others by building.
 */
import { limits } from '../core/limits.ts';
import { hasScope } from '../core/principal.ts';
import { orNull, Problem, quoted } from '../core/problem.ts';
import { ServerHealth } from '../core/servers/server-state.ts';
import type { ToolDefinition } from '../core/tool.ts';
import { readToolsetReference } from '../core/toolset-reference.ts';
import type { Toolset } from '../core/toolset.ts';
import type { Catalog, DocumentKind, Equipment, KeyRights, Page, PageRequest, StoredDocument } from '../ports/catalog.ts';
import type { ConfigurationDesk } from '../ports/configuration-desk.ts';
import { requireMayWaive } from './policy/approval-waiver.ts';

/** `meet`: these servers are looked at (`meet-servers.ts`). */
export type DeskOptions = { aliases: boolean; meet(servers: readonly string[]): void };

export function createConfigurationDesk(catalog: Catalog, keyId: string, given: Partial<DeskOptions> = {}): ConfigurationDesk {
  const { aliases = true, meet } = given;
  const rights = once(async () => requireRights(await catalog.keyRights(keyId)));
  const mayUse = async (name: string): Promise<boolean> => (await rights()).toolsets?.includes(name) ?? true;
  const find = async (name: string): Promise<StoredDocument | null> =>
    (await mayUse(name)) ? await orNull(catalog.get('toolset', name)) : null;
  const tools = once(async () => inReach(await rights(), await allTools(catalog), find));

  const desk: ConfigurationDesk = {
    aliases,
    tools,
    async servers() {
      // A key that is bound to toolsets sees what those are built of.
      const { toolsets } = await rights();
      const seen = toolsets === undefined ? null : new Set((await tools()).map(({ server }) => server));
      const documents = await documentsOf(catalog, 'server');
      meet?.(documents.flatMap(({ name, body }) => (body.kind === 'static' ? [] : [name])));
      return new Map(documents.flatMap(({ name, body }) => (seen?.has(name) === false ? [] : healthOf(name, body))));
    },
    async toolsets() {
      const { toolsets } = await rights();
      if (toolsets === undefined) return await documentsOf(catalog, 'toolset');
      const found = await Promise.all([...new Set(toolsets)].sort().map(find));
      return found.flatMap((document) => document ?? []);
    },
    toolset: find,
    async write(name, toolset, version) {
      const principal = await rights();
      requireBound(principal, name);
      const condition = version === null ? { ifNoneMatch: true } : { ifMatch: version };
      const conditions = await requireMayWaive(catalog, principal, name, toolset, condition);
      return await catalog.put('toolset', name, { ...toolset, name }, conditions);
    },
    async rename(from, to, version) {
      const principal = await rights();
      for (const name of [from, to]) requireBound(principal, name);
      const { body } = await catalog.get('toolset', from);
      // Under the other name it is written anew. Bodies of toolsets were parsed by the schema when they were written.
      await requireMayWaive(catalog, principal, to, body as Toolset, {});
      return await catalog.renameToolset(from, to, version);
    },
    async remove(name, version) {
      requireBound(await rights(), name);
      await catalog.remove('toolset', name, { ifMatch: version });
    },
    async users(name) {
      const { toolsets } = await rights();
      // A key that is bound to toolsets is not told who else there is.
      if (toolsets !== undefined) return { agents: [], keys: [] };
      const [agents, keys] = await Promise.all([documentsOf(catalog, 'agent'), everyPage((page) => catalog.keys(page))]);
      const bound = keys.filter((key) => key.revokedAt === null && key.toolsets?.includes(name) === true);
      return {
        agents: agents.flatMap(({ name: agent, body }) => (toolsetOf(body) === name ? [agent] : [])),
        keys: bound.map((key) => `${key.name} (${key.id})`),
      };
    },
    async equipment() {
      await rights();
      return await standing(await catalog.equipment(keyId), mayUse);
    },
    async equip(change) {
      if (change.toolset != null) requireBound(await rights(), change.toolset);
      await rights();
      return await standing(await catalog.setEquipment(keyId, change), mayUse);
    },
  };
  return desk;
}

function requireRights(rights: KeyRights | null): KeyRights {
  if (rights === null) throw new Problem('forbidden', 'The key that this runs with was revoked, or has expired.');
  if (!hasScope(rights, 'toolsets'))
    throw new Problem('forbidden', 'The key that this runs with may not configure: that needs the scope "toolsets".');
  return rights;
}

function requireBound({ toolsets }: KeyRights, name: string): void {
  if (toolsets === undefined || toolsets.includes(name)) return;
  throw new Problem('forbidden', `This key is bound to other toolsets than ${quoted(name)}: ${toolsets.join(', ') || 'it has none'}.`);
}

async function inReach(
  { toolsets }: KeyRights,
  tools: readonly ToolDefinition[],
  find: (name: string) => Promise<StoredDocument | null>,
): Promise<readonly ToolDefinition[]> {
  if (toolsets === undefined) return tools;
  const documents = await Promise.all(toolsets.map(find));
  const reach = new Set(
    documents.flatMap((document) => (document === null ? [] : (document.body as Toolset).tools.map(({ tool }) => tool))),
  );
  return tools.filter(({ canonical }) => reach.has(canonical));
}

async function standing(equipment: Equipment, mayUse: (name: string) => Promise<boolean>): Promise<Equipment> {
  const isUsable = equipment.toolset === null || (await mayUse(equipment.toolset));
  return isUsable ? equipment : { toolset: null, mode: 'configuration' };
}

/** Of an agent; without the version that it may hold on to. */
function toolsetOf({ toolset }: Record<string, unknown>): string | null {
  return typeof toolset === 'string' ? readToolsetReference(toolset).name : null;
}

function healthOf(name: string, body: Record<string, unknown>): [string, Pick<ServerHealth, 'status' | 'reason'>][] {
  const parsed = ServerHealth.safeParse(body.health);
  return parsed.success ? [[name, parsed.data]] : [];
}

function allTools(catalog: Catalog): Promise<ToolDefinition[]> {
  return everyPage((page) => catalog.tools({ ...page, limit: limits.maxToolPageItems }));
}

function documentsOf(catalog: Catalog, kind: DocumentKind): Promise<StoredDocument[]> {
  return everyPage((page) => catalog.list(kind, page));
}

/** A workspace's tools fill half of these pages. */
const maxPages = 2 * limits.maxListedPages;

async function everyPage<Item>(read: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<Item> = await read({ limit: limits.maxPageItems, ...(cursor !== null && { cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return items;
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined;
  return () => (kept ??= read());
}

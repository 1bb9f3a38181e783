/**
 * The databases of a data folder: one file for each Durable Object, and `metadata.sqlite` for the alarms of a class. Names each as people know
 * it. The ids of objects follow from their names, as workerd computes them (`src/workerd/server/server.c++`, `ActorIdFactoryImpl::idFromName`).
 */
import { createHash, createHmac } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { maxAuditShards } from '../../core/people/settings.ts';
import { usageShardCount } from '../../objects/usage/client/usage-shard-client.ts';
import { type NamedKind, objectName } from '../../storage/keys.ts';
import { objectsFolder } from '../workerd/config.ts';
import { type ObjectDatabase, readDatabase, sizeOf } from './check-database.ts';

export const metadataFile = 'metadata.sqlite';

type Named = Pick<ObjectDatabase, 'name' | 'workspace' | 'number'>;

/** The Catalogs first, then the alarms, then the others. Empty without data. */
export async function listDatabases(stateDir: string): Promise<ObjectDatabase[]> {
  const folder = objectsFolder(stateDir);
  const classes = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : [];
  const catalog = await catalogDatabase(stateDir);
  const found = await Promise.all(classes.map(({ name }) => listClass(join(folder, name), workspacesOf(catalog.file))));
  return found.flat().toSorted((one, other) => orderOf(one) - orderOf(other));
}

function orderOf({ className, id }: ObjectDatabase): number {
  if (id === '') return 1;
  return className === 'Catalog' ? 0 : 2;
}

/** That of the workspace `default`, whether it exists or not. */
export async function catalogDatabase(stateDir: string): Promise<ObjectDatabase> {
  const folder = join(objectsFolder(stateDir), `${await workerName(stateDir)}-Catalog`);
  const id = await objectId(basename(folder), 'default', 'catalog', '');
  return { file: join(folder, `${id}.sqlite`), className: 'Catalog', id, name: 'the catalog', workspace: 'default', number: null };
}

/** The name of the Worker is that of the folders. */
async function workerName(stateDir: string): Promise<string> {
  const folder = objectsFolder(stateDir);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.find((name) => name.endsWith('-Catalog'))?.slice(0, -'-Catalog'.length) ?? 'moniker';
}

async function listClass(folder: string, workspaces: readonly string[]): Promise<ObjectDatabase[]> {
  const uniqueKey = basename(folder);
  const className = uniqueKey.slice(uniqueKey.lastIndexOf('-') + 1);
  const known = await knownObjects(uniqueKey, className, workspaces);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sqlite'))
    .map((file) => {
      const id = file === metadataFile ? '' : file.slice(0, -'.sqlite'.length);
      const named =
        id === '' ? unnamed(`the alarms of ${className}`) : (known.get(id) ?? unnamed(`${kinds[className] ?? className} ${id}`));
      return { file: join(folder, file), className, id, ...named };
    });
}

function unnamed(name: string): Named {
  return { name, workspace: null, number: null };
}

const kinds: Readonly<Record<string, string>> = {
  ...{ Catalog: 'the catalog of an unknown workspace,', Session: 'session', McpSession: 'MCP session', SseRelay: 'SSE relay' },
  ...{ AuditShard: 'audit shard', UsageShard: 'usage shard', LimitCounter: 'counter of limits' },
};

/** Objects whose names are known, by id. */
async function knownObjects(uniqueKey: string, className: string, workspaces: readonly string[]): Promise<Map<string, Named>> {
  const known = new Map<string, Named>();
  for (const workspace of workspaces) {
    const of = workspace === 'default' ? '' : ` of the workspace ${workspace}`;
    const add = async (kind: NamedKind, name: string, number: number | null): Promise<void> => {
      const id = await objectId(uniqueKey, workspace, kind, number === null ? '' : String(number));
      known.set(id, { name: `${name}${of}`, workspace, number });
    };
    if (className === 'Catalog') await add('catalog', 'the catalog', null);
    if (className === 'AuditShard')
      for (let shard = 0; shard < maxAuditShards; shard += 1) await add('audit-shard', `audit shard ${shard}`, shard);
    if (className === 'UsageShard')
      for (let shard = 0; shard < usageShardCount; shard += 1) await add('usage', `usage shard ${shard}`, shard);
  }
  return known;
}

/** Of `default` only, if its Catalog cannot be read. */
function workspacesOf(catalogFile: string): string[] {
  const rows = readDatabase<{ name: string }>(catalogFile, 'SELECT name FROM workspaces');
  return ['default', ...(rows ?? []).map(({ name }) => name).filter((name) => name !== 'default')];
}

async function objectId(uniqueKey: string, workspace: string, kind: NamedKind, id: string): Promise<string> {
  return idFromName(uniqueKey, await objectName(workspace, kind, id));
}

function idFromName(uniqueKey: string, name: string): string {
  const key = createHash('sha256').update(uniqueKey).digest();
  const half = (data: string | Buffer): Buffer => createHmac('sha256', key).update(data).digest().subarray(0, 16);
  const base = half(name);
  return Buffer.concat([base, half(base)]).toString('hex');
}

/** Sessions that a Catalog lists and whose files are empty, missing or another session's. `file`: where it should be. */
export function findLostSessions(catalog: ObjectDatabase): { file: string; id: string; fault: string }[] {
  const classFolder = dirname(catalog.file);
  const folder = join(dirname(classFolder), basename(classFolder).replace(/Catalog$/, 'Session'));
  const listed = readDatabase<{ id: string; createdAt: number }>(catalog.file, 'SELECT id, created_at AS createdAt FROM sessions') ?? [];
  return listed.flatMap(({ id, createdAt }) => {
    // One that was restored from another installation has the object of its name (`session-client.ts`).
    const files = [id, idFromName(basename(folder), `restored:${id}`)].map((name) => join(folder, `${name}.sqlite`));
    const file = files.find((name) => sizeOf(name) !== null) ?? join(folder, `${id}.sqlite`);
    const meta = sizeOf(file) ? readDatabase<{ createdAt: number }>(file, 'SELECT created_at AS createdAt FROM meta') : [];
    // The check of its file reports one that cannot be read.
    if (meta === null || meta[0]?.createdAt === createdAt) return [];
    const fault = sizeOf(file) === null ? 'is missing' : meta.length === 0 ? 'is empty' : 'has the content of another session';
    return [{ file, id, fault }];
  });
}

/** As in `<class>/<file>`, which people can give to a command. */
export function databasePath({ file }: Pick<ObjectDatabase, 'file'>): string {
  return join(basename(dirname(file)), basename(file));
}

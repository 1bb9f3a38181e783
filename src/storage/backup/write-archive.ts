/**
 * Writes the archive of a workspace in pages (`core/backup/archive.ts` has the format): the Catalog, each session, then the shards of the
 * audit and of the usage, since sessions send their rows to them. The cursor has the whole state, so that the service stores nothing for
 * a backup, and a page that failed can be requested again. An object that changes while its pages are read is read again from its start; one
 * that cannot be read is left out, and named: one damaged session must not cost the backup of the others.
 */
import * as z from 'zod';
import {
  type ArchiveHeader,
  archiveFormat,
  type ArchivePart,
  BackedUpObject,
  chainHash,
  LeftOut,
  nameOfObject,
  startHash,
  writeLine,
} from '../../core/backup/archive.ts';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { Problem } from '../../core/problem.ts';
import { MB } from '../../core/limits/units.ts';
import { badCursor } from '../../core/json/cursor.ts';
import { fromBase64Url, toBase64Url, toHex } from '../../core/text/bytes.ts';
import { cutToLength } from '../../core/text/utf8.ts';
import { tryParse } from '../../core/json/wire-value.ts';
import { version } from '../../core/version.ts';
import type { ArchivePage } from '../../ports/backup.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { Bindings } from '../bindings.ts';
import { macOf, type MasterKey } from '../keys/master-key.ts';
import { usageShardCount } from '../../objects/usage/client/usage-shard-client.ts';
import { backupObject, catalogBackup } from './backup-objects.ts';
import { isRestoreInProgress } from '../../objects/shared/object-client.ts';
import type { ReadPage } from './table-reader.ts';

/** A page ends after one of these: the response is built in memory, and a request has limits of time and of calls. */
const pageBytes = 8 * MB;
const pageMs = 15_000;
const pageCalls = 200;
/** How often an object that changes, or fails, is read again; then it is left out of the archive, which the end says. The Catalog never is. */
const maxRestarts = 5;
const maxFailures = 2;
const maxLeftOut = 20;
/** Of a failure, in characters: a cursor has to fit into a URL. */
const maxReason = 160;

const StoredValue = z.union([z.null(), z.number(), z.string(), z.strictObject({ base64: z.string() })]);
const Position = z.strictObject({ table: z.string(), after: z.array(StoredValue), stamp: z.string().nullable() });

const State = z.strictObject({
  /** Of the next part. */
  number: z.int(),
  /** Of the part before it. */
  hash: z.string(),
  auditShards: z.int(),
  /** null: after the last object. */
  object: BackedUpObject.nullable(),
  at: Position.nullable(),
  restarts: z.int(),
  /** The number of the session in the list; later sessions than `through` are not in the rows of the Catalog. */
  session: z.int(),
  through: z.int().nullable(),
  sessions: z.int(),
  leftOut: z.array(LeftOut),
});
type State = z.infer<typeof State>;

export type ArchiveDeps = { bindings: Bindings; master: MasterKey; clock: Clock; workspace: string; auditShards: number };

export async function writeArchivePage(deps: ArchiveDeps, keyId: string, cursor: string | undefined): Promise<ArchivePage> {
  const { clock } = deps;
  const page = new PageWriter(deps);
  const state = cursor === undefined ? await beginArchive(deps, page, keyId) : await readCursor(deps, cursor);
  const until = clock.now() + pageMs;
  for (let calls = 0; state.object !== null; calls += 1) {
    if (page.bytes >= pageBytes || calls >= pageCalls || clock.now() >= until)
      return { lines: page.lines, next: await writeCursor(deps, state), leftOut: state.leftOut };
    await writeNext(deps, page, state, state.object);
  }
  const { leftOut } = state;
  await page.add(state, { kind: 'end', sessions: state.sessions, newestSession: state.through ?? 0, leftOut });
  return { lines: page.lines, next: null, leftOut };
}

async function beginArchive(
  { bindings, master, clock, workspace, auditShards }: ArchiveDeps,
  page: PageWriter,
  keyId: string,
): Promise<State> {
  const status = await catalogBackup(bindings, workspace).restoreStatus();
  await catalogBackup(bindings, workspace).noteBackup(keyId);
  const count = Math.max(auditShards, status.auditShards);
  const header: ArchiveHeader = {
    ...{ kind: 'header', format: archiveFormat, release: version, workspace },
    ...{ createdAt: new Date(clock.now()).toISOString(), masterKey: await master.id(), auditShards: count },
  };
  const object = { kind: 'catalog', id: '' } as const;
  const start = { number: 0, hash: startHash, auditShards: count, object, at: null, restarts: 0, session: 0, through: null, sessions: 0 };
  const state: State = { ...start, leftOut: [] };
  await page.add(state, header);
  return state;
}

/** Reads the next page of an object's rows, and moves on when it is complete. */
async function writeNext(deps: ArchiveDeps, page: PageWriter, state: State, object: BackedUpObject): Promise<void> {
  const { bindings, workspace } = deps;
  // Sessions that are created later are not in the rows of the Catalog.
  if (object.kind === 'catalog' && state.at === null) state.through = await newestSession(bindings, workspace);
  const read = await readObject(deps, state, object);
  if (read === 'changed' || 'failure' in read) {
    if (state.restarts < (read === 'changed' ? maxRestarts : maxFailures)) {
      state.restarts += 1;
      state.at = null;
      return;
    }
    leaveOut(state, object, read === 'changed' ? `It changed during each of ${maxRestarts + 1} attempts to read it.` : read.failure);
    await page.add(state, { kind: 'absent', object });
  } else if (read.parts.length === 0) {
    await page.add(state, { kind: 'absent', object });
  } else {
    for (const part of read.parts) await page.addText(state, part);
    state.at = read.next;
    if (read.next !== null) return;
    if (object.kind === 'session') state.sessions += 1;
  }
  state.at = null;
  state.restarts = 0;
  state.object = await nextObject(bindings, workspace, state, object);
}

/** `parts` is empty for a session that was deleted meanwhile. `failure`: why the object cannot be read. */
async function readObject(
  { bindings, workspace }: ArchiveDeps,
  { at, session }: State,
  object: BackedUpObject,
): Promise<ReadPage | 'changed' | { failure: string }> {
  try {
    const read = await backupObject(bindings, { workspace, object }).readBackup(at);
    if (read !== null) return read;
    // A deletion removes it from the list before its rows.
    const [listed] = await catalogBackup(bindings, workspace).sessionIds(session - 1, 1);
    return listed?.id === object.id ? { failure: lostSession } : { parts: [], next: null };
  } catch (error) {
    if (object.kind === 'catalog' || isRestoreInProgress(error)) throw error;
    const reason = error instanceof Problem ? error.detail : error instanceof Error ? error.message : String(error);
    return { failure: cutToLength(reason, maxReason) };
  }
}

const lostSession = 'It is in the list of sessions, but its database is empty or missing, or has other content.';

function leaveOut(state: State, object: BackedUpObject, reason: string): void {
  if (object.kind === 'catalog') throw new Problem('unavailable', busyCatalog);
  if (state.leftOut.length >= maxLeftOut) throw new Problem('unavailable', tooMany([...state.leftOut, { object, reason }]));
  state.leftOut.push({ object, reason });
}

const busyCatalog = 'The lists of the workspace changed during each attempt to read them. Repeat the backup when fewer requests come in.';

function tooMany(leftOut: State['leftOut']): string {
  const named = leftOut.map(({ object, reason }) => `${nameOfObject(object)}: ${reason}`).join('\n');
  return `More than ${maxLeftOut} objects cannot be read. If they changed meanwhile, repeat the backup when fewer turns run.\n${named}`;
}

async function nextObject(
  bindings: Bindings,
  workspace: string,
  state: State,
  { kind, id }: BackedUpObject,
): Promise<BackedUpObject | null> {
  if (kind === 'catalog' || kind === 'session') {
    const [next] = await catalogBackup(bindings, workspace).sessionIds(state.session, 1);
    if (next === undefined || next.number > (state.through ?? 0)) return { kind: 'audit', id: '0' };
    state.session = next.number;
    return { kind: 'session', id: next.id };
  }
  const following = String(Number(id) + 1);
  if (kind === 'audit') return Number(following) < state.auditShards ? { kind, id: following } : { kind: 'usage', id: '0' };
  return Number(following) < usageShardCount ? { kind, id: following } : null;
}

async function newestSession(bindings: Bindings, workspace: string): Promise<number> {
  return (await catalogBackup(bindings, workspace).restoreStatus()).newestSession;
}

class PageWriter {
  readonly lines: Uint8Array[] = [];
  bytes = 0;
  readonly #deps: ArchiveDeps;

  constructor(deps: ArchiveDeps) {
    this.#deps = deps;
  }

  async add(state: State, part: ArchivePart): Promise<void> {
    await this.#write(state, JSON.stringify(part));
  }

  async addText(state: State, part: Uint8Array): Promise<void> {
    await this.#write(state, new TextDecoder().decode(part));
  }

  async #write(state: State, part: string): Promise<void> {
    const hash = chainHash(state.hash, state.number, part);
    const line = new TextEncoder().encode(writeLine({ number: state.number, hash, mac: await macOfLine(this.#deps, hash), part }));
    this.lines.push(line);
    this.bytes += line.byteLength;
    state.hash = hash;
    state.number += 1;
  }
}

export async function macOfLine({ master, workspace }: Pick<ArchiveDeps, 'master' | 'workspace'>, hash: string): Promise<string> {
  return toHex(await macOf(master, workspace, 'backup', hash));
}

/** Signed, because what follows a forged hash would be signed, too. */
async function writeCursor(deps: ArchiveDeps, state: State): Promise<string> {
  const text = JSON.stringify(state);
  return `${toBase64Url(new TextEncoder().encode(text))}.${await macOfLine(deps, `cursor ${text}`)}`;
}

async function readCursor(deps: ArchiveDeps, cursor: string): Promise<State> {
  const [encoded = '', mac = ''] = cursor.split('.');
  const text = new TextDecoder().decode(fromBase64Url(encoded) ?? new Uint8Array());
  const state = State.safeParse(tryParse(text));
  if (!state.success || !equalInConstantTime(await macOfLine(deps, `cursor ${text}`), mac))
    throw badCursor('is not one that this service returned');
  return state.data;
}

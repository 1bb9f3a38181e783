/**
 * Restores an archive into the workspace, in as many requests as the caller likes. While it lasts, the Catalog and the shards refuse other
 * requests, and restored sessions cannot be reached, so that nothing of it can be used before all of it was checked. The Catalog's object
 * stores which part is next. A restore that stops can be continued, begun again from the first line, or given up.
 */
import * as z from 'zod';
import {
  type ArchiveHeader,
  type ArchivePart,
  type BackedUpObject,
  damaged,
  readLine,
  readArchivePart,
} from '../../core/backup/archive.ts';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { rootKeyId } from '../../core/people/principal.ts';
import { invalidRequest, nullIfNotFound, Problem } from '../../core/problem.ts';
import { tryParse } from '../../core/json/wire-value.ts';
import type { RestoreState } from '../../ports/backup.ts';
import { readingKeys } from '../keys/master-key.ts';
import { usageShardCount } from '../../objects/usage/client/usage-shard-client.ts';
import { wasReset } from '../../objects/shared/object-client.ts';
import { backupObject, catalogBackup, type RestoreStep } from './backup-objects.ts';
import { type ArchiveDeps, macOfLine } from './write-archive.ts';

/** A request deletes sessions for this long before it asks to be repeated. */
const clearMs = 15_000;
const clearedAtATime = 20;
const maxClearedPerRequest = 200;
/** The rest of the lines is left to the next request, since a request may call a limited number of objects. */
const maxPartsPerRequest = 300;
const applyMs = 20_000;

export type RestoreOptions = { replace: boolean; allowCommands: boolean };

/** `number` and `hash`: of the newest part that was applied. `shards`: of the audit, here or in the archive. */
const Progress = z.object({ number: z.int(), hash: z.string(), shards: z.int() });
type Progress = z.infer<typeof Progress>;

export async function readRestoreState(deps: ArchiveDeps): Promise<RestoreState> {
  const { progress, finishing } = await status(deps);
  if (progress !== null) return stateOf('restoring', { nextPart: progress.number + 1 });
  return finishing === 0 ? stateOf('none') : stateOf('finishing', { sessionsLeft: finishing });
}

export async function restoreLines(deps: ArchiveDeps, lines: readonly string[], options: RestoreOptions): Promise<RestoreState> {
  const [first] = lines;
  if (first === undefined) throw invalidRequest([{ path: '', message: 'must have at least one line of an archive' }]);
  if (isFirstLine(first)) return await beginRestore(deps, first, lines.slice(1), options);
  const { progress } = await status(deps);
  if (progress === null) throw new Problem('conflict', 'No restore is in progress. Send the archive from its first line.');
  return await applyLines(deps, progress, lines, options);
}

export async function abandonRestore(deps: ArchiveDeps): Promise<RestoreState> {
  const { progress } = await status(deps);
  if (progress === null) return stateOf('none');
  const left = await clearSessions(deps);
  if (left > 0) return stateOf('clearing', { sessionsLeft: left });
  for (const object of shardsOf(progress.shards)) await step(deps, object, { step: 'abandon' });
  await step(deps, catalog, { step: 'abandon' });
  return stateOf('none');
}

const catalog: BackedUpObject = { kind: 'catalog', id: '' };

async function beginRestore(deps: ArchiveDeps, text: string, rest: readonly string[], options: RestoreOptions): Promise<RestoreState> {
  const line = readLine(text, null);
  const header = readArchivePart(line);
  if (header.kind !== 'header') throw damaged(0, 'it is not a header');
  await checkHeader(deps, header, line);
  const before = await status(deps);
  if (before.finishing > 0)
    throw new Problem('conflict', 'The previous restore is still making its sessions available. Send the same lines again in a minute.');
  // Refused before anything is deleted. A restore that stopped has left an unusable workspace, which begins anew.
  if (before.progress === null && before.notEmpty !== null && !options.replace) throw notEmpty(before.notEmpty);
  const until = deps.clock.now() + clearMs;
  const left = await clearSessions(deps);
  if (left > 0) return stateOf('clearing', { sessionsLeft: left });
  while (before.progress === null && (await catalogBackup(deps.bindings, deps.workspace).clearEditions()))
    if (deps.clock.now() >= until) return stateOf('clearing');
  const shards = Math.max(deps.auditShards, header.auditShards, before.auditShards, before.progress?.shards ?? 0);
  const progress = { number: 0, hash: line.hash, shards };
  const begun = { replace: options.replace, progress: JSON.stringify(progress) };
  await catalogBackup(deps.bindings, deps.workspace).beginRestore(begun);
  await reset(deps, catalog);
  for (const object of shardsOf(shards)) {
    await step(deps, object, { step: 'mark' });
    await reset(deps, object);
    await step(deps, object, { step: 'begin', schema: 1 });
  }
  return await applyLines(deps, progress, rest, options);
}

function notEmpty(found: string): Problem {
  return new Problem(
    'conflict',
    `The workspace is not empty: it has the ${found}. Restore into an empty workspace, or first delete everything in this one with ?replace=true (\`moniker restore --replace\`).`,
  );
}

async function checkHeader({ master, workspace }: ArchiveDeps, header: ArchiveHeader, line: { hash: string; mac: string }): Promise<void> {
  if (header.workspace !== workspace)
    throw new Problem('conflict', `The archive is of the workspace "${header.workspace}", and this one is "${workspace}".`);
  const ids = await Promise.all(readingKeys(master).map((key) => key.id()));
  if (!ids.includes(header.masterKey))
    throw new Problem(
      'conflict',
      `The archive was written under another MONIKER_MASTER_KEY (${header.masterKey}; the service has ${ids.join(' and ')}). Its keys and secrets are useless without that key: start the service with it, or with it as MONIKER_MASTER_KEY_PREVIOUS, then restore.`,
    );
  if (!(await isOurs({ master, workspace }, line))) throw forged(0);
}

export async function isOurs(
  { master, workspace }: Pick<ArchiveDeps, 'master' | 'workspace'>,
  { hash, mac }: { hash: string; mac: string },
) {
  for (const key of readingKeys(master)) if (equalInConstantTime(await macOfLine({ master: key, workspace }, hash), mac)) return true;
  return false;
}

export function forged(number: number): Problem {
  return damaged(number, 'its signature is invalid, so it was not written by a service with this master key');
}

/** Applies the lines that follow `progress`, and stores how far it came, even when one fails. */
async function applyLines(deps: ArchiveDeps, progress: Progress, lines: readonly string[], options: RestoreOptions): Promise<RestoreState> {
  const current = { ...progress };
  let saved = progress.number;
  const save = async (): Promise<void> => {
    if (current.number === saved) return;
    saved = current.number;
    await catalogBackup(deps.bindings, deps.workspace).saveProgress(JSON.stringify(current));
  };
  try {
    const until = deps.clock.now() + applyMs;
    for (const text of lines) {
      if (current.number - progress.number >= maxPartsPerRequest || deps.clock.now() >= until) break;
      // A request whose response was lost is repeated.
      if (numberOf(text) <= current.number) continue;
      const line = readLine(text, current);
      if (!(await isOurs(deps, line))) throw forged(line.number);
      const part = readArchivePart(line);
      if (part.kind === 'end') {
        await save();
        return await endRestore(deps, current, { ...options, newestSession: part.newestSession });
      }
      await applyPart(deps, part);
      current.number = line.number;
      current.hash = line.hash;
    }
  } finally {
    await save();
  }
  return stateOf('restoring', { nextPart: current.number + 1 });
}

async function applyPart(deps: ArchiveDeps, part: Exclude<ArchivePart, { kind: 'end' }>): Promise<void> {
  switch (part.kind) {
    case 'header':
      throw damaged(0, 'it occurs twice');
    case 'absent':
      // A shard has the rows of earlier parts only, or none: it stays in the restore until its end.
      if (part.object.kind !== 'session') return await step(deps, part.object, { step: 'begin', schema: 1 });
      await step(deps, part.object, { step: 'abandon' });
      return await catalogBackup(deps.bindings, deps.workspace).dropSession(part.object.id);
    case 'object': {
      const { object, kind: _kind, ...rows } = part;
      return await step(deps, object, { step: 'part', ...rows });
    }
    default:
      return part satisfies never;
  }
}

/** The Catalog is last: then the workspace can be used. */
async function endRestore(
  deps: ArchiveDeps,
  { shards }: Progress,
  { allowCommands, newestSession }: RestoreOptions & { newestSession: number },
): Promise<RestoreState> {
  const { bindings, workspace } = deps;
  for (const object of shardsOf(shards)) await step(deps, object, { step: 'end' });
  const skipped = await catalogBackup(bindings, workspace).endRestore({ keyId: rootKeyId, allowCommands, newestSession });
  return { ...(await readRestoreState(deps)), skipped };
}

/** Deletes the sessions of the workspace, and those of a restore that stopped. Returns how many are left, at least, when the request has done its share. */
async function clearSessions(deps: ArchiveDeps): Promise<number> {
  const { bindings, workspace, clock } = deps;
  const until = clock.now() + clearMs;
  for (let cleared = 0; ; cleared += clearedAtATime) {
    const ids = await catalogBackup(bindings, workspace).sessionIds(0, clearedAtATime);
    if (ids.length === 0) return 0;
    if (cleared >= maxClearedPerRequest || clock.now() >= until) return ids.length;
    for (const { id } of ids) {
      await nullIfNotFound(step(deps, { kind: 'session', id }, { step: 'abandon' }));
      await catalogBackup(bindings, workspace).dropSession(id);
    }
  }
}

async function step({ bindings, workspace }: ArchiveDeps, object: BackedUpObject, request: RestoreStep): Promise<void> {
  await backupObject(bindings, { workspace, object }).restoreStep(request);
}

/** The object ends itself in the call, which therefore fails. */
async function reset({ bindings, workspace }: ArchiveDeps, object: BackedUpObject): Promise<void> {
  try {
    await backupObject(bindings, { workspace, object }).restoreStep({ step: 'reset' });
  } catch (error) {
    if (!wasReset(error)) throw error;
  }
}

async function status({ bindings, workspace }: ArchiveDeps) {
  const { progress, ...rest } = await catalogBackup(bindings, workspace).restoreStatus();
  return { ...rest, progress: progress === null ? null : Progress.parse(tryParse(progress)) };
}

function shardsOf(auditShards: number): BackedUpObject[] {
  const numbered = (kind: 'audit' | 'usage', count: number): BackedUpObject[] =>
    Array.from({ length: count }, (_, index) => ({ kind, id: String(index) }));
  return [...numbered('audit', auditShards), ...numbered('usage', usageShardCount)];
}

function isFirstLine(text: string): boolean {
  return numberOf(text) === 0;
}

/** Infinite for a text that is not a line: reading it reports what is wrong. */
function numberOf(text: string): number {
  return Number(/^\{"number":(\d{1,9}),/.exec(text)?.[1] ?? Number.POSITIVE_INFINITY);
}

function stateOf(state: RestoreState['state'], more: Partial<RestoreState> = {}): RestoreState {
  return { state, nextPart: 0, sessionsLeft: 0, skipped: [], ...more };
}

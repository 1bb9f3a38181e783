/** One step of compiling the toolsets of a workspace for the build that runs (`compiled-build.ts`). */
import { backoffMs } from '../../../core/limits/backoff.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { CatalogContext } from '../context.ts';
import { enqueuePublish } from '../records/publications.ts';
import { knownTools } from '../tools/known-tools.ts';
import { type CompiledBuild, noteStale, readCompiledBuild, storeCompiledBuild } from './compiled-build.ts';
import { recompile } from './toolsets.ts';

const toolsetsPerStep = 10;
/** A toolset whose compilation stops the process, or fails otherwise, is left out after these. */
const maxAttempts = 3;
const maxReasonLength = 500;

/**
 * Compiles the next toolsets, each in its own transaction with the progress, so that a run that dies continues with the one it had begun. Call in
 * the order of writes. Returns whether more are left.
 */
export async function recompileSome(context: CatalogContext): Promise<boolean> {
  const { sql } = context;
  const next = `SELECT name FROM documents WHERE kind = 'toolset' AND deleted = 0 AND name > ? ORDER BY name LIMIT ?`;
  const { after } = readCompiledBuild(context);
  if (after === null) return false;
  if (after === '') context.record(() => sql.exec("DELETE FROM meta WHERE key > 'stale:' AND key < 'stale;'"));
  const names = Array.from(sql.exec<{ name: string }>(next, after, toolsetsPerStep), ({ name }) => name);
  const known = knownTools(context);
  for (const name of names) {
    const claimed = claim(context);
    const { failed, commit } = claimed.attempts > maxAttempts ? endless(name) : await recompile(context, new Set([name]), known, 'code');
    const reason = failed.get(name)?.slice(0, maxReasonLength) ?? null;
    context.transact(() => {
      commit();
      noteStale(sql, name, reason);
      storeCompiledBuild(sql, { ...claimed, after: name, attempts: 0, due: context.now() });
      // Also if the edition is the same: readers learn that it is of this build.
      enqueuePublish(context, 'toolset', name);
    });
    if (reason !== null) context.log.error('a toolset keeps the edition of an earlier build', { toolset: name, cause: reason });
  }
  if (names.length === toolsetsPerStep) return true;
  context.record(() => storeCompiledBuild(sql, { ...readCompiledBuild(context), after: null }));
  return false;
}

/** Stores when the next toolset is tried again if this attempt does not end. */
function claim(context: CatalogContext): CompiledBuild {
  const state = readCompiledBuild(context);
  const attempts = state.attempts + 1;
  const delayMs = backoffMs({ firstMs: limits.publishIntervalMs, maxMs: limits.maxPublishBackoffMs }, attempts);
  const claimed = { ...state, attempts, due: context.now() + delayMs };
  context.record(() => storeCompiledBuild(context.sql, claimed));
  return claimed;
}

function endless(name: string): Pick<Awaited<ReturnType<typeof recompile>>, 'failed' | 'commit'> {
  return { failed: new Map([[name, 'compiling it did not end']]), commit: () => undefined };
}

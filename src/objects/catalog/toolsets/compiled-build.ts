/**
 * Which build's tools the editions of a workspace are compiled with. After a deployment that changes tools in code, every toolset is compiled
 * again, in the order of names, a few at a time, in the background (`recompile-step.ts`). The object compiles for the build that it runs itself, so two builds that
 * run at once never undo each other's work.
 */
import { limits } from '../../../core/limits/limits.ts';
import type { Outcome } from '../../../core/problem.ts';
import { buildOf } from '../../../core/tools/code-tools.ts';
import type { ToolsetStanding } from '../../../core/toolset/edition-tool.ts';
import { type DueJob, dueJob } from '../../shared/due-job.ts';
import type { CatalogContext } from '../context.ts';

/**
 * `after`: the last toolset that was compiled for the build; null: all were. `attempts`: how often the next one was tried; it is due at `due`,
 * milliseconds since the epoch.
 */
export type CompiledBuild = { build: string; after: string | null; attempts: number; due: number };

/** Steps of one run; each waits for the writes before it. */
const stepsPerRun = 20;

/** Returns how far the toolsets are compiled for the build of this code. */
export function readCompiledBuild({ sql, definitions, now }: CatalogContext): CompiledBuild {
  const build = buildOf(definitions);
  const stored = readStored(sql);
  return stored?.build === build ? stored : { build, after: '', attempts: 0, due: now() };
}

function readStored(sql: SqlStorage): CompiledBuild | null {
  const row = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'compiled'").toArray()[0];
  // Written only by `storeCompiledBuild`.
  return row === undefined ? null : (JSON.parse(row.value) as CompiledBuild);
}

export function storeCompiledBuild(sql: SqlStorage, state: CompiledBuild): void {
  sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('compiled', ?)", JSON.stringify(state));
}

/** `build`: for readers; absent while it is not known, or an earlier one. `stale`: why the edition of a toolset is of an earlier build and stays so. */
export function readBuildStanding(sql: SqlStorage, toolset: string): Pick<ToolsetStanding, 'build' | 'stale'> {
  const stored = readStored(sql);
  const isReached = stored !== null && (stored.after === null || toolset <= stored.after);
  const reason = sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', staleKey(toolset)).toArray()[0]?.value;
  return { ...(isReached && { build: stored.build }), ...(reason !== undefined && { stale: reason }) };
}

/** Call in a transaction. `reason` null: its edition is of the current build. */
export function noteStale(sql: SqlStorage, toolset: string, reason: string | null): void {
  if (reason === null) sql.exec('DELETE FROM meta WHERE key = ?', staleKey(toolset));
  else sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', staleKey(toolset), reason);
}

function staleKey(toolset: string): string {
  return `stale:${toolset}`;
}

/** Returns how many toolsets have an edition of another build: those that are not compiled again yet, and those that cannot be. */
export function countStale(context: CatalogContext): number {
  const { after } = readCompiledBuild(context);
  const query = `SELECT (SELECT count(*) FROM documents WHERE kind = 'toolset' AND deleted = 0 AND name > ?1)
    + (SELECT count(*) FROM meta WHERE key > 'stale:' AND key < 'stale;' AND substr(key, 7) <= ?1) AS count`;
  return context.sql.exec<{ count: number }>(query, after ?? '\u{10ffff}').one().count;
}

/** `step` compiles the next toolsets in the order of writes, and returns whether more are left. */
export function createRecompileJob(context: CatalogContext, step: () => Promise<Outcome<boolean>>): DueJob {
  return dueJob({
    nextDue: () => {
      const { after, due } = readCompiledBuild(context);
      return after === null ? null : Math.min(due, context.now() + limits.maxPublishBackoffMs);
    },
    run: async () => {
      const { after, due } = readCompiledBuild(context);
      if (after === null || due > context.now()) return;
      for (let steps = 0; steps < stepsPerRun; steps += 1) {
        const isLeft = await step();
        if (!isLeft.ok || !isLeft.value) return;
      }
    },
  });
}

/** A workspace whose Catalog runs its daily deletion at a chosen time. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { emptyWorkspace, testEnv } from '../../../storage/workspace.ts';

export const dayMs = 24 * 60 * 60_000;

export async function openForSweeps() {
  const parts = await emptyWorkspace();
  const { catalog } = parts;
  /** A stub of an object that died is broken. */
  const object = () => testEnv.CATALOG.get(parts.object.id);
  const sql = (query: string, ...values: (string | number)[]) =>
    runInDurableObject(object(), (_instance, { storage }) => storage.sql.exec<Record<string, string | number>>(query, ...values).toArray());
  const count = async (table: string): Promise<number> => Number((await sql(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
  const setMeta = (key: string, value: number) => sql('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, String(value));
  /** Runs the sweep once, as if it were due at this time. */
  const sweepOnce = async (time: number): Promise<void> => {
    await setMeta('sweep', 0);
    vi.useFakeTimers({ toFake: ['Date'], now: time });
    await runDurableObjectAlarm(object());
    vi.useRealTimers();
  };
  /** Runs the sweep as often as it is due at this time, in a service that ran until then. */
  const sweepAt = async (time: number): Promise<void> => {
    for (let run = 0; run < 80; run += 1) {
      await setMeta('sweep-time', time - dayMs);
      await sweepOnce(time);
      const due = await sql("SELECT value FROM meta WHERE key = 'sweep'");
      if (Number(due[0]?.value) > time + limits.publishIntervalMs * 60) return;
    }
  };
  const putToolset = (name: string, index: number) =>
    catalog.put('toolset', name, { tools: [{ tool: 'builtin.bash', name: `run_${index}`, aliases: [] }] });
  return { ...parts, object, sql, count, setMeta, sweepOnce, sweepAt, putToolset };
}

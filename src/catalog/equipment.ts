/** What each key has equipped over MCP, and its mode (DESIGN §10). What that allows is `engine/`'s. */
import type { Equipment } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { readRow } from './documents.ts';

/** With nothing equipped, which is also where what was is gone, a key is configuring (DESIGN §10). */
export function readEquipment(sql: SqlStorage, keyId: string): Equipment {
  const row = sql.exec<Row>('SELECT toolset, mode FROM equipment WHERE key_id = ?', keyId).toArray()[0];
  if (row === undefined || row.toolset === null || !isThere(sql, row.toolset)) return { toolset: null, mode: 'configuration' };
  return { toolset: row.toolset, mode: row.mode ?? 'normal' };
}

function isThere(sql: SqlStorage, toolset: string): boolean {
  const row = readRow(sql, 'toolset', toolset);
  return row !== null && !row.deleted;
}

/** Answers what counts from now on. Both members are read and written without a wait between. */
export function setEquipment({ sql, now }: CatalogContext, keyId: string, change: Partial<Equipment>): Equipment {
  const after = { ...readEquipment(sql, keyId), ...change };
  sql.exec(
    'INSERT OR REPLACE INTO equipment (key_id, toolset, mode, updated_at) VALUES (?, ?, ?, ?)',
    keyId,
    after.toolset,
    after.mode,
    now(),
  );
  return readEquipment(sql, keyId);
}

/** Part of the transaction that removes a toolset: whoever had it equipped has nothing now, and so is configuring. */
export function unequipEverywhere({ sql, now }: CatalogContext, toolset: string): void {
  sql.exec("UPDATE equipment SET toolset = NULL, mode = 'configuration', updated_at = ? WHERE toolset = ?", now(), toolset);
}

/** Whoever had it equipped has it still, under its new name. */
export function equipRenamed({ sql, now }: CatalogContext, from: string, to: string): void {
  sql.exec('UPDATE equipment SET toolset = ?, updated_at = ? WHERE toolset = ?', to, now(), from);
}

type Row = { toolset: string | null; mode: Equipment['mode'] | null };

/** The toolset that each key has equipped over MCP, and its mode (contract §10). `engine/` derives permissions from it. */
import type { Equipment } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { findRow } from '../documents/documents.ts';

/** A key without an equipped toolset, or whose toolset was removed, is in configuration mode (contract §10). */
export function readEquipment(sql: SqlStorage, keyId: string): Equipment {
  const row = sql.exec<Row>('SELECT toolset, mode FROM equipment WHERE key_id = ?', keyId).toArray()[0];
  if (row === undefined || row.toolset === null || findRow(sql, 'toolset', row.toolset) === null)
    return { toolset: null, mode: 'configuration' };
  return { toolset: row.toolset, mode: row.mode ?? 'normal' };
}

/** Returns the new state. Both fields are read and written without a wait in between. */
export function setEquipment({ sql, now }: CatalogContext, keyId: string, change: Partial<Equipment>): Equipment {
  const after = { ...readEquipment(sql, keyId), ...change };
  const statement = 'INSERT OR REPLACE INTO equipment (key_id, toolset, mode, updated_at) VALUES (?, ?, ?, ?)';
  sql.exec(statement, keyId, after.toolset, after.mode, now());
  return readEquipment(sql, keyId);
}

/** Call in the transaction that removes a toolset: keys that had it equipped enter configuration mode. */
export function unequipEverywhere({ sql, now }: CatalogContext, toolset: string): void {
  sql.exec("UPDATE equipment SET toolset = NULL, mode = 'configuration', updated_at = ? WHERE toolset = ?", now(), toolset);
}

/** Keys that had it equipped keep it under its new name. */
export function equipRenamed({ sql, now }: CatalogContext, from: string, to: string): void {
  sql.exec('UPDATE equipment SET toolset = ?, updated_at = ? WHERE toolset = ?', to, now(), from);
}

type Row = { toolset: string | null; mode: Equipment['mode'] | null };

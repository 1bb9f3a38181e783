/** What each key has equipped over MCP, and its mode (DESIGN §10). What that allows is `engine/`'s. */
import type { Equipment } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';

export function readEquipment(sql: SqlStorage, keyId: string): Equipment {
  const row = sql.exec<Row>('SELECT toolset, mode FROM equipment WHERE key_id = ?', keyId).toArray()[0];
  const toolset = row?.toolset ?? null;
  return { toolset, mode: row?.mode ?? (toolset === null ? 'configuration' : 'normal') };
}

/** One statement would do for either member; together they are read and written without a wait between. */
export function setEquipment({ sql, now }: CatalogContext, keyId: string, change: Partial<Equipment>): Equipment {
  const after = { ...readEquipment(sql, keyId), ...change };
  sql.exec(
    'INSERT OR REPLACE INTO equipment (key_id, toolset, mode, updated_at) VALUES (?, ?, ?, ?)',
    keyId,
    after.toolset,
    after.mode,
    now(),
  );
  return after;
}

type Row = { toolset: string | null; mode: Equipment['mode'] | null };

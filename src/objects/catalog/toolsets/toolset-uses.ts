/** Reads what depends on a toolset: agents, what runs them, and keys. */
import type { ToolsetUses } from '../../../core/toolset/toolset-uses.ts';
import type { CatalogContext } from '../context.ts';
import { documentNotFound, findRow } from '../documents/documents.ts';

/** Items of each list. */
const maxListedUses = 200;

/** Also of a removed toolset that is still named. Throws `not_found` if it neither exists nor is named. */
export function readToolsetUses({ sql, now }: CatalogContext, toolset: string): ToolsetUses {
  let truncated = false;
  const read = <Row extends Record<string, SqlStorageValue>>(query: string, ...more: string[]): Row[] => {
    const rows = sql.exec<Row>(query, toolset, `${toolset}@`, now(), maxListedUses + 1, ...more).toArray();
    truncated ||= rows.length > maxListedUses;
    return rows.slice(0, maxListedUses);
  };
  const agents = read<{ name: string; toolset: string }>(ofAgents);
  const keys = read<{ id: string; name: string; agent: string | null }>(ofKeys);
  const webhooks = read<{ name: string; agent: string }>(ofTriggers, 'webhook');
  const schedules = read<{ name: string; agent: string }>(ofTriggers, 'schedule');
  const equipped = read<{ id: string; name: string }>(ofEquipment);
  const uses = { toolset, agents, keys, webhooks, schedules, equipped, truncated };
  const isNamed = agents.length + keys.length + equipped.length > 0;
  if (!isNamed && findRow(sql, 'toolset', toolset) === null) throw documentNotFound('toolset', toolset);
  return uses;
}

/** ?1: the toolset, ?2: the start of its versions, ?3: the time, ?4: how many rows, ?5: the kind of trigger. */
const withAgents = `WITH agents AS (
  SELECT name, body ->> '$.toolset' AS toolset FROM documents WHERE kind = 'agent' AND deleted = 0
    AND (body ->> '$.toolset' = ?1 OR substr(body ->> '$.toolset', 1, length(?2)) = ?2)
), valid AS (
  SELECT id, name, toolsets, agents FROM keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?3)
)`;

const ofAgents = `${withAgents} SELECT name, toolset FROM agents ORDER BY name LIMIT ?4`;

const ofKeys = `${withAgents}
  SELECT id, name, NULL AS agent FROM valid WHERE EXISTS (SELECT 1 FROM json_each(valid.toolsets) WHERE value = ?1 OR substr(value, 1, length(?2)) = ?2)
  UNION SELECT valid.id, valid.name, bound.value FROM valid, json_each(valid.agents) AS bound
    WHERE bound.value IN (SELECT name FROM agents) AND valid.toolsets IS NULL
  ORDER BY name, id LIMIT ?4`;

const ofTriggers = `${withAgents} SELECT name, body ->> '$.agent' AS agent FROM documents
  WHERE kind = ?5 AND deleted = 0 AND body ->> '$.agent' IN (SELECT name FROM agents) ORDER BY name LIMIT ?4`;

/** The root key is in no table. */
const ofEquipment = `${withAgents} SELECT equipment.key_id AS id, coalesce(valid.name, equipment.key_id) AS name
  FROM equipment LEFT JOIN valid ON valid.id = equipment.key_id WHERE equipment.toolset = ?1
    AND (valid.id IS NOT NULL OR equipment.key_id NOT IN (SELECT id FROM keys)) ORDER BY name LIMIT ?4`;

/**
 * Rows of servers' tools. Every write must be followed by `dropDefinitions` (`server-definitions.ts`), which invalidates the cache.
 * `core/listing/apply-listing.ts` decides on changes of tools.
 */
import { type AcceptedDefinition, type StoredTool, toServerTool, withoutAnnotations } from '../../../core/listing/stored-tool.ts';
import { quote } from '../../../core/names/names.ts';
import { Problem } from '../../../core/problem.ts';
import type { ServerTool } from '../../../core/servers/server-tool.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import type { Page, PageRequest } from '../../../ports/catalog.ts';
import { sortedPage } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { overwrite } from '../records/close-database.ts';

export function readTools(sql: SqlStorage, server: string): StoredTool[] {
  return sql.exec<SqlRow>('SELECT * FROM server_tools WHERE server = ? ORDER BY name', server).toArray().map(fromSql);
}

export function readTool(sql: SqlStorage, server: string, name: string): StoredTool | null {
  const row = sql.exec<SqlRow>('SELECT * FROM server_tools WHERE server = ? AND name = ?', server, name).toArray()[0];
  return row === undefined ? null : fromSql(row);
}

/** Throws `not_found` for an unknown server or tool. */
export function requireTool({ sql }: CatalogContext, server: string, name: string): StoredTool {
  requireRow(sql, 'server', server);
  const tool = readTool(sql, server, name);
  if (tool === null) throw new Problem('not_found', `The server ${quote(server)} has no tool ${quote(name)}.`);
  return tool;
}

export function pageOfTools(sql: SqlStorage, server: string, page: PageRequest): Page<ServerTool> {
  const query = 'SELECT * FROM server_tools WHERE server = ? AND name > ? ORDER BY name LIMIT ?';
  const read = function* (after: string, count: number) {
    for (const row of sql.exec<SqlRow>(query, server, after, count)) yield toServerTool(server, fromSql(row));
  };
  // The size as sent: a held tool contains the differences of two definitions, which may be larger than both.
  const measure = { position: ({ name }: ServerTool) => name, bytes: (tool: ServerTool) => utf8Length(JSON.stringify(tool)) };
  return sortedPage(`tools of ${server}`, page, read, measure);
}

/** Returns the number of definitions of each of these servers, and of those that are held; none for a server without definitions. */
export function toolCounts(sql: SqlStorage, servers: readonly string[]): Map<string, { toolCount: number; held: number }> {
  const query = `SELECT server, count(*) AS toolCount, sum(reason IS NOT NULL AND NOT ${listedIsRejected}) AS held FROM server_tools
    WHERE server IN (SELECT value FROM json_each(?)) AND listed_pin IS NOT NULL AND reason IS NOT '${refusedReason}' GROUP BY server`;
  const rows = sql.exec<{ server: string; toolCount: number; held: number }>(query, JSON.stringify(servers)).toArray();
  return new Map(rows.map(({ server, ...counts }) => [server, counts]));
}

/** Returns the number of tools, and characters of their definitions, of all other servers. */
export function sizeOfOthers(sql: SqlStorage, server: string): { tools: number; characters: number } {
  const query = `SELECT count(*) AS tools, coalesce(sum(coalesce(length(accepted), 0) + coalesce(length(listed), 0) + coalesce(length(decisions), 0)), 0) AS characters
    FROM server_tools WHERE server <> ?`;
  return sql.exec<{ tools: number; characters: number }>(query, server).one();
}

/** Call in a write's transaction. */
export function writeTool(context: CatalogContext, server: string, tool: StoredTool): void {
  const { accepted, listed, refused, reason, findings, decisions, renamedTo } = tool;
  overwriteTool(context.sql, server, tool.name);
  context.sql.exec(
    `INSERT OR REPLACE INTO server_tools
       (server, name, accepted, accepted_pin, listed, listed_pin, reason, findings, decisions, renamed_to, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    server,
    tool.name,
    definitionText(accepted),
    accepted?.pin ?? null,
    // Most listed definitions equal the accepted one, which is stored once.
    listed?.pin === accepted?.pin ? null : definitionText(listed),
    listed?.pin ?? refused,
    refused === null ? reason : refusedReason,
    findings.length === 0 ? null : JSON.stringify(findings),
    decisions.length === 0 ? null : JSON.stringify(decisions),
    renamedTo,
    context.now(),
  );
}

/** Call in a write's transaction. */
export function deleteServerTool(sql: SqlStorage, server: string, name: string): void {
  overwriteTool(sql, server, name);
  sql.exec('DELETE FROM server_tools WHERE server = ? AND name = ?', server, name);
}

function overwriteTool(sql: SqlStorage, server: string, name: string): void {
  for (const column of ['accepted', 'listed', 'findings', 'decisions'])
    overwrite(sql, 'server_tools', column, 'server = ? AND name = ?', server, name);
}

/** Whether the listed definition of a row was rejected. */
const listedIsRejected = `EXISTS (SELECT 1 FROM json_each(decisions) WHERE value ->> 'decision' = 'rejected' AND value ->> 'refId' = listed_pin)`;

/** Value of the column `reason`; `listed_pin` is then the hash of the rejected definition. */
const refusedReason = 'refused';

type SqlRow = {
  server: string;
  name: string;
  accepted: string | null;
  accepted_pin: string | null;
  listed: string | null;
  listed_pin: string | null;
  reason: string | null;
  findings: string | null;
  decisions: string | null;
  renamed_to: string | null;
};

/** Rows are written only by `writeTool`. */
function fromSql(row: SqlRow): StoredTool {
  const isRefused = row.reason === refusedReason;
  const accepted = pinnedOf(row.accepted, row.accepted_pin);
  const listed =
    row.listed === null && row.listed_pin === row.accepted_pin ? withoutAnnotations(accepted) : pinnedOf(row.listed, row.listed_pin);
  return {
    name: row.name,
    accepted,
    listed: isRefused ? null : listed,
    refused: isRefused ? row.listed_pin : null,
    reason: isRefused ? null : (row.reason as StoredTool['reason']),
    findings: row.findings === null ? [] : (JSON.parse(row.findings) as StoredTool['findings']),
    decisions: row.decisions === null ? [] : (JSON.parse(row.decisions) as StoredTool['decisions']),
    renamedTo: row.renamed_to,
  };
}

function pinnedOf(text: string | null, pin: string | null): AcceptedDefinition | null {
  return text === null || pin === null ? null : { ...(JSON.parse(text) as Omit<AcceptedDefinition, 'pin'>), pin };
}

function definitionText(pinned: AcceptedDefinition | null): string | null {
  if (pinned === null) return null;
  const { definition, raw, presentation, annotationsAccepted } = pinned;
  return JSON.stringify({
    definition,
    ...(raw !== undefined && { raw }),
    ...(presentation !== undefined && { presentation }),
    ...(annotationsAccepted === true && { annotationsAccepted }),
  });
}

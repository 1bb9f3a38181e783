/** Reverts the tables of a session to those before `waits`, with its approvals as that release stored them. */
import { sessionMigrations } from '../../src/session/object/schema.ts';

const tables = ['approvals', 'approval_arguments', 'inputs', 'input_parts', 'client_calls'];
const creates = new RegExp(
  `^CREATE (TABLE|INDEX) \\w+ (ON )?(${tables.join('|')})|^CREATE TABLE (${tables.join('|')}) |^ALTER TABLE approvals `,
);

export function revertWaits(sql: SqlStorage): void {
  for (const statement of sessionMigrations.slice(0, 10).join(';\n').split(';\n')) if (creates.test(statement)) sql.exec(statement);
  sql.exec(`INSERT INTO approvals (call_id, turn, canonical, entry, toolset, arguments_hash, kind, target, reason, question, round, earlier, state, asked_at, expires_at, told)
    SELECT call_id, turn, question ->> '$.canonical', question ->> '$.entry', question ->> '$.toolset', key_hash, question ->> '$.ask',
      question ->> '$.target', question ->> '$.reason', question -> '$.question', round, question -> '$.earlier', state, asked_at, expires_at, reported
    FROM waits WHERE kind = 'approval'`);
  sql.exec(`INSERT INTO approval_arguments SELECT call_id, seq, part FROM wait_parts WHERE kind = 'arguments'`);
  for (const table of ['waits', 'wait_parts']) sql.exec(`DROP TABLE ${table}`);
}

/** What people read about a damaged database: which object it is, what that costs, and what to do. */
import { databasePath } from './databases.ts';
import type { ObjectDatabase } from './check-database.ts';

/** A sentence without its full stop. */
export function damageText(database: ObjectDatabase, fault: string): string {
  return `The database of ${database.name} ${fault}: ${databasePath(database)}`;
}

/** `dataDir`: as the user names it. */
export function damageAdvice(database: ObjectDatabase, dataDir: string): string {
  const repair = `moniker doctor --repair ${database.className === 'Catalog' ? (database.workspace === 'default' ? 'catalog' : databasePath(database)) : ''}`;
  const command = `\`${repair.trim()} --data ${dataDir}\``;
  return `Put a copy of the file from a backup of the data folder in its place, or move it away with ${command}. ${afterRepair(database)}`;
}

/** What is lost with the database, and how it comes back. */
export function afterRepair({ className, id, workspace }: ObjectDatabase): string {
  if (id === '') return 'The alarms are made again from the objects.';
  switch (className) {
    case 'Catalog':
      return `The workspace${workspace === null || workspace === 'default' ? '' : ` ${workspace}`} is empty without it, with documents, keys and lists: start the service, and restore an archive with \`moniker restore FILE\`.`;
    case 'Session':
      return `Only this session is lost: restore it from an archive with \`moniker restore FILE --session ${id}\`.`;
    case 'AuditShard':
      return 'Lists of the audit lack its rows, and `GET /v1/audit/verify` names them as missing; `moniker restore FILE --replace` of a whole archive has them.';
    case 'UsageShard':
      return 'The sums of usage and the request log lack its rows; `moniker restore FILE --replace` of a whole archive has them.';
    case 'LimitCounter':
      return 'The counters of its key, agent or workspace begin at 0.';
    default:
      return 'Its client has to connect again.';
  }
}

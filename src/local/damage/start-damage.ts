/**
 * Damage that a start meets: without a usable Catalog, workerd starts an empty workspace or fails with every request; with damaged alarms it ends.
 * `check-database.ts` finds it; the rest is found by `moniker doctor`, because it costs single objects only.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartFailure } from '../launch/start-failure.ts';
import { objectsFolder } from '../workerd/config.ts';
import { faultOf, type ObjectDatabase, sizeOf } from './check-database.ts';
import { damageAdvice, damageText } from './damage-text.ts';
import { catalogDatabase, listDatabases, metadataFile } from './databases.ts';

/** Before workerd runs. Returns why it would begin an empty workspace beside existing data; null: it would not. */
export async function lostCatalog(stateDir: string): Promise<StartFailure | null> {
  const catalog = await catalogDatabase(stateDir);
  const isEmpty = (file: string): boolean => (sizeOf(file) ?? 0) === 0;
  if (!isEmpty(catalog.file) || !isEmpty(`${catalog.file}-wal`) || !hasObjects(stateDir)) return null;
  return failureOf(catalog, sizeOf(catalog.file) === null ? 'is missing' : 'is empty', stateDir);
}

/** Before workerd runs, which would take an empty or foreign file of alarms for one without alarms: nothing would run on time until each object has another request. */
export async function lostAlarms(stateDir: string): Promise<StartFailure | null> {
  const all = await listDatabases(stateDir);
  for (const alarms of all.filter(({ className, id }) => id === '' && all.some((one) => one.className === className && one.id !== ''))) {
    const fault = (sizeOf(`${alarms.file}-wal`) ?? 0) > 0 ? null : faultOf(alarms);
    if (fault !== null) return failureOf(alarms, fault, stateDir);
  }
  return null;
}

/** Sessions and audit shards exist only with a Catalog. */
function hasObjects(stateDir: string): boolean {
  const folder = objectsFolder(stateDir);
  if (!existsSync(folder)) return false;
  const classes = readdirSync(folder).filter((name) => /-(?:Session|AuditShard)$/.test(name));
  return classes.some((name) =>
    readdirSync(join(folder, name)).some(
      (file) => file.endsWith('.sqlite') && file !== metadataFile && (sizeOf(join(folder, name, file)) ?? 0) > 0,
    ),
  );
}

/** After a start that failed, when workerd has ended. Returns the damage that explains it, or null. */
export async function damageAtStart(stateDir: string): Promise<StartFailure | null> {
  for (const database of await listDatabases(stateDir)) {
    if (database.className !== 'Catalog' && database.id !== '') continue;
    const fault = faultOf(database);
    if (fault !== null) return failureOf(database, fault, stateDir);
  }
  return null;
}

function failureOf(database: ObjectDatabase, fault: string, stateDir: string): StartFailure {
  return new StartFailure(`The service cannot start. ${damageText(database, fault)}\n${damageAdvice(database, dirname(stateDir))}`);
}

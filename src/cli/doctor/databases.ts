/**
 * The databases of the data folder in `moniker doctor`: SQLite's integrity check of each, and with `--repair` the damaged ones are moved to
 * `quarantine` in the folder. Both only while no service uses the folder.
 */
import { join, relative } from 'node:path';
import { type ObjectDatabase, faultOf } from '../../local/damage/check-database.ts';
import { afterRepair, damageAdvice, damageText } from '../../local/damage/damage-text.ts';
import { findLostSessions, listDatabases, databasePath } from '../../local/damage/databases.ts';
import { quarantine } from '../../local/damage/quarantine.ts';
import { lostCatalog } from '../../local/damage/start-damage.ts';
import { lockDataDir } from '../../local/launch/data-lock.ts';
import { killOrphanedRuntime } from '../../local/workerd/process.ts';
import { print, printError } from '../../local/printing.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { inLine, type JsonOption, printJson } from '../output.ts';
import { type DoctorFinding, failure, passed, refusal, warning } from './finding.ts';

/** `moniker doctor` does not take longer for them; `--repair` checks all. */
const checkMs = 20_000;

type Damage = { database: ObjectDatabase; fault: string };

export async function checkDatabases(dataDir: string): Promise<DoctorFinding[]> {
  const check = 'databases';
  const stateDir = join(dataDir, 'state');
  const lost = await lostCatalog(stateDir);
  const all = await listDatabases(stateDir);
  const until = Date.now() + checkMs;
  const findings: DoctorFinding[] = [];
  let checked = 0;
  for (const database of all) {
    if (Date.now() >= until) break;
    checked += 1;
    const fault = faultOf(database);
    // `lost` says it.
    if (fault === null || (lost !== null && database.workspace === 'default' && database.className === 'Catalog')) continue;
    findings.push({ ...failure(check, `${damageText(database, fault)}.`, damageAdvice(database, dataDir)), subject: database.name });
  }
  for (const catalog of all.filter(({ className, id }) => className === 'Catalog' && id !== '')) findings.push(...lostSessions(catalog));
  if (checked < all.length)
    findings.push(
      warning(
        check,
        `${all.length - checked} of ${all.length} databases were not checked: it takes too long.`,
        '`moniker doctor --repair` checks all of them.',
      ),
    );
  if (lost !== null) return [refusal(check, lost.message), ...findings];
  return findings.length > 0 || all.length === 0 ? findings : [passed(check, `${all.length} databases are intact`)];
}

/** Their own files are intact, or were moved to the quarantine. */
function lostSessions(catalog: ObjectDatabase): DoctorFinding[] {
  return findLostSessions(catalog).map(({ id, fault }) => ({
    ...failure(
      'databases',
      `session ${id} is in the list of sessions, but its database ${fault}.`,
      `Restore it with \`moniker restore FILE --session ${id}\`, or delete it: DELETE /v1/sessions/${id}`,
    ),
    subject: `session ${id}`,
  }));
}

/** `object`: `true` for all damaged ones but Catalogs, without which a workspace is empty. */
export async function repairDatabases(dataDir: string, object: string | true, { json }: JsonOption): Promise<void> {
  const unlock = lockDataDir(dataDir);
  try {
    const stateDir = join(dataDir, 'state');
    await killOrphanedRuntime(join(stateDir, 'workerd.pid'));
    const all = await listDatabases(stateDir);
    const asked = object === true ? all : all.filter((database) => isNamed(database, object));
    if (asked.length === 0)
      throw new CommandFailure(
        `${dataDir} has no database ${JSON.stringify(object)}.`,
        'Name it as `moniker doctor` does: an id, or <class>/<file>.',
        exitCodes.usage,
      );
    const damaged = asked.flatMap((database): Damage[] => {
      const fault = faultOf(database);
      return fault === null ? [] : [{ database, fault }];
    });
    const isKept = ({ database }: Damage): boolean => object === true && database.className === 'Catalog' && database.id !== '';
    const at = new Date();
    const moved = damaged
      .filter((damage) => !isKept(damage))
      .map((damage) => ({ ...damage, folder: quarantine(damage.database, dataDir, at) }));
    const left = damaged.filter(isKept);
    if (left.length > 0) process.exitCode = exitCodes.failure;
    const described = ({ database, fault }: Damage) => ({ object: database.name, file: databasePath(database), fault });
    if (json)
      return printJson({
        checked: asked.length,
        quarantined: moved.map(({ folder, ...damage }) => ({ ...described(damage), folder })),
        left: left.map(described),
      });
    for (const { folder, ...damage } of moved) {
      print(inLine(`${damageText(damage.database, damage.fault)} was moved to ${relative(process.cwd(), folder) || folder}.`));
      print(`  ${inLine(afterRepair(damage.database))}`);
    }
    for (const { database, fault } of left) {
      printError(inLine(`${damageText(database, fault)} was left in its place, because its workspace is empty without it.`));
      printError(`  ${inLine(damageAdvice(database, dataDir))}`);
    }
    print(
      damaged.length === 0
        ? `${asked.length} databases are intact.`
        : `${asked.length} databases checked, ${moved.length} moved to the quarantine.`,
    );
  } finally {
    unlock();
  }
}

function isNamed(database: ObjectDatabase, given: string): boolean {
  const { id, name, className, workspace } = database;
  const isCatalog = given === 'catalog' && className === 'Catalog' && workspace === 'default';
  return isCatalog || [id, name, databasePath(database)].includes(given);
}

/**
 * `moniker start`: builds changed sources, runs the service on this machine, prints one screen, and ends cleanly on Ctrl-C. `moniker dev`
 * (`reload`) also rebuilds and reloads when a source file changes.
 */
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBundle } from '../build/bundle.ts';
import { claimDataFormat } from './data-format.ts';
import { lockDataDir, makeDataDir } from './data-lock.ts';
import { type DataFolder, dataFolderOf, isCheckout, readEnvironment, workerVariables, type LocalEnvironment } from './environment.ts';
import { watchMachineClock } from './clock-watch.ts';
import { claimKeys, recordMasterKey } from './key-check.ts';
import { forgetPreviousMasterKey, type Keys } from './keys.ts';
import { findOllama } from './ollama.ts';
import { terminalText } from '../../core/text/visible-text.ts';
import { addressOf, claimPort, isExposed, reachableHost } from './port.ts';
import { reloadOnChange } from './reload.ts';
import { createHostWatch, hostSystem, openFilesLimit } from './host-watch.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { connectOwnService, waitUntilHealthy } from './own-service.ts';
import { readSettings } from '../../core/people/settings.ts';
import { builtinProviders } from '../../storage/providers.ts';
import { prepareDemo } from './demo.ts';
import { renderStartScreen } from './start-screen.ts';
import { damageAtStart } from '../damage/start-damage.ts';
import { StartFailure } from './start-failure.ts';
import { applyAtStart } from './start-project.ts';
import { newLauncherToken, writeLauncherFile } from './launcher-file.ts';
import { openLogFile } from './log-file.ts';
import { print, printData } from '../printing.ts';
import { loadSkills } from './skills.ts';
import type { Program } from '../../core/servers/stdio.ts';
import { startBridge } from '../stdio/bridge.ts';
import { toLogRecord } from '../workerd/process.ts';
import { launcherHeader } from '../../core/servers/stdio.ts';
import { programEnvironment } from '../stdio/program-environment.ts';
import type { LoadedProject } from './project-file.ts';
import { trustDataFolder } from './trusted-folders.ts';

const healthTimeoutMs = 15_000;

export type StartOptions = {
  reload: boolean;
  /** Without the demo; prints no keys. */
  isProduction: boolean;
  /** With the options of the command line. */
  environment: NodeJS.ProcessEnv;
  /** Applied when the service runs. */
  project: LoadedProject | null;
  /** For one command: nothing is written but what the command writes. `plan`: nothing is run or contacted, either. */
  purpose: 'command' | 'plan' | null;
};

/** Resolves after the service has ended. */
export async function start({ reload, isProduction, environment, project, purpose }: StartOptions): Promise<void> {
  if (reload && !isCheckout)
    throw new StartFailure('`moniker dev` needs the sources, which the npm package does not contain. Use `moniker start`.');
  const local = readEnvironment(environment);
  if (local.faults.length > 0) throw new StartFailure(local.faults.join('\n'));
  const port = await claimPort(local.port, local.host);
  makeDataDir(local.dataDir);
  const unlock = lockDataDir(local.dataDir);
  let closeBridge = async (): Promise<void> => undefined;
  let closeClock = (): void => undefined;
  try {
    claimDataFormat(local.dataDir);
    const keys = await claimKeys(local.dataDir, environment);
    const url = `http://${addressOf(reachableHost(local.host), port)}`;
    const token = newLauncherToken();
    const writeLog = openLogFile(local.dataDir);
    const log = (line: string): void => {
      printData(line);
      writeLog(line);
    };
    let runtime: Runtime | null = null;
    const watch = createHostWatch(
      hostSystem(local.dataDir, () => runtime?.pid() ?? null),
      (message, level) => log(toLogRecord({ message, level })),
    );
    rememberFound(dataFolderOf(environment), environment, log);
    const build = (): Promise<string> => ensureBundle(join(local.dataDir, 'bundle'), () => print('Building …'));
    const [bundle, ollama] = await Promise.all([build(), findOllama(environment.OLLAMA_HOST)]);
    const api = connectOwnService(url, keys.rootKey);
    const clock = watchMachineClock(local.dataDir, { onLog: log, wentBack: () => void wakeWorkspaces(url, keys.rootKey, log) });
    closeClock = clock.close;
    const surroundings = {
      onLog: log,
      unwanted: async (programs: readonly Program[]) =>
        (await api.post('/v1/programs/check', { body: { programs: [...programs] } })).unwanted,
      environment: programEnvironment(environment, local.dataDir),
      host: watch.report,
    };
    const bridge = await startBridge(token, surroundings, clock.doubt);
    closeBridge = bridge.close;
    const openFiles = openFilesLimit(process.pid);
    const running = await startRuntime({
      bundle,
      stateDir: join(local.dataDir, 'state'),
      host: local.host,
      port,
      variables: {
        ...workerVariables(local, keys, url, ollama),
        MONIKER_LAUNCHER_TOKEN: token,
        MONIKER_STDIO_URL: bridge.url,
        ...(openFiles !== null && { MONIKER_MAX_OPEN_FILES: String(openFiles) }),
      },
      isIsolated: purpose === 'plan',
      refusalAddress: new URL(bridge.url).host,
      onLog: (line) => {
        watch.noteLine(line);
        log(line);
      },
    });
    runtime = running;
    const stopReloading = reload ? reloadOnChange(async () => running.reload(await build())) : () => undefined;
    let removeLauncherFile = (): void => undefined;
    try {
      const stopped = stopSignal();
      await waitUntilHealthy(url, healthTimeoutMs);
      const reporting = connectOwnService(url, keys.rootKey, { headers: { [launcherHeader]: token } });
      watch.start((body) => reporting.post('/v1/host', { body }));
      removeLauncherFile = writeLauncherFile(local.dataDir, { url, token });
      if (purpose === null) {
        if (await hasStoppedRestore(url, keys)) print(stoppedRestore(url));
        else if (isProduction) await printReady(url, keys, local);
        else await printWelcome(url, keys, local);
        if (isExposed(local.host)) print(exposedWarning(local));
        void resealAtStart(url, keys, local.dataDir, log);
        await Promise.race([stopped, applyAtStart({ url, rootKey: keys.rootKey, token }, project, environment, log)]);
      }
      await stopped;
    } finally {
      removeLauncherFile();
      stopReloading();
      await watch.drain(purpose === null ? local.drainMs : 0);
      await running.dispose();
    }
  } catch (error) {
    // The lock is still held, and workerd has ended.
    throw (error instanceof StartFailure ? null : await damageAtStart(join(local.dataDir, 'state'))) ?? error;
  } finally {
    await closeBridge();
    closeClock();
    unlock();
  }
}

/** An alarm that was set while the clock was ahead comes too late: a request to the workspace sets it again. Reports failures, throws none. */
async function wakeWorkspaces(url: string, rootKey: string, log: (line: string) => void): Promise<void> {
  try {
    const { items } = await connectOwnService(url, rootKey).get('/v1/workspaces', { params: { query: { limit: 200 } } });
    for (const { name } of items)
      await connectOwnService(url, rootKey, { headers: { 'x-moniker-workspace': name } }).get('/v1/agents', {
        params: { query: { limit: 1 } },
      });
  } catch (error) {
    log(
      `warning: the clock of this machine was set back, and not every workspace could be told; its next request does it. ${String(error)}`,
    );
  }
}

/** A folder without a name is known by its keys from now on: commands that run in it find the service. */
function rememberFound({ path, isFound }: DataFolder, environment: NodeJS.ProcessEnv, log: (line: string) => void): void {
  if (!isFound) return;
  try {
    trustDataFolder(path, environment);
  } catch (error) {
    log(`warning: ${shown(path)} cannot be remembered (${String(error)}). Commands find this service only with --data ${shown(path)}.`);
  }
}

/** npm passes on the Ctrl-C that the terminal has already sent. */
const sameSignalMs = 500;

const parentCheckMs = 500;

/** Resolves at the first signal, and when npm has ended. A second Ctrl-C ends the process at once, without the rest of the shutdown. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (signal === 'SIGINT' && firstAt !== null && Date.now() - firstAt > sameSignalMs) process.exit(1);
        firstAt ??= Date.now();
        resolve();
      });
    }
    // npm runs scripts in a shell, which ends at a signal to npm without passing it on.
    const parent = process.ppid;
    if (process.env.npm_lifecycle_event !== undefined)
      setInterval(() => (process.ppid === parent ? undefined : resolve()), parentCheckMs).unref();
  });
}

/** Whether a restore began before this start and has not ended: then the workspace refuses everything else. */
async function hasStoppedRestore(url: string, keys: Keys): Promise<boolean> {
  const { state } = await connectOwnService(url, keys.rootKey).get('/v1/restore');
  return state === 'restoring';
}

function stoppedRestore(url: string): string {
  return [
    `Moniker is ready at ${url} for a restore only: the last one stopped before its end.`,
    'Run `moniker restore FILE` again, or give it up with `moniker restore --abandon`. Ctrl-C stops it.',
  ].join('\n');
}

/** Runs when the service is healthy: prepares the demo, lists the models, and prints the screen. */
async function printWelcome(url: string, keys: Keys, local: LocalEnvironment): Promise<void> {
  const client = connectOwnService(url, keys.rootKey);
  const skills = local.skillsDir === null ? null : await loadSkills(client, local.skillsDir, local.dataDir);
  const demoSession = await prepareDemo(client, local.dataDir, skills ?? undefined);
  const models = await client.get('/v1/models');
  print(
    renderStartScreen({
      url,
      newKey: keys.isNew ? keys.rootKey : null,
      keyFile: keys.rootKeyFile === null ? null : shown(keys.rootKeyFile),
      dataDir: shown(local.dataDir),
      models: [...models.data.map((model) => model.id), ...modelsByKey(local)],
      demoSession,
      unknownSettings: local.unknown,
      skills: skills === null ? null : { ...skills, folder: shown(skills.folder) },
    }),
  );
}

/** The same for servers, whose output is stored: where the service is and where its key is. */
async function printReady(url: string, keys: Keys, local: LocalEnvironment): Promise<void> {
  const skills = local.skillsDir === null ? null : await loadSkills(connectOwnService(url, keys.rootKey), local.skillsDir, local.dataDir);
  const key = keys.rootKeyFile === null ? 'MONIKER_ROOT_KEY of the environment' : `in ${shown(keys.rootKeyFile)}`;
  print(`Moniker is ready at ${url} (root key: ${key}; data: ${shown(local.dataDir)})`);
  for (const name of local.unknown) print(`warning: ${name} is set, but is not a Moniker setting`);
  for (const note of skills?.notes ?? []) print(`warning: ${terminalText(note)}`);
}

function exposedWarning({ host, settings }: LocalEnvironment): string {
  const named =
    settings.MONIKER_PUBLIC_URL === undefined ? ' Set MONIKER_PUBLIC_URL to the URL that clients use; other host names are refused.' : '';
  return `warning: other machines can reach this service at ${host}, without encryption. Put a reverse proxy with TLS in front of it.${named}`;
}

/** Returns a path as a user would type it. */
function shown(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

/** Models are not listed for providers whose key was found in the environment: they have too many. */
function modelsByKey({ settings }: LocalEnvironment): string[] {
  return builtinProviders(readSettings(settings)).flatMap(({ name, models }) => (models.length === 0 ? [`${name}/<model>`] : []));
}

const resealPollMs = 1_000;
const maxResealPolls = 3_600;

/**
 * After a change of the master key: has the service seal everything again, and then removes the previous key from the data folder. Reports
 * what happens, and throws nothing: the service works with both keys. The next start continues.
 */
async function resealAtStart(url: string, keys: Keys, dataDir: string, log: (line: string) => void): Promise<void> {
  if (keys.previousMasterKey === null) return;
  try {
    const client = connectOwnService(url, keys.rootKey);
    let { reseal } = await client.post('/v1/master-key/reseal', {});
    for (let polls = 0; reseal.status === 'running' && polls < maxResealPolls; polls += 1) {
      await sleep(resealPollMs, undefined, { ref: false });
      ({ reseal } = await client.get('/v1/master-key'));
    }
    if (reseal.status !== 'done') {
      log('warning: not everything could be sealed with the new master key. See GET /v1/master-key; the previous key is kept.');
      return;
    }
    await recordMasterKey(dataDir, keys.masterKey);
    const removed = forgetPreviousMasterKey(dataDir) ? 'The previous key was removed.' : 'MONIKER_MASTER_KEY_PREVIOUS can be removed.';
    log(`The master key was changed: ${reseal.done} values are sealed with the new one. ${removed}`);
  } catch (error) {
    log(`warning: sealing with the new master key is not finished; the next start continues. ${String(error)}`);
  }
}

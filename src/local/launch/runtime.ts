/**
 * The Workers runtime on this machine: plain workerd with the built bundle, bindings from wrangler.toml, and state on disk. A runtime that
 * crashes is started again; turns in progress continue from their logs.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { open, opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOf, loopback } from './port.ts';
import { StartFailure } from './start-failure.ts';
import { modulesFolder } from './worker-config.ts';
import { compiledConfig, compileLater, dropCompiledConfigs } from '../workerd/compiled-config.ts';
import { entrySocket, kvFolder, refusalService, workerdConfig } from '../workerd/config.ts';
import { expiryDigits } from '../workerd/services.ts';
import { killOrphanedRuntime, type LogLine, spawnWorkerd, toLogRecord, type WorkerdProcess } from '../workerd/process.ts';
import { lostAlarms, lostCatalog } from '../damage/start-damage.ts';
import { backoffMs } from '../../core/limits/backoff.ts';

export type RuntimeOptions = {
  /** The bundle's folder. */
  bundle: string;
  /** Folder for the files of KV and the Durable Objects. */
  stateDir: string;
  /** Where to listen; 127.0.0.1 by default. */
  host?: string;
  port: number;
  /** Settings and keys, as text bindings. */
  variables: Readonly<Record<string, string>>;
  /** It connects to nothing. */
  isIsolated?: boolean;
  /** Where CONNECT requests are refused (`stdio/bridge.ts`), as `host:port`. Absent: their connection is closed. */
  refusalAddress?: string;
  /** One line of the Worker's log. */
  onLog: (line: string, level: string) => void;
};

/** `pid`: of workerd; null while none runs. */
export type Runtime = { reload(bundle: string): Promise<void>; dispose(): Promise<void>; pid(): number | null };

/** Between restarts after crashes: doubled with each, until the runtime has run for `steadyMs`. */
const restartBackoff = { firstMs: 200, maxMs: 30_000 };
const steadyMs = 60_000;

/** For responses that are being sent: `host-watch.ts` has ended the work before. */
const graceMs = 2_000;
const reloadGraceMs = 200;

/** Nothing can listen on it. */
const unusedPort = 0;

/** Between deletions of expired values of KV, which live for an hour or longer. */
const sweepMs = 60 * 60_000;

export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  mkdirSync(options.stateDir, { recursive: true });
  await killOrphanedRuntime(pidFile(options));
  const lost = (await lostCatalog(options.stateDir)) ?? (await lostAlarms(options.stateDir));
  if (lost !== null) throw lost;
  // In the background: there may be a million values, and the launcher also serves stdio servers.
  const logError = (message: string): void => options.onLog(toLogRecord({ message, level: 'error' }), 'error');
  const sweep = (): void => void deleteExpiredValues(options.stateDir).catch((error: unknown) => logError(String(error)));
  sweep();
  const sweeping = setInterval(sweep, sweepMs).unref();
  let running = await launch(options, options.bundle);
  let bundle = options.bundle;
  const disposed = new AbortController();
  let lastWork: Promise<void> = Promise.resolve();
  /** Reloads, restarts and the end happen one after the other. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = lastWork.then(work);
    lastWork = done.catch(() => undefined);
    return done;
  };
  /** `crashes`: in a row, before this start. */
  const watch = (watched: WorkerdProcess, crashes: number, startedAt: number): void => {
    void watched.ended.then(async (reason) => {
      if (running !== watched || disposed.signal.aborted) return;
      const inRow = performance.now() - startedAt > steadyMs ? 1 : crashes + 1;
      const pauseMs = backoffMs(restartBackoff, inRow);
      logError(`The Workers runtime ended (${reason}). It is started again in ${pauseMs} ms.`);
      await sleep(pauseMs, undefined, { signal: disposed.signal }).catch(() => undefined);
      await inTurn(async () => {
        if (running !== watched || disposed.signal.aborted) return;
        running = spawnRuntime(options, bundle, (line) => options.onLog(toLogRecord(line), line.level));
        watch(running, inRow, performance.now());
        // What never becomes ready is ended, and started again.
        await running.ready.catch(() => running.stop(0));
      });
    });
  };
  watch(running, 0, performance.now());
  return {
    reload: (next) =>
      inTurn(async () => {
        const previous = running;
        // Two processes must not have the same files open; what arrives in between is refused.
        running = { pid: null, ready: Promise.resolve(), ended: new Promise(() => undefined), stop: () => Promise.resolve() };
        await previous.stop(reloadGraceMs);
        try {
          running = await launch(options, next);
          bundle = next;
        } catch (error) {
          running = await launch(options, bundle);
          throw error;
        } finally {
          watch(running, 0, performance.now());
        }
      }),
    pid: () => running.pid,
    dispose: async () => {
      disposed.abort();
      clearInterval(sweeping);
      await inTurn(() => running.stop(graceMs));
    },
  };
}

/** Starts it and waits until it listens. */
async function launch(options: RuntimeOptions, bundle: string): Promise<WorkerdProcess> {
  // If the bundle fails to load, the runtime logs the error and its consequences; `startFailure` reports the error once.
  let early: LogLine[] | null = [];
  const onLog = (line: LogLine): void => (early === null ? options.onLog(toLogRecord(line), line.level) : void early.push(line));
  const release = (): void => {
    const lines = early ?? [];
    early = null;
    for (const line of lines) options.onLog(toLogRecord(line), line.level);
  };
  const spawned = spawnRuntime(options, bundle, onLog);
  try {
    await spawned.ready;
  } catch (error) {
    await spawned.stop(0);
    if (spawned.isCompiled) {
      dropCompiledConfigs(options.stateDir);
      return await launch(options, bundle);
    }
    const failure = startFailure(error);
    if (failure === null) release();
    throw failure ?? error;
  }
  release();
  return spawned;
}

type Spawned = WorkerdProcess & { isCompiled: boolean };

function spawnRuntime(options: RuntimeOptions, bundle: string, onLog: (line: LogLine) => void): Spawned {
  const { stateDir, variables, isIsolated = false } = options;
  const { text, folders } = workerdConfig({ bundle, stateDir, variables: Object.keys(variables), isIsolated });
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const source = { configFile: join(stateDir, 'workerd.capnp'), text, importPath: join(bundle, modulesFolder), stateDir };
  writeFileSync(source.configFile, text, { mode: 0o600 });
  const compiled = compiledConfig(source);
  const spawned = spawnWorkerd({
    configFile: compiled.exists ? compiled.file : source.configFile,
    isBinary: compiled.exists,
    importPath: source.importPath,
    socket: { name: entrySocket, address: addressOf(options.host ?? loopback, options.port) },
    external: { name: refusalService, address: options.refusalAddress ?? addressOf(loopback, unusedPort) },
    environment: variables,
    pidFile: pidFile(options),
    onLog,
  });
  if (!compiled.exists) {
    const ended = new AbortController();
    void spawned.ended.then(() => ended.abort());
    compileLater(source, compiled.file, ended.signal);
  }
  return { ...spawned, isCompiled: compiled.exists };
}

function pidFile({ stateDir }: RuntimeOptions): string {
  return join(stateDir, 'workerd.pid');
}

/** KV values that expire are mostly never read again. */
async function deleteExpiredValues(stateDir: string): Promise<void> {
  const folder = kvFolder(stateDir);
  if (!existsSync(folder)) return;
  const start = Buffer.alloc(expiryDigits);
  for await (const { name } of await opendir(folder)) {
    const path = join(folder, name);
    try {
      const file = await open(path, 'r');
      await file.read(start, 0, expiryDigits, 0).finally(() => file.close());
      const expiry = Number(start.toString('latin1'));
      if (expiry > 0 && expiry <= Date.now()) await rm(path);
    } catch {
      // Replaced or deleted meanwhile.
    }
  }
}

/** Returns the error that the Worker threw while it was loaded, such as a tool that cannot be registered; null for any other failure. */
export function startFailure(error: unknown): StartFailure | null {
  const message = error instanceof Error ? error.message : '';
  const thrown = /Uncaught (?:Error|TypeError|RangeError|ReferenceError|ZodError): ([^\n]+)/.exec(message);
  if (thrown?.[1] !== undefined) return new StartFailure(`The service cannot start: ${thrown[1].trim()}`);
  return /Address already in use/i.test(message)
    ? new StartFailure('Another program took the port. Start again, or choose another: PORT=…')
    : null;
}

/**
 * The configuration with all modules of the bundle, in the binary form that workerd maps into memory: parsing the text and copying the
 * modules takes an eighth of a start. It is written while the service runs, for the next start with the same configuration and bundle.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { replaceFile } from '../launch/own-file.ts';
import { workerdBinary } from './process.ts';

const compileTimeoutMs = 30_000;
/** After the start, whose requests come first. */
const delayMs = 3_000;
const maxBytes = 64 * 1024 * 1024;
const filePattern = /^workerd-\w+\.bin$/;

export type ConfigSource = {
  /** The file with the text, and the text. */
  configFile: string;
  text: string;
  /** Where modules are embedded from. */
  importPath: string;
  stateDir: string;
};

/** Returns the file of the compiled configuration; `exists`: an earlier run has written it. */
export function compiledConfig({ text, importPath, stateDir }: Omit<ConfigSource, 'configFile'>): { file: string; exists: boolean } {
  const binary = statSync(workerdBinary());
  const hash = createHash('sha256').update(`${workerdBinary()}\0${binary.size}\0${binary.mtimeMs}\0${text}`);
  for (const name of readdirSync(importPath).sort()) hash.update(`\0${name}\0`).update(readFileSync(join(importPath, name)));
  const file = join(stateDir, `workerd-${hash.digest('hex').slice(0, 24)}.bin`);
  return { file, exists: existsSync(file) };
}

export function dropCompiledConfigs(stateDir: string, except = ''): void {
  for (const name of readdirSync(stateDir)) {
    if (filePattern.test(name) && join(stateDir, name) !== except) rmSync(join(stateDir, name), { force: true });
  }
}

/** Writes it after a delay, in the background. A failure is ignored: the next start then parses the text, as this one did. */
export function compileLater(source: ConfigSource, file: string, signal: AbortSignal): void {
  const timer = setTimeout(() => void compile(source, file, signal).catch(() => undefined), delayMs).unref();
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
}

async function compile({ configFile, importPath, stateDir }: ConfigSource, file: string, signal: AbortSignal): Promise<void> {
  const args = ['compile', '--config-only', '--import-path', importPath, configFile];
  const limits = { encoding: 'buffer', maxBuffer: maxBytes, timeout: compileTimeoutMs, signal } as const;
  const { stdout } = await promisify(execFile)(workerdBinary(), args, limits);
  // On the disk before it gets its name: a half-written file would stop the next start.
  replaceFile(file, stdout, { mode: 0o600, flush: true });
  dropCompiledConfigs(stateDir, file);
}

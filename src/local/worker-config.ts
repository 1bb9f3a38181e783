/**
 * The Worker's settings as wrangler reads them, kept as JSON beside the bundle: loading wrangler for it at every start
 * would cost half a second, and its memory for as long as the service runs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is used of wrangler's normalised configuration (its own type is not published). */
export type WorkerConfig = {
  name: string;
  compatibility_date: string;
  compatibility_flags: string[];
  kv_namespaces: { binding: string; id?: string }[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: { tag: string; new_sqlite_classes?: string[] }[];
};

export const workerConfigFile = 'worker-config.json';

export function readWorkerConfig(directory: string): WorkerConfig {
  // Written by `dump-config.ts` when the bundle was built, and thrown away with it.
  return JSON.parse(readFileSync(join(directory, workerConfigFile), 'utf8')) as WorkerConfig;
}

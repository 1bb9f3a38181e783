/**
 * The Worker's settings as wrangler parses them, stored as JSON in the bundle: loading wrangler at every start would cost half a
 * second, and its memory for as long as the service runs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The folder of a bundle: the modules of the Worker, the built pages, and `workerConfigFile`. `dist/` is one.

export const modulesFolder = 'worker';
/** Among the modules. */
export const mainModule = 'worker.mjs';
export const pagesFolder = 'pages';
export const workerConfigFile = 'worker-config.json';

/** The fields in use of wrangler's normalized configuration (its own type is not published). */
export type WorkerConfig = {
  name: string;
  compatibility_date: string;
  compatibility_flags: string[];
  kv_namespaces: { binding: string; id?: string }[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
  /** Absent without an export of the audit. */
  r2_buckets?: { binding: string; bucket_name?: string }[];
  /** Absent without pages. */
  assets?: { binding?: string; html_handling?: 'none' | 'auto-trailing-slash' | 'drop-trailing-slash' | 'force-trailing-slash' };
  /** The classes of Durable Objects, by name. */
  exports?: Record<string, { type: string; storage?: string }>;
};

export function readWorkerConfig(directory: string): WorkerConfig {
  // Written by `dump-config.ts` when the bundle was built, and deleted with it.
  return JSON.parse(readFileSync(join(directory, workerConfigFile), 'utf8')) as WorkerConfig;
}

/** `node dump-config.ts <directory>`: writes wrangler.toml, as wrangler parses it, as JSON to a folder. Runs with each build. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unstable_readConfig } from 'wrangler';
import { projectRoot } from '../launch/environment.ts';
import { type WorkerConfig, workerConfigFile } from '../launch/worker-config.ts';

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('Name the folder to write to.');
  dumpConfig(directory);
}

export function dumpConfig(directory: string): void {
  const config: WorkerConfig = unstable_readConfig({ config: join(projectRoot, 'wrangler.toml') });
  const { name, compatibility_date, compatibility_flags, kv_namespaces, durable_objects, r2_buckets, assets, exports } = config;
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, workerConfigFile),
    JSON.stringify({ name, compatibility_date, compatibility_flags, kv_namespaces, durable_objects, r2_buckets, assets, exports }),
  );
}

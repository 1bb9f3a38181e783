/** `npm run build`: writes one ESM bundle to `dist/`, and prints its size as Cloudflare counts it. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildBundle } from './bundle.ts';
import { projectRoot } from './environment.ts';
import { runLocalScript, StartFailure } from './start-failure.ts';

/** The maximum compressed size of a Worker on the free plan. */
const maxGzipBytes = 3 * 1024 * 1024;

await runLocalScript(async () => {
  const dist = join(projectRoot, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const { mainModule } = await buildBundle(dist);
  const modules = readdirSync(dist).filter((file) => file.endsWith('.js') || file.endsWith('.wasm'));
  const raw = modules.map((file) => readFileSync(join(dist, file)));
  const gzipBytes = raw.reduce((sum, content) => sum + gzipSync(content).length, 0);
  const rawBytes = raw.reduce((sum, content) => sum + content.length, 0);
  const scripts = modules.filter((file) => file.endsWith('.js'));
  console.log(`dist/${mainModule}: ${kilobytes(rawBytes)} KiB, ${kilobytes(gzipBytes)} KiB gzip (at most ${kilobytes(maxGzipBytes)})`);
  if (scripts.length !== 1) throw new StartFailure(`Expected one ESM bundle, found ${scripts.length}: ${scripts.join(', ')}`);
  if (gzipBytes > maxGzipBytes) throw new StartFailure('The bundle is too large for a Worker on the free plan.');
});

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(0);
}

/**
 * Fetches the real OpenAPI document that `test/e2e/openapi.e2e.test.ts` imports: GitHub's (706 operations, 3 MB), out of the npm package
 * `@octokit/openapi` 2.2.1 (MIT), which is too large to be a dependency (102 MB unpacked). Run by `.ci/run`; without it that part of the
 * test is skipped.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { realOpenApiDocument } from './openapi-document.ts';

const entry = 'package/generated/api.github.com.json';

if (!existsSync(realOpenApiDocument.path)) {
  const { folder, path, source } = realOpenApiDocument;
  mkdirSync(folder, { recursive: true });
  // npm runs offline by default in this project; only this command needs the network.
  const env = { ...process.env, npm_config_offline: 'false' };
  const packed = execFileSync('npm', ['pack', source, '--silent', '--pack-destination', folder], { encoding: 'utf8', env }).trim();
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder, entry]);
  renameSync(join(folder, entry), path);
  for (const rest of [packed, 'package']) rmSync(join(folder, rest), { recursive: true });
}
console.log(`${realOpenApiDocument.source}: ${realOpenApiDocument.path}`);

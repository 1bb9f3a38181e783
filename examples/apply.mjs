/**
 * Writes the documents of a `setup.json` to the service: `MODEL=… node examples/apply.mjs examples/github-triager/setup.json`. Every
 * `$NAME` in the file is taken from the environment.
 */
import { readFileSync } from 'node:fs';
import { setUp } from './lib/moniker.mjs';

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: NAME=value … node examples/apply.mjs <setup.json>');
  process.exit(2);
}
const names = [...new Set(readFileSync(file, 'utf8').match(/\$[A-Z][A-Z_]*/g) ?? [])];
const missing = names.filter((name) => !process.env[name.slice(1)]);
if (missing.length > 0) {
  console.error(`Set these environment variables: ${missing.map((name) => name.slice(1)).join(', ')}`);
  process.exit(2);
}
// Longer names first: one may begin with another. The values go into JSON strings.
const values = names.sort((a, b) => b.length - a.length).map((name) => [name, JSON.stringify(process.env[name.slice(1)]).slice(1, -1)]);
await setUp(file, Object.fromEntries(values));

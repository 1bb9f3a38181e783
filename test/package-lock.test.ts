import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('package-lock.json has its packages in the order in which npm writes them, so that npm install changes nothing', () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as { packages: Record<string, unknown> };
  const paths = Object.keys(lock.packages);
  expect(paths).toEqual([...paths].sort((a, b) => a.localeCompare(b, 'en')));
});

/** Compiles the programs of the client's pages. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'node_modules/.cache/client-docs');

/** What the programs use without a definition. */
const given = `
import { createClient as connect } from '@moniker/client';
declare const key: string, signal: AbortSignal, process: { stdout: { write(text: string): void } };
declare function ask(...about: unknown[]): Promise<boolean>;
`;

it('the programs of docs/client.md and client/README.md compile', () => {
  mkdirSync(folder, { recursive: true });
  const programs = ['docs/client.md', 'client/README.md'].flatMap((page) => {
    const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    return blocks.map((code) => {
      const connected = code.includes('const client') ? '' : 'declare const client: ReturnType<typeof connect>, session: { id: string };\n';
      return `${given}${connected}${code}`;
    });
  });
  expect(programs.length).toBeGreaterThan(4);
  for (const [index, program] of programs.entries()) writeFileSync(join(folder, `${index}.ts`), program);
  const paths = { '@moniker/client': [join(root, 'client/src/index.ts')] };
  const tsconfig = { extends: join(root, 'client/tsconfig.json'), compilerOptions: { paths, noUnusedLocals: false }, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

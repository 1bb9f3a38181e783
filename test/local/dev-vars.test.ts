import { expect, it } from 'vitest';
import { addVariables } from '../../src/local/dev-vars.ts';

const key = 'k'.repeat(32);
const given = { MONIKER_ROOT_KEY: `root-${key}`, MONIKER_PUBLIC_URL: 'http://localhost:8787' };

it.each([
  ['an empty file', '', `MONIKER_ROOT_KEY=root-${key}\nMONIKER_PUBLIC_URL=http://localhost:8787\n`],
  ['a file without a line break at its end', 'A=1', `A=1\nMONIKER_ROOT_KEY=root-${key}\nMONIKER_PUBLIC_URL=http://localhost:8787\n`],
  [
    'a copy of the example',
    '# Keys\nMONIKER_ROOT_KEY=\nB=2\n',
    `# Keys\nB=2\nMONIKER_ROOT_KEY=root-${key}\nMONIKER_PUBLIC_URL=http://localhost:8787\n`,
  ],
  ['quotes without a value', 'MONIKER_ROOT_KEY=""\n', `MONIKER_ROOT_KEY=root-${key}\nMONIKER_PUBLIC_URL=http://localhost:8787\n`],
  [
    'a comment',
    '# MONIKER_ROOT_KEY=old\n',
    `# MONIKER_ROOT_KEY=old\nMONIKER_ROOT_KEY=root-${key}\nMONIKER_PUBLIC_URL=http://localhost:8787\n`,
  ],
])('puts what is missing into %s', (_what, before, after) => {
  expect(addVariables(before, given).text).toBe(after);
});

it('keeps values, however they are written', () => {
  const text = `export MONIKER_ROOT_KEY="${key}"\n  MONIKER_PUBLIC_URL = https://localhost:8787\n`;
  expect(addVariables(text, given)).toEqual({ text, added: [] });
});

it('refuses a key that the Worker would not accept', () => {
  expect(() => addVariables('MONIKER_ROOT_KEY=short\n', given)).toThrow('MONIKER_ROOT_KEY has fewer than 32 characters');
});

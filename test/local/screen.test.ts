import { expect, test } from 'vitest';
import { renderStartScreen } from '../../src/local/launch/start-screen.ts';

const screen = {
  url: 'http://127.0.0.1:8787',
  newKey: 'root+key&with=signs%'.padEnd(32, 'x'),
  keyFile: '.moniker/keys',
  dataDir: '.moniker',
  models: ['agent/demo'],
  demoSession: null,
  unknownSettings: [],
  skills: null,
};

test('the screen links to the start page with the key in the fragment, as the page reads it', () => {
  const link = /^ {2}open +(\S+)$/m.exec(renderStartScreen(screen))?.[1];
  const { origin, pathname, search, hash } = new URL(link ?? '');
  expect({ origin, pathname, search }).toEqual({ origin: screen.url, pathname: '/', search: '' });
  expect(new URLSearchParams(hash.slice(1)).get('key')).toBe(screen.newKey);
});

test('the screen of a later start shows the location of the key, not the key', () => {
  const text = renderStartScreen({ ...screen, newKey: null, keyFile: "it's/keys", demoSession: 's1' });
  expect(text).toContain("  key      in it's/keys\n");
  expect(text).toContain('  open     http://127.0.0.1:8787/\n');
  expect(text).toContain("KEY=$(sed -n 's/^MONIKER_ROOT_KEY=//p' 'it'\\''s/keys')\n");
  expect(text.match(/Bearer \$KEY"/g)).toHaveLength(2);
});

test('the screen names a key of the environment, and does not show it', () => {
  const text = renderStartScreen({ ...screen, newKey: null, keyFile: null, demoSession: 's1' });
  expect(text).toContain('  key      MONIKER_ROOT_KEY of the environment\n');
  expect(text.match(/Bearer \$MONIKER_ROOT_KEY"/g)).toHaveLength(2);
});

test('skills of a folder are shown, with one line for each that was not loaded', () => {
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const notes = ['skill a was not loaded:\n  open it', ...Array.from({ length: 20 }, () => 'x'.repeat(1000))];
  const lines = renderStartScreen({ ...screen, skills: { folder: 'skills', names, notes } }).split('\n');
  expect(lines).toContain('  skills   s0, s1, s2, s3, s4, s5, s6, s7 and 2 more (GET /v1/skills) (from skills)');
  expect(lines).toContain('  warning  skill a was not loaded: open it');
  expect(lines.filter((line) => line.startsWith('  warning'))).toHaveLength(11);
  expect(renderStartScreen(screen)).not.toContain('skills   ');
});

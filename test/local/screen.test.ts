import { expect, test } from 'vitest';
import { renderScreen } from '../../src/local/screen.ts';

const screen = {
  url: 'http://127.0.0.1:8787',
  rootKey: 'root+key&with=signs%'.padEnd(32, 'x'),
  dataDir: '.moniker',
  models: ['agent/demo'],
  demoSession: null,
  unknownSettings: [],
  skills: null,
};

test('the screen links to the start page with the key in the fragment, as the page reads it', () => {
  const link = /^ {2}open +(\S+)$/m.exec(renderScreen(screen))?.[1];
  const { origin, pathname, search, hash } = new URL(link ?? '');
  expect({ origin, pathname, search }).toEqual({ origin: screen.url, pathname: '/', search: '' });
  expect(new URLSearchParams(hash.slice(1)).get('key')).toBe(screen.rootKey);
});

test('skills of a folder are shown, and what became of those that were not loaded, one line each', () => {
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const notes = ['skill a was not loaded:\n  open it', ...Array.from({ length: 20 }, () => 'x'.repeat(1000))];
  const lines = renderScreen({ ...screen, skills: { folder: 'skills', names, notes } }).split('\n');
  expect(lines).toContain('  skills   s0, s1, s2, s3, s4, s5, s6, s7 and 2 more (GET /v1/skills) (from skills)');
  expect(lines).toContain('  warning  skill a was not loaded: open it');
  expect(lines.filter((line) => line.startsWith('  warning'))).toHaveLength(11);
  expect(renderScreen(screen)).not.toContain('skills   ');
});

import { expect, test } from 'vitest';
import { renderScreen } from '../../src/local/screen.ts';

const screen = {
  url: 'http://127.0.0.1:8787',
  rootKey: 'root+key&with=signs%'.padEnd(32, 'x'),
  dataDir: '.moniker',
  models: ['agent/demo'],
  demoSession: null,
  unknownSettings: [],
};

test('the screen links to the start page with the key in the fragment, as the page reads it', () => {
  const link = /^ {2}open +(\S+)$/m.exec(renderScreen(screen))?.[1];
  const { origin, pathname, search, hash } = new URL(link ?? '');
  expect({ origin, pathname, search }).toEqual({ origin: screen.url, pathname: '/', search: '' });
  expect(new URLSearchParams(hash.slice(1)).get('key')).toBe(screen.rootKey);
});

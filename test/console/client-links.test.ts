import { expect, it } from 'vitest';
import { cursorLink, vsCodeLink } from '../../src/console/pages/toolsets/client-links.ts';

const url = 'https://moniker.example.com/mcp/a-b';

it('makes the link that Cursor opens, with the entry of its mcp.json', () => {
  const link = new URL(cursorLink('a-b', url));
  expect(`${link.protocol}//${link.host}${link.pathname}`).toBe('cursor://anysphere.cursor-deeplink/mcp/install');
  expect(link.searchParams.get('name')).toBe('a-b');
  expect(JSON.parse(atob(link.searchParams.get('config') ?? ''))).toEqual({ url });
});

it('makes the link that VS Code opens, with the entry of its mcp.json', () => {
  const link = vsCodeLink('a-b', url);
  expect(link).toMatch(/^vscode:mcp\/install\?/);
  expect(JSON.parse(decodeURIComponent(link.slice('vscode:mcp/install?'.length)))).toEqual({ name: 'a-b', type: 'http', url });
});

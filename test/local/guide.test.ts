import { expect, it } from 'vitest';
import { problemCatalogue } from '../../src/core/problem.ts';
import { ToolResultCode } from '../../src/core/tools/tool.ts';
import { readGuide } from '../../src/local/build/build-guide.ts';

const guide = readGuide();
const anchorsOf = (page: string) => new Set([...(guide.get(page) ?? '').matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));

it('explains every code of a problem and of a result', () => {
  const known = anchorsOf('errors');
  const codes = [...Object.keys(problemCatalogue), ...ToolResultCode.options];
  expect(codes.length).toBeGreaterThan(40);
  expect(codes.filter((code) => !known.has(code))).toEqual([]);
});

it.each([...guide])('links only to places that the service has: %s', (page, html) => {
  const links = [...html.matchAll(/ href="([^"]+)"/g)].map((match) => match[1] ?? '').filter((link) => !/^https?:/.test(link));
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    if (['/docs', '/console', '/assets/pages.css'].includes(path)) return false;
    const name = path === '' ? page : path.slice('/docs/'.length);
    return !guide.has(name) || (anchor !== undefined && !anchorsOf(name).has(anchor));
  });
  expect(broken).toEqual([]);
});

it.each([...guide])('has no script, style, image or comment: %s', (_, html) => {
  expect(html.replaceAll(/<code[ >][\s\S]*?<\/code>/g, '')).not.toMatch(/<script|<style|<img|<!--| style=| on\w+=/i);
});

import { expect, it } from 'vitest';
import { callableIn, isConfigurationTool } from '../../../src/core/names/reserved-names.ts';
import { fitRows, contextOf } from '../../../src/core/configuration/tool-table.ts';

it('offers all tools in configuration mode and only the one that enters it in normal mode', () => {
  expect(callableIn('configuration')).toHaveLength(13);
  expect(callableIn('normal')).toEqual(['enter-configuration-mode']);
});

it('recognizes configuration tools by canonical name only', () => {
  for (const name of callableIn('configuration')) expect(isConfigurationTool(`builtin.${name}`), name).toBe(true);
  for (const name of ['build-toolset', 'other.build-toolset', 'builtin.bash', 'builtin.constructor'])
    expect(isConfigurationTool(name), name).toBe(false);
});

it('returns rows that fit, and a first row even if it is too large', () => {
  const rows = ['aaaa', 'bbbb', 'cccc'];
  expect(fitRows(rows, 14)).toEqual({ rows: ['aaaa', 'bbbb'], room: 0, leftOut: 1 });
  expect(fitRows(rows, 1)).toMatchObject({ rows: ['aaaa'], leftOut: 2 });
  expect(fitRows([], 1)).toEqual({ rows: [], room: 1, leftOut: 0 });
});

it('rounds a percentage to a tenth, and returns 0 for an empty total', () => {
  expect(contextOf(1, 3)).toEqual({ tokens: 1, percent: 33.3 });
  expect(contextOf(0, 0)).toEqual({ tokens: 0, percent: 0 });
});

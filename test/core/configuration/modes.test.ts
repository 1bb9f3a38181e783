import { expect, it } from 'vitest';
import { callableIn, isConfigurationTool } from '../../../src/core/configuration/modes.ts';
import { fitRows } from '../../../src/core/configuration/fit.ts';
import { contextOf } from '../../../src/core/configuration/token-estimate.ts';

it('configuration mode has all of the tools, normal mode the one that leads back to it', () => {
  expect(callableIn('configuration')).toHaveLength(13);
  expect(callableIn('normal')).toEqual(['enter-configuration-mode']);
});

it('configuration tools are known by their canonical names alone', () => {
  for (const name of callableIn('configuration')) expect(isConfigurationTool(`builtin.${name}`), name).toBe(true);
  for (const name of ['build-toolset', 'other.build-toolset', 'builtin.bash', 'builtin.constructor'])
    expect(isConfigurationTool(name), name).toBe(false);
});

it('rows fill their room and no more, but for a first one that is larger than it', () => {
  const rows = ['aaaa', 'bbbb', 'cccc'];
  expect(fitRows(rows, 14)).toEqual({ rows: ['aaaa', 'bbbb'], room: 0, leftOut: 1 });
  expect(fitRows(rows, 1)).toMatchObject({ rows: ['aaaa'], leftOut: 2 });
  expect(fitRows([], 1)).toEqual({ rows: [], room: 1, leftOut: 0 });
});

it('a share is told to a tenth of a percent, and is nothing of nothing', () => {
  expect(contextOf(1, 3)).toEqual({ tokens: 1, percent: 33.3 });
  expect(contextOf(0, 0)).toEqual({ tokens: 0, percent: 0 });
});

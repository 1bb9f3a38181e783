/** The filter language in the Workers runtime. */
import { expect, test } from 'vitest';
import { parseFilter } from '../../../../src/core/triggers/filters/filter.ts';

test('parses and evaluates a filter in the Workers runtime', () => {
  const parsed = parseFilter('event == "issues" && payload.labels.exists(l, l.name == "bug") && payload.number == 42', 'filter');
  if ('issue' in parsed) throw new Error(parsed.issue.message);
  const own = { event: 'issues', headers: {} };
  expect(parsed.filter({ payload: { number: 42, labels: [{ name: 'bug' }] }, own })).toEqual({ matches: true, fault: null });
  expect(parsed.filter({ payload: { number: 42 }, own })).toEqual({ matches: false, fault: 'No such key: labels' });
});

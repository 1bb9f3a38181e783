/** Rules that would never fit, as people write them: they are refused, since a `deny` that does nothing is worse than none. */
import { describe, expect, it } from 'vitest';
import { PolicyRule } from '../../../src/core/policy/rule.ts';

const fault = (rule: object): string | undefined => PolicyRule.safeParse({ decision: 'deny', ...rule }).error?.issues[0]?.message;

describe('a rule', () => {
  it.each(['bash', 'Builtin.bash', '*', 'builtin*', 'builtin.read_*', 'builtin.', '.bash'])('is about no tool called %s', (tool) => {
    expect(fault({ tool })).toContain('canonical name such as builtin.bash');
  });

  it.each(['builtin.bash', 'builtin.*', 'made.find_and_replace', 'docs.search.all', 'github-2.Get File'])('is about %s', (tool) => {
    expect(fault({ tool })).toBeUndefined();
  });

  it('is about a path and all beneath it, without a * that would be a name', () => {
    expect(fault({ path: '/tmp/*' })).toContain('Leave out the trailing *');
    expect(fault({ path: '/tmp/**' })).toContain('Leave out the trailing *');
    expect(fault({ path: '/tmp/a*' })).toBeUndefined();
  });
});

/** Rules that would never match, with common mistakes: they are refused, since an ineffective `deny` is worse than none. */
import { describe, expect, it } from 'vitest';
import { PolicyRule } from '../../../src/core/policy/rule.ts';

const fault = (rule: object): string | undefined => PolicyRule.safeParse({ decision: 'deny', ...rule }).error?.issues[0]?.message;

describe('a rule', () => {
  it.each(['bash', 'Builtin.bash', '*', 'builtin*', 'builtin.read_*', 'builtin.', '.bash'])('rejects the tool name %s', (tool) => {
    expect(fault({ tool })).toContain('canonical name such as builtin.bash');
  });

  it.each(['builtin.bash', 'builtin.*', 'made.find_and_replace', 'docs.search.all', 'github-2.Get File'])(
    'accepts the tool name %s',
    (tool) => {
      expect(fault({ tool })).toBeUndefined();
    },
  );

  it('covers a path and everything below it, and rejects a trailing *', () => {
    expect(fault({ path: '/tmp/*' })).toContain('Leave out the trailing *');
    expect(fault({ path: '/tmp/**' })).toContain('Leave out the trailing *');
    expect(fault({ path: '/tmp/a*' })).toBeUndefined();
  });
});

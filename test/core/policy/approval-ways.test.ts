import { describe, expect, it } from 'vitest';
import { AskKind } from '../../../src/core/policy/approval.ts';
import { waysWithoutApproval } from '../../../src/core/policy/approval-ways.ts';

describe('the ways to run a call without approval', () => {
  it.each([
    ['untrusted', ['"trusted": true', '"kind": "untrusted"', '"approval": "never" on the toolset\'s entry shell']],
    ['network', ['"kind": "network" to the policy (PUT /v1/policy), or', '"approval": "never"']],
    ['taint', ['"kind": "taint"', '"taint": false on the agent', '"approval": "never"']],
    ['rule', ['change that rule (PUT /v1/policy)', '"approval": "never"']],
    ['budget', ['To let such turns continue', 'raise "maxCost"']],
    ['always', ['administrator can set "approval": "policy" on the toolset\'s entry shell.']],
  ] as const)('names what applies to %s', (kind, ways) => {
    const text = waysWithoutApproval({ kind }, 'shell');
    for (const way of ways) expect(text).toContain(way);
  });

  it('is one sentence for every kind', () => {
    for (const kind of AskKind.options)
      expect(waysWithoutApproval({ kind }, 'shell')).toMatch(/^To (run such calls|let such turns continue) .*\.$/);
  });
});

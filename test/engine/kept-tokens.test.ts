import { expect, it } from 'vitest';
import { textResult } from '../../src/core/tools/tool.ts';
import { withRedactedTokens } from '../../src/engine/call/redact.ts';
import { redactorFor } from '../redaction.ts';

it('removes a sent token from what is returned, and no other text', async () => {
  const redactor = redactorFor();
  const all = ['first-token', null, 'second-token'];
  const tokens = withRedactedTokens({ token: async () => all.shift() ?? null, refreshAfterRejection: async () => true }, redactor);
  expect([await tokens.token(), await tokens.token(), await tokens.token()]).toEqual(['first-token', null, 'second-token']);
  expect(await tokens.refreshAfterRejection('first-token', null)).toBe(true);
  expect(await redactor.result(textResult('you sent Bearer first-token, then second-token, not third-token'))).toEqual(
    textResult('you sent Bearer [secret], then [secret], not third-token'),
  );
});

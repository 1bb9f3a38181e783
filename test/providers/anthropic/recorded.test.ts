import { expect } from 'vitest';
import { anthropic } from '../../../src/providers/anthropic/reply.ts';
import { describeRecorded } from '../recorded.ts';

describeRecorded({
  api: 'anthropic',
  adapter: anthropic,
  endMark: '',
  otherwise: {
    // Two replies in one stream: the second may be complete, but the first never ended. The corpus accepts an error.
    'anthropic/spliced-second-message-start.jsonl': (whole) => {
      expect(whole.reasoning).toBe('I will call the tool.');
      expect(whole.calls).toMatchObject([{ name: 'test-tool', nativeId: 'toolu_first', state: 'truncated', arguments: null }]);
      expect(whole.error).toContain('began another reply');
      expect(whole.finish).toBeUndefined();
    },
  },
});

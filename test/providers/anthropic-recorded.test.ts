import { expect } from 'vitest';
import { anthropic } from '../../src/providers/anthropic.ts';
import { describeRecorded } from './recorded.ts';

describeRecorded({
  api: 'anthropic',
  adapter: anthropic,
  endMark: '',
  otherwise: {
    // Two replies in one stream: whatever of the second is whole, the first never ended. The corpus calls an error fair.
    'anthropic/spliced-second-message-start.jsonl': (whole) => {
      expect(whole.reasoning).toBe('I will call the tool.');
      expect(whole.calls).toMatchObject([{ name: 'test-tool', nativeId: 'toolu_first', state: 'truncated', arguments: null }]);
      expect(whole.error).toContain('began another reply');
      expect(whole.finish).toBeUndefined();
    },
  },
});

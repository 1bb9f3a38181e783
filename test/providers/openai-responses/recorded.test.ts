import { expect } from 'vitest';
import { openaiResponses } from '../../../src/providers/openai-responses/reply.ts';
import { describeRecorded } from '../recorded.ts';

describeRecorded({
  api: 'openai-responses',
  adapter: openaiResponses,
  endMark: '',
  otherwise: {
    // The corpus has the call of the wire, and states that only xAI may run it, so it is not a client call.
    'openai-responses/grok-4-fast-server-x-search.sse': (whole, { expected }) => {
      expect(whole).toMatchObject({ calls: [], text: expected.text, finish: 'completed', reason: 'stop' });
    },
  },
});

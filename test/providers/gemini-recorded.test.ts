import { gemini } from '../../src/providers/gemini.ts';
import { check, describeRecorded } from './recorded.ts';

describeRecorded({
  api: 'gemini',
  adapter: gemini,
  endMark: '',
  otherwise: {
    // Recorded with `enum-encoding=int`: a finish says the word, not its number.
    'gemini/gemini-2.5-pro-enum-as-integer.json': (whole, recording) =>
      check(whole, { ...recording, expected: { ...recording.expected, finishReason: 'STOP' } }),
  },
});

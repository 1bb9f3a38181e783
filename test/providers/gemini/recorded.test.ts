import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gemini } from '../../../src/providers/gemini/reply.ts';
import { describeCorpus, readJson } from '../../fixtures.ts';
import { check, describeRecorded } from '../recorded.ts';
import { bodyOf, gather, type Recording, readCuts } from '../replies.ts';

describeRecorded({
  api: 'gemini',
  adapter: gemini,
  endMark: '',
  otherwise: {
    // Recorded with `enum-encoding=int`: a finish has the name, not its number.
    'gemini/gemini-2.5-pro-enum-as-integer.json': (whole, recording) =>
      check(whole, { ...recording, expected: { ...recording.expected, finishReason: 'STOP' } }),
  },
});

describeCorpus('providers', (path) => {
  const streamed = readJson<Recording[]>(join(path, 'index.json')).filter((recording) => recording.api === 'gemini' && recording.streamed);

  it.each(streamed.map(({ file, expected }) => [file, expected] as const))(
    '%s, wherever it is cut, ends once and has no whole call but those that were',
    (file, expected) => {
      const body = bodyOf(join(path, file), '');
      const step = Math.max(1, Math.floor(body.length / 200));
      const ends = [...body.keys()].filter((at) => at > 0 && (at % step === 0 || body[at] === 0x0a));
      for (const end of ends) {
        const events = readCuts(gemini, [body.subarray(0, end)], true);
        expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1);
        for (const [index, call] of gather(events).calls.entries()) {
          if (call.state !== 'truncated') expect(call).toMatchObject({ state: 'ok', arguments: expected.toolCalls?.[index]?.arguments });
        }
      }
    },
  );
});
